// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import FuzzTargets
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import TestKit
import Testing

/// `mvhevcdemux`: going elsewhere in the movie, backwards, and over a part of it.
struct MVHEVCDemuxSeekTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  private func seek(
    _ pipeline: Pipeline, rate: Double = 1, _ flags: [GstSeekFlags], from start: ClockTime,
    to stop: ClockTime? = nil
  ) -> Bool {
    let all = flags.reduce(GST_SEEK_FLAG_FLUSH.rawValue) { $0 | $1.rawValue }
    return gst_element_seek(
      pipeline.pointer, rate, GST_FORMAT_TIME, GstSeekFlags(all), GST_SEEK_TYPE_SET,
      gint64(start.nanoseconds), stop == nil ? GST_SEEK_TYPE_NONE : GST_SEEK_TYPE_SET,
      stop.map { gint64($0.nanoseconds) } ?? -1) != 0
  }

  @Test(
    "an accurate seek shows the frame that belongs there, for both eyes",
    arguments: ["", "queue !"]
  )
  func accurate(between: String) async throws {
    try await OwnMovie.make(path, frames: 60)
    var expected: [String: [String]] = [:]
    for eye in ["left", "right"] {
      expected[eye] = try await DemuxRun.decoded(path, eye).map(\.md5)
    }
    let pipeline = try pipeline(
      "filesrc location=\(path) ! \(between) mvhevcdemux name=d "
        + ["left", "right"].map {
          "d.\($0) ! queue ! avdec_h265 max-threads=2 ! fakesink name=\($0) "
        }.joined())
    let taps = try ["left", "right"].map {
      ($0, try Tap(pipeline.element(named: $0)?.staticPad("sink")))
    }
    defer { pipeline.setState(.null) }
    pipeline.setState(.paused)
    try #require(pipeline.waitForState())
    var dice = Dice(7)
    for _ in 0..<25 {
      let time =
        ClockTime(dice.next(below: 60), perSecond: 30)
        + ClockTime(nanoseconds: dice.next(below: 30_000_000)) + 2
      let counts = taps.map { $0.1.buffers.count }
      try #require(seek(pipeline, [GST_SEEK_FLAG_ACCURATE], from: time))
      try #require(pipeline.waitForState())
      for ((eye, tap), count) in zip(taps, counts) {
        let frame = try #require(tap.buffers.dropFirst(count).first, "\(eye) at \(time)")
        let index = Int(time.units(perSecond: 30))
        #expect(md5(try frame.pixels()) == expected[eye]?[index], "\(eye) at \(time)")
      }
    }
  }

  @Test("a seek's flags count: a key unit before, after or nearest, and a segment with its end")
  func flags() async throws {
    try await OwnMovie.make(path, frames: 40)
    let pipeline = try pipeline(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! fakesink name=sink")
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    defer { pipeline.setState(.null) }
    pipeline.setState(.paused)
    try #require(pipeline.waitForState())
    #expect(pipeline.duration == 40 * .second / 30)
    for (flags, frame) in [
      ([GST_SEEK_FLAG_KEY_UNIT], 10), ([GST_SEEK_FLAG_KEY_UNIT, GST_SEEK_FLAG_SNAP_AFTER], 20),
      ([GST_SEEK_FLAG_KEY_UNIT, GST_SEEK_FLAG_SNAP_NEAREST], 20),
    ] as [([GstSeekFlags], Int)] {
      let count = tap.buffers.count
      try #require(seek(pipeline, flags, from: 18 * .second / 30))
      try #require(pipeline.waitForState())
      let buffer = try #require(tap.buffers.dropFirst(count).first).buffer
      #expect(buffer.flags.contains(.discont))
      #expect(!buffer.flags.contains(.deltaUnit))
      let segment = try #require(tap.events.last { $0.type == GST_EVENT_SEGMENT }?.segment)
      let time = try #require(buffer.pts.flatMap { segment.streamTime($0) })
      // Timestamps are rounded with the distance from decoding to presentation in them.
      let due = ClockTime(frame, perSecond: 30)
      #expect((due...due + 1).contains(time))
      #expect(pipeline.position == time)
    }
    let count = tap.buffers.count
    try #require(
      seek(pipeline, [GST_SEEK_FLAG_SEGMENT], from: .second / 3, to: .second * 2 / 3))
    pipeline.setState(.playing)
    for await message in pipeline.bus.messages {
      if case .error(let failure) = message.content { throw failure }
      #expect(message.type != GST_MESSAGE_EOS)
      if message.type == GST_MESSAGE_SEGMENT_DONE { break }
    }
    #expect(tap.buffers.count >= count + 10)
    #expect(!tap.events.contains { $0.type == GST_EVENT_EOS })
    try #require(seek(pipeline, [], from: 0))
    try await messages(of: pipeline)
  }

  @Test("a layered stream that another demuxer seeks has the new segment")
  func elementary() async throws {
    try await OwnMovie.make(path, frames: 40)
    let pipeline = try pipeline(
      "filesrc location=\(path) ! qtdemux ! mvhevcdemux name=d "
        + DemuxRun.sinks(["left", "video_0"]))
    defer { pipeline.setState(.null) }
    pipeline.setState(.paused)
    try #require(pipeline.waitForState())
    let taps = try ["left", "video_0"].map {
      try Tap(pipeline.element(named: $0)?.staticPad("sink"))
    }
    try #require(seek(pipeline, rate: 2, [GST_SEEK_FLAG_ACCURATE], from: 12 * .second / 30))
    pipeline.setState(.playing)
    try await messages(of: pipeline)
    for tap in taps {
      let segments = tap.events.filter { $0.type == GST_EVENT_SEGMENT }.compactMap(\.segment)
      #expect(segments.map(\.rate) == [2])
      #expect(segments.map(\.time) == [12 * .second / 30])
      #expect(tap.buffers.count == 30)
    }
  }

  @Test("after a flush by upstream the segment is sent again, and the rest is played")
  func flush() async throws {
    try await OwnMovie.make(path, frames: 40)
    let movie = try #require(SeedMovie([UInt8](try Data(contentsOf: URL(filePath: path)))))
    let bytes = movie.fragmented(length: 10)
    let whole = try await DemuxRun.pushed(bytes, ["video_0"]) { 1000 }["video_0"]
    let tap = try #require(
      try await DemuxRun.pushedTaps(bytes, ["video_0"], flush: bytes.count / 2) { 1000 }["video_0"])
    let flush = try #require(
      tap.items.lastIndex {
        if case .event(let event) = $0 { event.type == GST_EVENT_FLUSH_STOP } else { false }
      })
    let events = tap.items[flush...].prefix { if case .event = $0 { true } else { false } }
    #expect(
      events.contains {
        if case .event(let event) = $0 { event.type == GST_EVENT_SEGMENT } else { false }
      })
    let rest = try #require(tap.buffers.last).buffer
    #expect(whole?.buffers.last?.hasSuffix(md5(rest.bytes)) == true)
    #expect(tap.buffers.allSatisfy { $0.runningTime != nil })
  }
}
