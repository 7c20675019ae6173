// SPDX-License-Identifier: MPL-2.0

import FuzzTargets
import ISOBMFF
import MoviePlayer
import StereoVideo
import TestKit
import Testing

/// Tracks with edit lists.
struct EditTests {
  /// An edit list, in frames: how many are shown, from which on; nil shows nothing.
  struct List: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let edits: [(count: Int, from: Int?)]

    /// What is shown when: frames of the media, and of the movie.
    var expected: [[Int]] {
      var time = 0
      return edits.flatMap { count, from in
        defer { time += count }
        guard let from else { return [[Int]]() }
        return (0..<count).map { [from + $0, time + $0] }
      }
    }
  }

  private static let lists = [
    List(testDescription: "a later start", edits: [(12, nil), (30, 0)]),
    List(testDescription: "a start that is cut off", edits: [(20, 15)]),
    List(testDescription: "both", edits: [(6, nil), (20, 15)]),
    List(testDescription: "parts with a gap in the media", edits: [(8, 0), (10, 23)]),
    List(testDescription: "a pause", edits: [(8, 0), (15, nil), (10, 8)]),
    List(testDescription: "a pause at a key frame", edits: [(12, 0), (15, nil), (10, 12)]),
    List(testDescription: "a pause at a reference", edits: [(4, 0), (15, nil), (10, 4)]),
    List(testDescription: "media that plays again", edits: [(12, 10), (14, 3), (8, 30), (5, 34)]),
    List(
      testDescription: "several pauses",
      edits: [(6, 0), (3, nil), (8, 6), (2, nil), (1, nil), (2, 14), (30, nil), (9, 20)]),
  ]

  private func make(_ list: List, _ movie: WovenMovie) throws -> [UInt8] {
    let bytes = try movie.bytes()
    let video = try #require(bytes.movie?.tracks.first)
    let first = video.edits.first { $0.mediaTime != nil }?.mediaTime ?? 0
    let edits = list.edits.map { count, from in
      Edit(duration: UInt64(count) * 3000, mediaTime: from.map { first + Int64($0) * 3000 })
    }
    return SeedMovie.editing(bytes) { $0.setEdits(edits, ofTrack: 0) }
  }

  /// The frames that are shown inside their segments, and when, in frames or parts of them.
  private func shown(
    _ stream: Recording.Played, media: [[UInt8]: Int], parts: Int = 1
  ) -> [[Int]] {
    var segments = stream.segments[...]
    var segment = PlaybackSegment()
    var samples = stream.samples[...]
    var all: [[Int]] = []
    for line in stream.lines {
      if line.hasPrefix("segment") { segment = segments.popFirst() ?? segment }
      guard let first = samples.first, line == first.line else { continue }
      samples.removeFirst()
      guard let time = first.presentationTime, time + 1000 >= segment.start,
        time + 1000 < segment.stop ?? .max, !first.flags.contains(.decodeOnly)
      else { continue }
      let shown = (segment.streamTime(of: time) + 1_000_000).units(perSecond: 30 * parts)
      all.append([media[Self.content(first)] ?? -1, Int(shown)])
    }
    return all.sorted { $0[1] < $1[1] }
  }

  /// The frames of a stream by their content. Frames of the repetitions are equal: the first that
  /// is as far in the repeated part will do.
  private func media(
    _ movie: WovenMovie = WovenMovie(), _ name: String = "video_0"
  ) throws -> [[UInt8]: Int] {
    let plain = try Session.play(try movie.bytes(), .read)[name].shown
    let order = plain.sorted { $0.presentationTime ?? 0 < $1.presentationTime ?? 0 }
    var media: [[UInt8]: Int] = [:]
    for (frame, sample) in order.enumerated() {
      media[Self.content(sample)] = media[Self.content(sample)] ?? frame
    }
    try #require(media.count == movie.period)
    return media
  }

  /// What tells a picture from others: its end. What comes before may depend on which pictures the
  /// eye's stream had before.
  private static func content(_ sample: Sample) -> [UInt8] { sample.data.bytes.suffix(6) }

  /// - Parameter isPredicted: whether the right eye waits for the left one's pictures.
  @Test("edit lists show the right frames at the right times", arguments: lists, [false, true])
  func edits(list: List, isPredicted: Bool) throws {
    let movie = isPredicted ? WovenMovie(repetitions: 2, isPredicted: true) : WovenMovie()
    let media = [
      "left": try media(movie, "left"), "right": try media(movie, "right"),
      "video_0": try media(movie),
    ]
    let bytes = try make(list, movie)
    for delivery in [Delivery.read, .pushed(upTo: 1000), .pushed(upTo: 1)] {
      let recording = try Session.play(bytes, delivery)
      #expect(recording.warnings.isEmpty && recording.disorder.isEmpty)
      for name in ["left", "right", "video_0"] {
        let frames = shown(recording[name], media: media[name] ?? [:])
        #expect(
          frames == list.expected.map { [$0[0] % movie.period, $0[1]] }, "\(name), \(delivery)")
        #expect(recording[name].segments.map(\.time) == recording["video_0"].segments.map(\.time))
      }
      let empty = list.edits.filter { $0.from == nil }
      #expect(recording["video_0"].gaps.isEmpty == empty.isEmpty)
    }
  }

  @Test("what is sought in an edit list is shown first, and all that follows", arguments: lists)
  func seeks(list: List) throws {
    let media = try media()
    var session = Session(try make(list, WovenMovie()), .read)
    let whole = try session.playToEnd()
    for place in list.expected {
      let time = ClockTime(place[1], perSecond: 30) + 2
      guard session.seek(SeekRequest(to: time)) else { throw Failure("the seek is refused") }
      var rest = Recording(after: whole)
      try session.play(into: &rest)
      #expect(rest.disorder == [])
      let expected = list.expected.filter { $0[1] >= place[1] }.map { [$0[0] % 12, $0[1]] }
      #expect(shown(rest["video_0"], media: media) == expected, "\(place)")
    }
  }

  @Test("backwards, each part of an edit list shows the same by itself", arguments: lists)
  func reverse(list: List) throws {
    let media = try media()
    var session = Session(try make(list, WovenMovie()), .read)
    let whole = try session.playToEnd()
    var seek = SeekRequest(to: 0)
    seek.rate = -1
    guard session.seek(seek) else { throw Failure("the seek is refused") }
    var back = Recording(after: whole)
    try session.play(into: &back)
    #expect(back.disorder == [] && back.end == .endOfStream)
    let expected = list.expected.map { [$0[0] % 12, $0[1]] }
    #expect(shown(back["video_0"], media: media) == expected)
    let times = back["video_0"].segments.map(\.time)
    #expect(times == times.sorted(by: >))
  }

  @Test("a pause at a key frame loses no frame by the rounding of its times", arguments: [-1, 1])
  func roundedPause(error: Int64) throws {
    let edits = [
      Edit(duration: UInt64(12 * 3000 + error), mediaTime: 0),
      Edit(duration: 15 * 3000, mediaTime: nil), Edit(duration: 10 * 3000, mediaTime: 12 * 3000),
    ]
    let recording = try Session.play(edited(edits), .read)
    #expect(recording.warnings.isEmpty)
    let frames = shown(recording["video_0"], media: try media()).map { $0[0] }
    #expect(frames.suffix(10) == (12..<22).map { $0 % 12 }[...])
  }

  @Test(
    "a part that is to stand still, go back or crawl plays at normal speed, and a warning says so",
    arguments: [0, -0x1_0000, 1] as [Int32])
  func strangeSpeed(rate: Int32) throws {
    let edits = [
      Edit(duration: 12 * 3000, mediaTime: 0),
      Edit(duration: 12 * 3000, mediaTime: 12 * 3000, rate: rate),
    ]
    let recording = try Session.play(edited(edits), .read)
    #expect(recording.warnings.map(\.kind) == [.edits])
    let frames = shown(recording["video_0"], media: try media())
    #expect(frames == (0..<24).map { [$0 % 12, $0] })
  }

  /// A movie whose video has these edits; its first frame is at 0 of the media.
  private func edited(_ edits: [Edit]) throws -> [UInt8] {
    let bytes = try WovenMovie().bytes()
    let first = bytes.movie?.tracks.first?.edits.first { $0.mediaTime != nil }?.mediaTime ?? 0
    let moved = edits.map { edit in
      var edit = edit
      edit.mediaTime = edit.mediaTime.map { $0 + first }
      return edit
    }
    return SeedMovie.editing(bytes) { $0.setEdits(moved, ofTrack: 0) }
  }

  @Test("each edit plays at its own speed, which the segment says")
  func speeds() throws {
    let edits = [
      Edit(duration: 12 * 3000, mediaTime: 0, rate: 0x2_0000),
      Edit(duration: 24 * 3000, mediaTime: 24 * 3000, rate: 0x8000),
    ]
    let bytes = SeedMovie.editing(try WovenMovie().bytes()) { $0.setEdits(edits, ofTrack: 0) }
    let recording = try Session.play(bytes, .read)
    let segments = recording["video_0"].segments
    #expect(segments.map(\.rate) == [2, 0.5])
    #expect(segments.map(\.appliedRate) == [0.5, 2])
    #expect(segments.map(\.time) == [0, 400_000_000])
    #expect(segments.map(\.base) == [0, 400_000_000])
  }

  @Test(
    "media at another speed is shown at that speed, in the movie's time, and found there",
    arguments: [(2, 20), (0.5, 5)] as [(Double, Int)])
  func speed(rate: Double, count: Int) throws {
    let bytes = try edited([
      Edit(duration: 10 * 3000, mediaTime: 0),
      Edit(duration: 10 * 3000, mediaTime: 10 * 3000, rate: Int32(rate * 0x1_0000)),
      Edit(duration: 6 * 3000, mediaTime: 31 * 3000),
    ])
    // Frames, and when each is shown, in halves of a frame.
    var expected: [[Int]] = (0..<10).map { [$0, 2 * $0] }
    for number in 0..<count { expected.append([10 + number, 20 + 20 * number / count]) }
    for number in 0..<6 { expected.append([31 + number, 40 + 2 * number]) }
    let repeated = expected.map { [$0[0] % 12, $0[1]] }
    for name in ["left", "right", "video_0"] {
      let media = try media(WovenMovie(), name)
      for delivery in [Delivery.read, .pushed(upTo: 1000)] {
        let recording = try Session.play(bytes, delivery)
        #expect(recording.warnings.isEmpty && recording.disorder == [])
        #expect(shown(recording[name], media: media, parts: 2) == repeated, "\(name), \(delivery)")
      }
      var session = Session(bytes, .read)
      let whole = try session.playToEnd()
      #expect(session.player.duration == ClockTime(26, perSecond: 30))
      for place in expected {
        let time = ClockTime(place[1], perSecond: 60) + 2
        guard session.seek(SeekRequest(to: time)) else { throw Failure("the seek is refused") }
        #expect(session.player.position == time)
        var rest = Recording(after: whole)
        try session.play(into: &rest)
        #expect(
          shown(rest[name], media: media, parts: 2) == repeated.filter { $0[1] >= place[1] },
          "\(name), \(place)")
      }
    }
  }

  @Test("a part that goes back in the media too often is a gap, and a warning says so")
  func repeated() throws {
    let again = (0..<20).map { Edit(duration: 3000, mediaTime: Int64(20 - $0) * 3000) }
    let back = SeedMovie.editing(try WovenMovie().bytes()) { $0.setEdits(again, ofTrack: 0) }
    let recording = try Session.play(back, .read)
    #expect(recording.warnings.map(\.kind) == [.edits])
    // What is left out is a gap.
    #expect(!recording["video_0"].gaps.isEmpty)
  }
}

extension [UInt8] {
  /// The movie that these bytes are.
  var movie: Movie? {
    var parser = MovieParser(fileSize: UInt64(count))
    while let event = try? parser.next() {
      switch event {
      case .movie(let movie): return movie
      case .needBytes(let range):
        parser.supply(
          Array(self[Int(range.lowerBound)..<Int(range.upperBound)]), at: range.lowerBound)
      case .end: return nil
      default: break
      }
    }
    return nil
  }
}
