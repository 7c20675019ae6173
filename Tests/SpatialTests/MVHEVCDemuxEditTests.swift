// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestElements
import TestKit
import Testing

/// `mvhevcdemux`: tracks with edit lists.
struct MVHEVCDemuxEditTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }
  var changed: String { folder.path("changed.mov") }

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  /// A frame that is shown: its number in the media, and when.
  struct Shown: Equatable, CustomStringConvertible {
    let frame: Int
    let time: ClockTime

    var description: String { "\(frame) at \(time.seconds)" }
  }

  /// The frames that a decoder shows, by what they look like.
  private func shown(
    _ path: String, _ pad: String, all: [String], demuxer: String = "mvhevcdemux",
    between: String = ""
  ) async throws -> [Shown] {
    let frames = try await record(
      "filesrc location=\(path) ! \(between) \(demuxer) name=d "
        + "d.\(pad) ! queue ! avdec_h265 max-threads=2 ! fakesink name=sink")[0]
    return try frames.compactMap { frame in
      guard let time = frame.runningTime else { return nil }
      let number = all.firstIndex(of: md5(try frame.pixels()))
      return Shown(frame: try #require(number), time: time)
    }
  }

  /// An edit list, in frames of 1/30 s: how many are shown, from which on; nil shows nothing.
  struct List: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let edits: [(count: Int, from: Int?)]

    /// What is shown when.
    var expected: [Shown] {
      var time = 0
      return edits.flatMap { count, from in
        defer { time += count }
        guard let from else { return [Shown]() }
        return (0..<count).map {
          Shown(frame: from + $0, time: ClockTime(time + $0, perSecond: 30))
        }
      }
    }
  }

  /// `EditTests` has many more, of the player alone.
  private static let lists = [
    List(testDescription: "a later start", edits: [(12, nil), (30, 0)]),
    List(testDescription: "both", edits: [(6, nil), (20, 15)]),
    List(testDescription: "media that plays again", edits: [(12, 10), (14, 3), (8, 30), (5, 34)]),
    List(
      testDescription: "several pauses",
      edits: [(6, 0), (3, nil), (8, 6), (2, nil), (1, nil), (2, 14), (30, nil), (9, 20)]),
  ]

  private func make(_ list: [Edit], mux: String = "") async throws -> [String] {
    try await OwnMovie.make(path, mux: mux)
    let file = [UInt8](try Data(contentsOf: URL(filePath: path)))
    try Data(try MovieIndex.replacingEdits(list, of: "vide", in: file))
      .write(to: URL(filePath: changed))
    return try await DemuxRun.decoded(path, "left").map(\.md5)
  }

  /// The frames' numbers as an edit list of the movie that the muxer makes.
  private func edits(_ list: List) async throws -> [Edit] {
    try await OwnMovie.make(path, frames: 2)
    let file = try MovieFile(path)
    let (movie, media) = (UInt64(file.movie.timescale), Int64(try file.video().timescale))
    let first = try file.video().edits.first { $0.mediaTime != nil }?.mediaTime ?? 0
    return list.edits.map { count, from in
      Edit(
        duration: UInt64(count) * movie / 30,
        mediaTime: from.map { first + Int64($0) * media / 30 })
    }
  }

  @Test(
    "edit lists show the right frames at the right times, in pull and in push mode", .tags(.long),
    arguments: lists)
  func edits(list: List) async throws {
    let all = try await make(try await edits(list))
    for (pad, between) in [("left", ""), ("left", "queue !"), ("right", "")] {
      let eye = pad == "left" ? all : try await DemuxRun.decoded(path, pad).map(\.md5)
      let frames = try await shown(changed, pad, all: eye, between: between)
      #expect(nearly(frames, list.expected), "\(pad) \(between): \(frames)")
    }
    // Where it cuts in the midst of pictures that are decoded out of order, it rounds or loses
    // some.
    guard list.edits.allSatisfy({ $0.from ?? 0 == 0 }) else { return }
    let theirs = try await shown(changed, "video_0", all: all, demuxer: "qtdemux")
    #expect(nearly(theirs, list.expected), "qtdemux: \(theirs)")
  }

  @Test("the same for an eye that is delayed by flattening", .tags(.long), arguments: lists)
  func flattened(list: List) async throws {
    _ = try await make(try await edits(list), mux: "inter-view-prediction=keyframes")
    let all = try await DemuxRun.decoded(path, "right").map(\.md5)
    #expect(Set(all).count == 40)
    for between in ["", "queue !"] {
      let frames = try await shown(changed, "right", all: all, between: between)
      #expect(nearly(frames, list.expected), "\(between): \(frames)")
    }
  }

  /// Whether the same frames are shown at the same times, but for rounding.
  private func nearly(_ one: [Shown], _ other: [Shown]) -> Bool {
    one.map(\.frame) == other.map(\.frame)
      && zip(one, other).allSatisfy {
        max($0.time, $1.time) - min($0.time, $1.time) < 2_000_000
      }
  }

  @Test(
    "an edit at another speed shows the media at that speed, in the movie's time",
    arguments: [(2.0, 20), (0.5, 5)])
  func speed(rate: Double, count: Int) async throws {
    var list = try await edits(List(testDescription: "", edits: [(10, 0), (10, 10), (6, 31)]))
    list[1].rate = Int32(rate * 0x1_0000)
    let all = try await make(list)
    var expected = (0..<10).map { ($0, Double($0)) }
    expected += (0..<count).map { (10 + $0, 10 + Double($0) / rate) }
    expected += (0..<6).map { (31 + $0, 20 + Double($0)) }
    let times = expected.map {
      Shown(frame: $0.0, time: ClockTime(nanoseconds: Int($0.1 * 1e9 / 30)))
    }
    for (pad, between) in [("left", ""), ("left", "queue !"), ("right", "")] {
      let eye = pad == "left" ? all : try await DemuxRun.decoded(path, pad).map(\.md5)
      let frames = try await shown(changed, pad, all: eye, between: between)
      #expect(nearly(frames, times), "\(pad) \(between): \(frames)")
    }
    let pipeline = try pipeline(
      "filesrc location=\(changed) ! mvhevcdemux name=d "
        + "d.left ! queue ! avdec_h265 max-threads=2 ! fakesink name=sink")
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    defer { pipeline.setState(.null) }
    pipeline.setState(.paused)
    try #require(pipeline.waitForState())
    #expect(pipeline.duration == 26 * .second / 30)
    for (frame, time) in expected where frame % 4 == 3 {
      let sought = ClockTime(nanoseconds: Int((time * 1e9 / 30).rounded())) + 1_000_000
      let before = tap.buffers.count
      try #require(pipeline.seek(to: sought, flags: .accurate))
      try #require(pipeline.waitForState())
      let first = try #require(tap.buffers.dropFirst(before).first)
      #expect(all.firstIndex(of: md5(try first.pixels())) == frame)
      #expect(pipeline.position.map { max($0, sought) - min($0, sought) < 2_000 } == true)
    }
  }

  private static let accurate = GstSeekFlags(
    GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)

  @Test(
    "a part that is to stand still, go back or crawl plays at normal speed, and a warning says so",
    arguments: [0] as [Int32])
  func strangeSpeed(rate: Int32) async throws {
    var list = try await edits(List(testDescription: "", edits: [(10, 0), (10, 10)]))
    list[1].rate = rate
    let all = try await make(list)
    let messages = try await play(
      "filesrc location=\(changed) ! mvhevcdemux name=d d.left ! fakesink")
    #expect(messages.warnings.contains { $0.contains("normal speed") })
    let frames = try await shown(changed, "left", all: all)
    #expect(frames.map(\.frame) == Array(0..<20), "\(frames)")
  }

  @Test("parts are played backwards each by itself, wherever in the media they lie")
  func reverse() async throws {
    let list = List(testDescription: "", edits: [(8, 20), (5, nil), (12, 3), (6, 30)])
    let all = try await make(try await edits(list))
    let pipeline = try pipeline(
      "filesrc location=\(changed) ! mvhevcdemux name=d "
        + "d.left ! queue ! avdec_h265 max-threads=2 ! fakesink name=sink")
    defer { pipeline.setState(.null) }
    pipeline.setState(.paused)
    try #require(pipeline.waitForState())
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    try #require(
      gst_element_seek(
        pipeline.pointer, -1, GST_FORMAT_TIME, Self.accurate, GST_SEEK_TYPE_SET, 0,
        GST_SEEK_TYPE_NONE, -1) != 0)
    pipeline.setState(.playing)
    try await messages(of: pipeline)
    let frames = try tap.buffers.filter { $0.runningTime != nil }
      .map { all.firstIndex(of: md5(try $0.pixels())) }
    #expect(frames == list.expected.reversed().map(\.frame))
  }
}
