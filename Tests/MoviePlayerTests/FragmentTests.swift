// SPDX-License-Identifier: MPL-2.0

import FuzzTargets
import MoviePlayer
import StereoVideo
import TestKit
import Testing

/// Movies in fragments, with an index of them before or after them, with a broken one or with none.
struct FragmentTests {
  enum Index: String, Sendable, CaseIterable {
    case before, after
  }

  /// A movie in fragments of a group of pictures, with one index of them.
  private static func movie(_ index: Index) throws -> [UInt8] {
    let movie = try #require(SeedMovie(try WovenMovie(hasAudio: true).bytes()))
    let both = movie.fragmented(length: WovenStream.keyInterval)
    var boxes = BoxTree.read(both)
    guard index == .after else {
      boxes.removeAll { $0.type == "mfra" }
      return boxes.flatMap(\.bytes)
    }
    boxes.removeAll { $0.type == "sidx" }
    let removed = both.count - boxes.flatMap(\.bytes).count
    let mfra = try #require(boxes.lastIndex { $0.type == "mfra" })
    // Places move with what is taken away before them.
    var entries = try #require(boxes[mfra]["tfra"])
    for row in stride(from: 16, to: entries.content.count, by: 11) {
      let range = row + 4..<row + 8
      let place = entries.content[range].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      entries.content.replaceSubrange(range, with: big(place - UInt32(removed)))
    }
    boxes[mfra]["tfra"] = entries
    return boxes.flatMap(\.bytes)
  }

  @Test("fragments of a stream are sought by their index", arguments: Index.allCases)
  func sought(index: Index) throws {
    let bytes = try Self.movie(index)
    let complete = try Session.play(bytes, .read)
    var session = Session(bytes, .movable(upTo: 500))
    // Before the movie is known to its end.
    var whole = Recording()
    while whole.streams.isEmpty {
      if case .output(let output) = try session.next() { whole.add(output) }
    }
    for frame in [40, 3, 20, 47, 0, 13] {
      let time = ClockTime(frame, perSecond: 30) + 1_000_000
      guard session.seek(SeekRequest(to: time)) else { throw Failure("the seek is refused") }
      var rest = Recording(after: whole)
      try session.play(into: &rest)
      #expect(rest.disorder == [])
      let key = frame / WovenStream.keyInterval * WovenStream.keyInterval
      let expected = complete["video_0"].contents.dropFirst(key)
      #expect(rest["video_0"].contents == Array(expected), "\(frame)")
      #expect(rest["video_0"].segments.first?.time == time)
    }
    #expect(session.moveCount > (index == .after ? 1 : -1))
  }

  enum Fault: String, Sendable, CaseIterable {
    case missing, wrongSize, wrongContent, longerThanTheFile
  }

  @Test(
    "fragments without an index, or with a broken one, are played from start to end",
    arguments: Fault.allCases,
    [Delivery.read, .memory, .readWithoutSize, .pushed(upTo: 1000), .movable(upTo: 1000)])
  func broken(fault: Fault, delivery: Delivery) throws {
    var bytes = try Self.movie(.after)
    let expected = try Session.play(bytes, .read)
    let size = bytes.suffix(4).reduce(0) { $0 << 8 | Int($1) }
    switch fault {
    case .missing: bytes.removeLast(size)
    case .wrongSize: bytes[bytes.count - 1] ^= 1
    case .wrongContent: bytes[bytes.count - size + 8] = 0xFF
    case .longerThanTheFile:
      // As of a file that is much larger, which ends with an index of nearly all of it.
      bytes.removeLast(size)
      let (all, free) = (bytes.count, 200_000)
      bytes += big(UInt32(free)) + Array("free".utf8) + [UInt8](repeating: 0, count: free - 24)
      bytes += big(UInt32(16)) + Array("mfro".utf8) + big(UInt32(0)) + big(UInt32(all + free - 32))
    }
    let recording = try Session.play(bytes, delivery)
    #expect(recording.end == .endOfStream && recording.disorder == [])
    for name in ["left", "right", "video_0", "audio_0"] {
      #expect(recording[name].contents == expected[name].contents, "\(name)")
    }
  }
}
