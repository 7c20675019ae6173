// SPDX-License-Identifier: MPL-2.0

import Foundation
import FuzzTargets
import ISOBMFF
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

  /// A movie in fragments by FFmpeg, an index of them before or after them.
  private static func byFFmpeg(_ movie: [UInt8], _ index: Index, _ type: String) throws -> [UInt8] {
    let folder = try TemporaryFolder()
    let (plain, path) = (folder.path("plain.mov"), folder.path("fragments.\(type)"))
    try Data(movie).write(to: URL(filePath: plain))
    let script = Repository.url.appending(path: "Tests/Tools/fragment.py").path
    let flags = index == .before ? ["+dash+global_sidx"] : []
    _ = try Python.lines([script, plain, path] + flags)
    return [UInt8](try Data(contentsOf: URL(filePath: path)))
  }

  @Test("fragments of a stream are sought by their index", arguments: Index.allCases)
  func sought(index: Index) throws {
    let moves = try expectSought(try Self.movie(index), duration: 1600)
    #expect(moves > (index == .after ? 1 : -1))
  }

  @Test(
    "FFmpeg's fragments are sought by its index, which before them says how long they are",
    .tags(.judge), .enabled(if: Python.hasAV, "no Python with PyAV"), arguments: Index.allCases)
  func soughtByFFmpeg(index: Index) throws {
    let movie = try WovenMovie(hasAudio: index == .after).bytes()
    _ = try expectSought(
      try Self.byFFmpeg(movie, index, "mp4"), duration: index == .before ? 1600 : nil)
  }

  @Test(
    "a movie that FFmpeg fragmented gives the samples that the whole one does", .tags(.judge),
    .enabled(if: Python.hasAV, "no Python with PyAV"), arguments: Index.allCases, ["mov", "mp4"])
  func elsewhere(index: Index, type: String) throws {
    let movie = try WovenMovie(hasAudio: type == "mov").bytes()
    let bytes = try Self.byFFmpeg(movie, index, type)
    #expect(try MovieFile(bytes: bytes).movie.isFragmented)
    let whole = try Session.play(movie, .read)
    for delivery in [Delivery.read, .pushed(upTo: 1000)] {
      let recording = try Session.play(bytes, delivery)
      #expect(recording.names == whole.names && recording.disorder == [])
      for name in whole.names where name != "audio_0" {
        #expect(recording[name].contents == whole[name].contents, "\(name), \(delivery)")
        #expect(
          recording[name].samples.map(\.presentationTime)
            == whole[name].samples.map(\.presentationTime), "\(name), \(delivery)")
      }
      let audio = [recording, whole].map { $0["audio_0"].contents.flatMap { $0 } }
      #expect(audio[0] == audio[1])
    }
  }

  /// Seeks in fragments of a group of pictures each.
  ///
  /// - Parameter duration: what is known of it before all is read, in milliseconds.
  /// - Returns: how often the source was moved.
  private func expectSought(_ bytes: [UInt8], duration: UInt64?) throws -> Int {
    let complete = try Session.play(bytes, .read)
    var session = Session(bytes, .movable(upTo: 500))
    // Before the movie is known to its end.
    var whole = Recording()
    while whole.streams.isEmpty {
      if case .output(let output) = try session.next() { whole.add(output) }
    }
    // Without an edit list, media that is decoded out of order begins late.
    let begin = try #require(complete["video_0"].streamTimes.min())
    let known: UInt64? = session.player.duration.map { ($0 - begin + 1000).nanoseconds / 1_000_000 }
    #expect(known == duration)
    // A key unit: the start of the fragment.
    var keyUnit = SeekRequest(to: begin + ClockTime(20, perSecond: 30))
    keyUnit.precision = .keyUnit(.before)
    guard session.seek(keyUnit) else { throw Failure("the seek is refused") }
    var found = Recording(after: whole)
    try session.play(into: &found)
    #expect(found["video_0"].contents == Array(complete["video_0"].contents.dropFirst(18)))
    let start: UInt64? = found["video_0"].segments.first.map {
      ($0.time - begin + 1000).nanoseconds / 1_000_000
    }
    #expect(start == 600)
    for frame in [40, 3, 20, 47, 0, 13] {
      let time = begin + ClockTime(frame, perSecond: 30) + 1_000_000
      guard session.seek(SeekRequest(to: time)) else { throw Failure("the seek is refused") }
      var rest = Recording(after: whole)
      try session.play(into: &rest)
      #expect(rest.disorder == [])
      let key = frame / WovenStream.keyInterval * WovenStream.keyInterval
      let expected = complete["video_0"].contents.dropFirst(key)
      #expect(rest["video_0"].contents == Array(expected), "\(frame)")
      #expect(rest["video_0"].segments.first?.time == time)
    }
    return session.moveCount
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
