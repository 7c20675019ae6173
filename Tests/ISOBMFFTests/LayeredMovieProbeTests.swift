// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import TestKit
import Testing

/// What a file is can be told from headers of boxes alone.
struct LayeredMovieProbeTests {
  /// - Parameter count: how many bytes of the file are there.
  private func isLayered(_ file: [UInt8], count: Int? = nil, knowsSize: Bool = true) -> Bool {
    LayeredMovieProbe.isLayered(fileSize: knowsSize ? UInt64(file.count) : nil) { offset, size in
      guard let start = Int(exactly: offset), start + size <= count ?? file.count else {
        return nil
      }
      return Array(file[start..<start + size])
    }
  }

  private func movie(_ lhvC: [UInt8]?) throws -> [UInt8] {
    var writer = MovieWriter(container: .mp4)
    var file = writer.header
    let track = try writer.addTrack(
      TrackDescription(
        .video(VisualSampleEntry(width: 8, height: 8, hvcC: [1], lhvC: lhvC)), timescale: 30))
    try writer.append(
      SampleDescription(size: 4, decodeTime: 0, duration: 1), [1, 2, 3, 4], to: track, file: &file)
    return try writer.complete(file)
  }

  @Test("a second layer is found, wherever the index lies, with or without the file's size")
  func layered() throws {
    let file = try movie([1])
    #expect(isLayered(file))
    #expect(isLayered(file, knowsSize: false))
    #expect(!isLayered(try movie(nil)))
  }

  @Test(
    "movies of other makers are found to have two layers",
    .enabled(if: Media.isPresent, "the folder ../shared/media is absent"), arguments: Media.all)
  func foreign(name: String) throws {
    let file = try Media.bytes(name)
    #expect(isLayered(file))
    #expect(isLayered(file, knowsSize: false))
  }

  @Test("truncated files are not layered, and do no harm")
  func cut() throws {
    let file = try movie([1])
    for count in 0..<file.count - 1 {
      _ = isLayered(file, count: count)
      _ = isLayered(Array(file.prefix(count)))
    }
    #expect(!isLayered(file, count: 40))
    #expect(!isLayered([]))
    #expect(!isLayered([UInt8](repeating: 0, count: 100)))
    #expect(!isLayered(Array("RIFF0000WAVEfmt ".utf8)))
  }
}
