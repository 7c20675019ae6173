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

/// `mvhevcdemux`: playing fast or backwards with key frames alone, and without sound.
struct MVHEVCDemuxTrickModeTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  private static let keyUnits = [
    GST_SEEK_FLAG_TRICKMODE, GST_SEEK_FLAG_TRICKMODE_KEY_UNITS, GST_SEEK_FLAG_TRICKMODE_NO_AUDIO,
  ]

  /// What passes the sinks of a pipeline from a seek on to the end.
  private func record(
    _ description: String, _ sinks: [String], rate: Double, _ flags: [GstSeekFlags] = keyUnits,
    from start: ClockTime = 0
  ) async throws -> (taps: [String: Tap], bytesRead: Int) {
    let pipeline = try pipeline(description)
    defer { pipeline.setState(.null) }
    pipeline.setState(.paused)
    try #require(pipeline.waitForState())
    var taps: [String: Tap] = [:]
    for sink in sinks { taps[sink] = try Tap(pipeline.element(named: sink)?.staticPad("sink")) }
    let file = try Tap(pipeline.element(named: "file")?.staticPad("src"))
    // What is read up to the seek's flush fills the queues after the first frames, and does not
    // count.
    let before = Locked(0)
    pipeline.element(named: sinks[0])?.staticPad("sink")?.onEachEvent { _, event in
      guard event.type == GST_EVENT_FLUSH_STOP else { return }
      before.withLock { $0 = file.buffers.count }
    }
    let all = flags.reduce(GST_SEEK_FLAG_FLUSH.rawValue) { $0 | $1.rawValue }
    try #require(
      gst_element_seek(
        pipeline.pointer, rate, GST_FORMAT_TIME, GstSeekFlags(all), GST_SEEK_TYPE_SET,
        gint64(start.nanoseconds), GST_SEEK_TYPE_NONE, -1) != 0)
    // Muted sound must not hold up a pipeline that waits for data.
    try #require(pipeline.waitForState())
    pipeline.setState(.playing)
    try await messages(of: pipeline)
    return (taps, file.buffers.dropFirst(before.current).map(\.buffer.size).reduce(0, +))
  }

  private func frame(_ time: ClockTime?) -> Int? {
    time.map { Int(($0 + 1_000_000).units(perSecond: 30)) }
  }

  /// The gaps of a stream, by its timestamps.
  private func gaps(_ tap: Tap?) throws -> [(start: ClockTime, end: ClockTime)] {
    try #require(tap).events.filter { $0.type == GST_EVENT_GAP }.map { event in
      var (start, length) = (GstClockTime(0), GstClockTime(0))
      gst_event_parse_gap(event.pointer, &start, &length)
      return (ClockTime(nanoseconds: start), ClockTime(nanoseconds: start + length))
    }
  }

  @Test(
    "key units come alone, each up to the next, and decode; nothing else is read, audio is a gap",
    arguments: [4.0, -4.0])
  func keyUnits(rate: Double) async throws {
    try await OwnMovie.make(path, frames: 75, audio: true)
    let eyes = try await DemuxRun.file(path, ["left", "right", "video_0"])
    let pads = ["left", "right", "video_0", "audio_0"]
    let (taps, bytesRead) = try await record(
      "filesrc name=file location=\(path) ! mvhevcdemux name=d "
        + DemuxRun.sinks(["video_0", "audio_0"])
        + ["left", "right"].map {
          "d.\($0) ! tee name=tee-\($0) "
            + "tee-\($0). ! queue max-size-time=0 max-size-bytes=0 ! fakesink name=\($0) "
            + "tee-\($0). ! queue ! avdec_h265 max-threads=2 ! fakesink name=decoded-\($0) "
        }.joined(), pads + ["decoded-left", "decoded-right"],
      rate: rate)
    let keys = Array(stride(from: 0, to: 75, by: 10))
    let order = rate > 0 ? keys : keys.reversed()
    for pad in ["left", "right", "video_0"] {
      let tap = try #require(taps[pad])
      let shown = tap.buffers.filter { !$0.buffer.flags.contains(.decodeOnly) }
      let segment = try #require(tap.events.last { $0.type == GST_EVENT_SEGMENT }?.segment)
      #expect(segment.rate == rate)
      #expect(shown.map { frame($0.buffer.pts.flatMap { segment.streamTime($0) }) } == order)
      #expect(shown.map { frame($0.buffer.duration) } == order.map { $0 == 70 ? 5 : 10 })
      let units =
        pad == "right" ? tap.buffers.filter { !$0.buffer.flags.contains(.deltaUnit) } : shown
      #expect(units.count == keys.count)
      #expect(units.allSatisfy { $0.buffer.flags.contains(.discont) }, "\(pad)")
      let known = Set((eyes[pad]?.buffers ?? []).compactMap { $0.words.last })
      #expect(tap.buffers.allSatisfy { known.contains(md5($0.buffer.bytes)) }, "\(pad)")
    }
    for eye in ["left", "right"] {
      let all = try await DemuxRun.decoded(path, eye).map(\.md5)
      let shown = try #require(taps["decoded-\(eye)"]).buffers
      #expect(try shown.map { all.firstIndex(of: md5(try $0.pixels())) } == order, "\(eye)")
    }
    #expect(taps["audio_0"]?.buffers.isEmpty == true)
    let silence = try gaps(taps["audio_0"])
    for (one, next) in zip(silence, silence.dropFirst()) {
      #expect(rate > 0 ? one.end == next.start : one.start == next.end)
    }
    #expect((rate > 0 ? silence.first : silence.last)?.start == 0)
    let end = (rate > 0 ? silence.last : silence.first)?.end ?? 0
    #expect(frame(end) == 75)
    let sizes = try MovieFile(path).video().allSamples.filter(\.isSync).map { Int($0.size) }
    // Some may still be there from before the seek.
    #expect(bytesRead > 0 && bytesRead <= sizes.reduce(0, +))
  }
}
