// SPDX-License-Identifier: MPL-2.0

import Foundation
import FuzzTargets
import MoviePlayer
import StereoVideo
import TestKit
import Testing

/// A movie gives the same, however its bytes come.
struct DeliveryTests {
  private static let deliveries: [Delivery] = [
    .memory, .readWithoutSize, .pushed(upTo: 1), .pushed(upTo: 1000), .pushed(upTo: 100_000),
    .pushed(upTo: 1 << 20), .pushed(upTo: 1 << 30), .movable(upTo: 1000), .movable(upTo: 1 << 30),
  ]

  /// Compares what all streams give; what is told of more than one stream may come in another
  /// order, and so may what each of them gives.
  private func expectSame(_ bytes: [UInt8], _ name: String) throws -> Recording {
    let expected = try Session.play(bytes, .read)
    #expect(expected.end == .endOfStream, "\(name)")
    #expect(expected.disorder == [], "\(name)")
    for stream in expected.streams {
      #expect(!stream.samples.isEmpty && stream.lines.last == "end", "\(name): \(stream.name)")
    }
    for delivery in Self.deliveries {
      // A byte at a time, large files take long.
      if case .pushed(upTo: 1) = delivery, bytes.count > 300_000 { continue }
      let recording = try Session.play(bytes, delivery)
      #expect(recording.names == expected.names, "\(name), \(delivery)")
      for (one, other) in zip(recording.streams, expected.streams) {
        let isSame = one.lines == other.lines
        #expect(isSame, "\(name), \(delivery): \(one.name)")
        if !isSame {
          let place = zip(one.lines, other.lines).enumerated().first { $1.0 != $1.1 }
          Issue.record("\(String(describing: place)), \(one.lines.count), \(other.lines.count)")
        }
      }
      #expect(recording.end == .endOfStream, "\(name), \(delivery)")
      #expect(recording.disorder == [], "\(name), \(delivery)")
    }
    return expected
  }

  @Test("a movie with its index after, before or among its samples gives the same")
  func own() throws {
    let bytes = try WovenMovie(hasAudio: true).bytes()
    let movie = try #require(SeedMovie(bytes))
    let whole = try expectSame(bytes, "index after")
    #expect(whole.names == ["left", "right", "video_0", "audio_0"])
    #expect(whole["left"].samples.count == 48)
    #expect(whole["right"].shown.count == 48)
    #expect(whole["video_0"].contents == movie.accessUnits)
    #expect(whole["audio_0"].contents.flatMap { $0 }.count == 2 * 8000 * 48 / 30)
    #expect(whole.warnings.isEmpty)
    let first = try expectSame(movie.indexFirst, "index first")
    let fragmented = try expectSame(movie.fragmented(), "fragmented")
    for name in ["left", "right", "video_0"] {
      #expect(first[name].lines == whole[name].lines, "\(name)")
      #expect(fragmented[name].contents == whole[name].contents, "\(name)")
    }
  }

  @Test("if nothing can be played, the error comes before the end of the last stream")
  func nothing() throws {
    let movie = try #require(SeedMovie(try WovenMovie(hasAudio: true).bytes()))
    let file = movie.fragmented()
    let fragment = try #require(file.firstRange(of: "moof".utf8)?.lowerBound) - 4
    for delivery in [Delivery.read, .pushed(upTo: 1000)] {
      var session = Session(Array(file[..<fragment]), delivery)
      var (streamCount, endCount) = (0, 0)
      do {
        while true {
          let step = try session.next()
          if case .output(.streams(let streams)) = step { streamCount = streams.count }
          if case .output(.endOfStream) = step { endCount += 1 }
          if case .end = step { break }
        }
        Issue.record("\(delivery): no error")
      } catch MoviePlayerError.nothingPlayable {
        #expect(endCount < max(streamCount, 1), "\(delivery)")
      }
    }
  }

  @Test("an elementary stream gives the same eyes as a movie made from it")
  func elementary() throws {
    let stream = try WovenStream()
    let bytes = stream.units.flatMap(\.byteStream)
    let recording = try expectSame(bytes, "byte stream")
    let movie = try Session.play(try WovenMovie(repetitions: 1).bytes(), .read)
    for eye in ["left", "right"] {
      #expect(recording[eye].contents == movie[eye].contents, "\(eye)")
      #expect(recording[eye].samples.count >= 12)
    }
    #expect(recording["video_0"].contents == stream.units.map(\.byteStream))
  }

  @Test(
    "foreign movies give the same", .enabled(if: ForeignMedia.isThere, "needs ../shared/media"),
    arguments: [
      "gradients-160x120-left-base.mp4", "water-1934x2160-right-base.mov",
      "water-1934x2160-left-base-fragmented.mp4", "interlayer-128x96.hevc",
      "interlayer-cra-320x192.hevc", "interlayer-irap-only-320x192.hevc",
    ])
  func foreign(name: String) throws {
    let url = URL(filePath: ForeignMedia.path(name))
    let recording = try expectSame([UInt8](Data(contentsOf: url)), name)
    #expect(Set(recording.names).isSuperset(of: ["left", "right", "video_0"]))
    #expect(recording["left"].shown.count == recording["right"].shown.count)
  }
}
