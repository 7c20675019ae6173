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
    /// Of the second part.
    var speed = 1.0
    /// How the muxer predicts one eye from the other.
    var prediction = "none"
    let edits: [(count: Int, from: Int?)]

    /// What is shown when.
    var expected: [Shown] {
      var start = 0
      return edits.enumerated().flatMap { number, edit in
        defer { start += edit.count }
        guard let from = edit.from else { return [Shown]() }
        let speed = number == 1 ? speed : 1
        return (0..<Int(Double(edit.count) * speed)).map {
          let time = (Double(start) + Double($0) / speed) * 1e9 / 30
          return Shown(frame: from + $0, time: ClockTime(nanoseconds: Int(time)))
        }
      }
    }
  }

  /// `EditTests` has many more, of the player alone.
  private static let lists = [
    List(testDescription: "a later start", edits: [(12, nil), (30, 0)]),
    List(testDescription: "media that plays again", edits: [(12, 10), (14, 3), (8, 30), (5, 34)]),
    List(
      testDescription: "several pauses, and an eye that is delayed by flattening",
      prediction: "keyframes",
      edits: [(6, 0), (3, nil), (8, 6), (2, nil), (1, nil), (2, 14), (30, nil), (9, 20)]),
    List(
      testDescription: "a part at half the speed", speed: 0.5,
      edits: [(10, 0), (10, 10), (6, 31)]),
  ]

  /// Makes a movie with such a list at `changed`, and one without at `path`.
  private func make(_ list: List) async throws {
    try await OwnMovie.make(path, mux: "inter-view-prediction=\(list.prediction)")
    let file = try MovieFile(path)
    let (movie, media) = (UInt64(file.movie.timescale), Int64(try file.video().timescale))
    let first = try file.video().edits.first { $0.mediaTime != nil }?.mediaTime ?? 0
    let edits = list.edits.enumerated().map { number, edit in
      Edit(
        duration: UInt64(edit.count) * movie / 30,
        mediaTime: edit.from.map { first + Int64($0) * media / 30 },
        rate: Int32((number == 1 ? list.speed : 1) * 0x1_0000))
    }
    try Data(try MovieIndex.replacingEdits(edits, of: "vide", in: file.bytes))
      .write(to: URL(filePath: changed))
  }

  @Test(
    "edit lists show the right frames at the right times, in pull and in push mode", .tags(.long),
    arguments: lists)
  func edits(list: List) async throws {
    try await make(list)
    for pad in ["left", "right"] {
      let all = try await DemuxRun.decoded(path, pad).map(\.md5)
      #expect(Set(all).count == 40)
      for between in ["", "queue !"] {
        let frames = try await shown(changed, pad, all: all, between: between)
        #expect(nearly(frames, list.expected), "\(pad) \(between): \(frames)")
      }
      // Where it cuts in the midst of pictures that are decoded out of order, it rounds or loses
      // some.
      guard pad == "left", list.speed == 1, list.edits.allSatisfy({ $0.from ?? 0 == 0 }) else {
        continue
      }
      let theirs = try await shown(changed, "video_0", all: all, demuxer: "qtdemux")
      #expect(nearly(theirs, list.expected), "qtdemux: \(theirs)")
    }
  }

  /// Whether the same frames are shown at the same times, but for rounding.
  private func nearly(_ one: [Shown], _ other: [Shown]) -> Bool {
    one.map(\.frame) == other.map(\.frame)
      && zip(one, other).allSatisfy {
        max($0.time, $1.time) - min($0.time, $1.time) < 2_000_000
      }
  }

  private static let accurate = GstSeekFlags(
    GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)

  @Test("parts are played backwards each by itself, wherever in the media they lie")
  func reverse() async throws {
    let list = List(testDescription: "", edits: [(8, 20), (5, nil), (12, 3), (6, 30)])
    try await make(list)
    let all = try await DemuxRun.decoded(path, "left").map(\.md5)
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
