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

/// `mvhevcdemux`: what applications ask of it and hear from it, and pads that are linked late,
/// elsewhere, or no more.
struct MVHEVCDemuxStreamTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  private func paused(_ between: String = "") throws -> (Pipeline, Element) {
    let pipeline = try pipeline(
      "filesrc location=\(path) ! \(between) mvhevcdemux name=d "
        + DemuxRun.sinks(["left", "video_0", "audio_0"]))
    pipeline.setState(.paused)
    try #require(pipeline.waitForState())
    return (pipeline, try #require(pipeline.element(named: "d")))
  }

  // MARK: Queries

  @Test("the segment is what was sought, duration and conversions are those of the stream")
  func queries() async throws {
    try await OwnMovie.make(path, frames: 45, audio: true)
    let (pipeline, demuxer) = try paused()
    defer { pipeline.setState(.null) }
    let seek = gst_element_seek(
      pipeline.pointer, 0.5, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET,
      gint64((ClockTime.second / 3).nanoseconds), GST_SEEK_TYPE_SET,
      gint64(ClockTime.second.nanoseconds))
    try #require(seek != 0)
    try #require(pipeline.waitForState())
    for name in ["left", "video_0", "audio_0"] {
      let pad = try #require(demuxer.staticPad(name))
      #expect(pad.duration.map { $0 / 1_000_000 } == 1500, "\(name)")
      let query = try #require(gst_query_new_segment(GST_FORMAT_TIME))
      defer { gst_query_unref(query) }
      try #require(gst_pad_query(pad.pointer, query) != 0, "\(name)")
      var (rate, start, stop) = (0.0, gint64(0), gint64(0))
      gst_query_parse_segment(query, &rate, nil, &start, &stop)
      #expect(rate == 0.5)
      #expect(
        start == gint64((ClockTime.second / 3).nanoseconds)
          && stop == gint64(ClockTime.second.nanoseconds))
    }
    for (name, units) in [("left", 30), ("video_0", 30), ("audio_0", 48_000)] as [(String, gint64)]
    {
      let pad = try #require(demuxer.staticPad(name))
      #expect(
        converted(pad, gint64(ClockTime.second.nanoseconds), GST_FORMAT_TIME, GST_FORMAT_DEFAULT)
          == units)
      #expect(
        converted(pad, 2 * units, GST_FORMAT_DEFAULT, GST_FORMAT_TIME)
          == 2 * gint64(ClockTime.second.nanoseconds))
      #expect(converted(pad, -1, GST_FORMAT_TIME, GST_FORMAT_DEFAULT) == -1)
      #expect(converted(pad, -5, GST_FORMAT_TIME, GST_FORMAT_DEFAULT) == nil)
    }
  }

  private func converted(
    _ pad: Pad, _ value: gint64, _ from: GstFormat, _ to: GstFormat
  ) -> gint64? {
    var result: gint64 = 0
    return gst_pad_query_convert(pad.pointer, from, value, to, &result) != 0 ? result : nil
  }

  // MARK: Streams and tags

  @Test("the collection has every stream, with the identities, kinds, caps and tags of its pads")
  func collection() async throws {
    let tags = "taginject tags=\"title=Test,language-code=fr\""
    try await play(
      eyes(10, "format=I420,width=320,height=96,framerate=30/1")
        + "audiotestsrc num-buffers=10 ! audio/x-raw,format=S16LE,rate=48000,channels=2 ! "
        + "\(tags) ! queue ! mux. mvhevcmux name=mux baseline=19.24 speed-preset=ultrafast ! "
        + "filesink location=\(path)")
    for between in ["", "queue !"] {
      let (pipeline, demuxer) = try paused(between)
      defer { pipeline.setState(.null) }
      var collection: UnsafeMutablePointer<GstStreamCollection>?
      for await message in pipeline.bus.messages
      where message.type == GST_MESSAGE_STREAM_COLLECTION {
        gst_message_parse_stream_collection(message.pointer, &collection)
        break
      }
      let found = try #require(collection)
      defer { gst_object_unref(UnsafeMutableRawPointer(found)) }
      let names = ["left", "right", "video_0", "audio_0"]
      try #require(gst_stream_collection_get_size(found) == guint(names.count))
      for (index, name) in names.enumerated() {
        let pad = try #require(demuxer.staticPad(name))
        let stream = try #require(gst_stream_collection_get_stream(found, guint(index)))
        #expect(
          String(cString: gst_stream_get_stream_id(stream))
            == pad.stickyEvent(GST_EVENT_STREAM_START)?.streamID)
        #expect(
          gst_stream_get_stream_type(stream)
            == (name == "audio_0" ? GST_STREAM_TYPE_AUDIO : GST_STREAM_TYPE_VIDEO))
        let caps = try #require(gst_stream_get_caps(stream).map { Caps(adopting: $0) })
        #expect(pad.currentCaps?.isEqual(to: caps) == true)
      }
      let told = stickyTags(names, demuxer)
      #expect(told["left"]?.contains("stereo-baseline=(double)19.2") == true)
      #expect(told["audio_0"]?.contains("language-code=(string)fr") == true)
      #expect(told["audio_0"]?.contains("title=(string)Test") == true)
      #expect(told["video_0"]?.contains("container-format=(string)Quicktime") == true)
    }
  }

  /// The tags that stuck to each linked pad.
  private func stickyTags(_ names: [String], _ demuxer: Element) -> [String: String] {
    var told: [String: String] = [:]
    for name in names {
      guard let pad = demuxer.staticPad(name), pad.isLinked else { continue }
      var index: guint = 0
      while let event = gst_pad_get_sticky_event(pad.pointer, GST_EVENT_TAG, index) {
        told[name, default: ""] += Event(adopting: event).tags?.description ?? ""
        index += 1
      }
    }
    return told
  }

  // MARK: Linking

  /// Puts a queue and a sink into a pipeline that plays.
  private func addSink(_ name: String, to pipeline: Pipeline) throws -> (entry: Pad, tap: Tap) {
    let queue = try Element("queue", name: "queue-\(name)")
    let sink = try Element("fakesink", name: name)
    let bin = UnsafeMutableRawPointer(pipeline.pointer).assumingMemoryBound(to: GstBin.self)
    for element in [queue, sink] { gst_bin_add(bin, element.pointer) }
    gst_element_link(queue.pointer, sink.pointer)
    for element in [sink, queue] { gst_element_sync_state_with_parent(element.pointer) }
    return (try #require(queue.staticPad("sink")), try Tap(sink.staticPad("sink")))
  }

  /// A pipeline that plays up to the sixteenth buffer of each of these pads.
  private struct Half {
    let pipeline: Pipeline
    let demuxer: Element
    let taps: [Tap]
    private let gates: [Gate]

    init(_ path: String, _ pads: [String]) async throws {
      let pipeline = try SpatialTests.pipeline(
        "filesrc location=\(path) ! mvhevcdemux name=d "
          + pads.map { "d.\($0) ! queue max-size-buffers=2 ! fakesink name=\($0) " }.joined())
      self.pipeline = pipeline
      demuxer = try #require(pipeline.element(named: "d"))
      let sinks = pads.map { pipeline.element(named: $0)?.staticPad("sink") }
      taps = try sinks.map { try Tap($0) }
      gates = try sinks.map { try Gate($0, after: 15) }
      pipeline.setState(.playing)
      for gate in gates { try await gate.waitUntilHeld() }
    }

    func resume() { for gate in gates { gate.open() } }
  }

  @Test(
    "a pad that loses its peer mid-stream stops no other, and loses nothing if it gets another",
    arguments: [true, false])
  func relinked(getsAnother: Bool) async throws {
    try await OwnMovie.make(path, frames: 45)
    let half = try await Half(path, ["left", "right"])
    defer { half.pipeline.setState(.null) }
    let pad = try #require(half.demuxer.staticPad("left"))
    let old = try #require(pad.peer)
    let another = getsAnother ? try addSink("other", to: half.pipeline) : nil
    let isDone = pad.whenIdle {
      gst_pad_unlink(pad.pointer, old.pointer)
      if let another { gst_pad_link(pad.pointer, another.entry.pointer) }
    }
    half.resume()
    try await isDone.wait(for: "an idle pad") { $0 }
    // The old branch would wait for its end for ever.
    gst_pad_send_event(old.pointer, gst_event_new_eos())
    try await messages(of: half.pipeline)
    #expect(half.taps[1].buffers.count == 45)
    let count = half.taps[0].buffers.count
    #expect((16..<45).contains(count))
    guard let tap = another?.tap else { return }
    #expect(tap.buffers.count == 45 - count)
    #expect(tap.events.contains { $0.type == GST_EVENT_SEGMENT })
    #expect(tap.buffers.first?.caps.isEmpty == false)
  }

  @Test("a pad that is linked late begins at a random access point; its frames decode")
  func linkedLate() async throws {
    try await OwnMovie.make(path, frames: 60)
    let expected = try await DemuxRun.decoded(path, "right").map(\.md5)
    let half = try await Half(path, ["left"])
    defer { half.pipeline.setState(.null) }
    let pad = try #require(half.demuxer.staticPad("right"))
    let decoder = try Element("avdec_h265", name: "decoder")
    let bin = UnsafeMutableRawPointer(half.pipeline.pointer).assumingMemoryBound(to: GstBin.self)
    gst_bin_add(bin, decoder.pointer)
    let (new, tap) = try addSink("late", to: half.pipeline)
    let output = try #require(decoder.staticPad("src"))
    let input = try #require(decoder.staticPad("sink"))
    gst_pad_link(output.pointer, new.pointer)
    gst_element_sync_state_with_parent(decoder.pointer)
    gst_pad_link(pad.pointer, input.pointer)
    half.resume()
    try await messages(of: half.pipeline)
    #expect(half.taps[0].buffers.count == 60)
    let frames = try tap.buffers.map { md5(try $0.pixels()) }
    #expect(frames.count >= 10)
    #expect(frames == Array(expected.suffix(frames.count)))
  }
}
