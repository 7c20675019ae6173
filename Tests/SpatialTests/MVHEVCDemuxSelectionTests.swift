// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import TestKit
import Testing

/// `mvhevcdemux` and `mvhevcautodemux`: applications that choose some of their streams.
///
/// A demuxer that outputs all its streams offers no selection (GStreamer's stream selection
/// design): `decodebin3` after it decodes the selected ones.
struct MVHEVCDemuxSelectionTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  private func selection(_ ids: [String]) throws -> Event {
    var list: UnsafeMutablePointer<GList>?
    defer { g_list_free_full(list) { g_free($0) } }
    for id in ids { list = g_list_append(list, g_strdup(id)) }
    return Event(adopting: try #require(gst_event_new_select_streams(list)))
  }

  /// The ids of the streams in a collection that was posted.
  private func ids(_ message: Message) -> [String] {
    var collection: UnsafeMutablePointer<GstStreamCollection>?
    gst_message_parse_stream_collection(message.pointer, &collection)
    guard let collection else { return [] }
    defer { gst_object_unref(UnsafeMutableRawPointer(collection)) }
    return (0..<gst_stream_collection_get_size(collection)).compactMap {
      gst_stream_collection_get_stream(collection, $0).map {
        String(cString: gst_stream_get_stream_id($0))
      }
    }
  }

  /// The ids of the streams that a message says are played.
  private func selected(_ message: Message) -> Set<String> {
    let count = gst_message_streams_selected_get_size(message.pointer)
    return Set(
      (0..<count).compactMap { index in
        guard let stream = gst_message_streams_selected_get_stream(message.pointer, index) else {
          return nil
        }
        defer { gst_object_unref(UnsafeMutableRawPointer(stream)) }
        return String(cString: gst_stream_get_stream_id(stream))
      })
  }

  /// Makes autopluggers take this demuxer for all movies, which they do not unasked.
  private func prefer(_ isPreferred: Bool, _ body: () async throws -> Void) async throws {
    guard isPreferred else { return try await body() }
    let factory = try #require(gst_element_factory_find("mvhevcdemux"))
    defer { gst_object_unref(UnsafeMutableRawPointer(factory)) }
    let rank = gst_plugin_feature_get_rank(factory)
    defer { gst_plugin_feature_set_rank(factory, rank) }
    gst_plugin_feature_set_rank(factory, guint(GST_RANK_PRIMARY.rawValue) + 100)
    try await body()
  }

  /// Gives a player a sink that shows nothing, but in time.
  private func sink(_ property: String, of player: Pipeline) throws -> Element {
    let sink = try Element("fakesink")
    sink.set("sync", "true")
    var value = GValue()
    g_value_init(&value, gst_element_get_type())
    defer { g_value_unset(&value) }
    g_value_set_object(&value, sink.pointer)
    g_object_set_property(
      UnsafeMutableRawPointer(player.pointer).assumingMemoryBound(to: GObject.self), property,
      &value)
    return sink
  }

  /// Has a player's decoders wait for data before its source starts.
  ///
  /// The `playbin3` of GStreamer 1.28 starts its source first. Where that is the faster, its first
  /// data comes to pads that are not active yet and nothing is ever played, whichever demuxer and
  /// movie it is.
  private func readyDecoders(of player: Pipeline) throws {
    player.setState(.ready)
    let all = gst_bin_iterate_all_by_element_factory_name(
      UnsafeMutablePointer(OpaquePointer(player.pointer)), "decodebin3")
    defer { gst_iterator_free(all) }
    var item = GValue()
    defer { g_value_unset(&item) }
    try #require(gst_iterator_next(all, &item) == GST_ITERATOR_OK)
    let decoders = try #require(g_value_get_object(&item)).assumingMemoryBound(to: GstElement.self)
    #expect(gst_element_set_state(decoders, GST_STATE_PAUSED) == GST_STATE_CHANGE_SUCCESS)
  }

  @Test(
    "playbin3 switches from one eye to the other while playing, and audio continues",
    .tags(.realTime),
    arguments: [false, true])
  func playbin(isPreferred: Bool) async throws {
    try await OwnMovie.make(path, frames: 60, audio: true)
    let left = try await DemuxRun.decoded(path, "left").map(\.md5)
    let right = try await DemuxRun.decoded(path, "right").map(\.md5)
    try #require(Set(left).isDisjoint(with: right))
    // Unasked, it gets the eyes alone; else what holds both, too.
    let audioIndex = isPreferred ? 3 : 2
    try await prefer(isPreferred) {
      let pipeline = try pipeline("playbin3 uri=file://\(path)")
      defer { pipeline.setState(.null) }
      let video = try Tap(sink("video-sink", of: pipeline).staticPad("sink"))
      let audio = try Tap(sink("audio-sink", of: pipeline).staticPad("sink"))
      try readyDecoders(of: pipeline)
      pipeline.setState(.playing)
      var all: [String] = []
      var told: [Set<String>] = []
      waiting: for await message in pipeline.bus.messages {
        switch message.type {
        case GST_MESSAGE_STREAM_COLLECTION: all = ids(message)
        case GST_MESSAGE_STREAMS_SELECTED:
          told.append(selected(message))
          if told.count == 1 {
            while video.buffers.count < 5 { try await Task.sleep(for: .milliseconds(2)) }
            try #require(all.count == audioIndex + 1)
            #expect(told[0] == [all[0], all[audioIndex]])
            #expect(pipeline.send(try selection([all[1], all[audioIndex]])))
          }
        case GST_MESSAGE_ERROR:
          if case .error(let failure) = message.content { throw failure }
        case GST_MESSAGE_EOS: break waiting
        default: break
        }
      }
      #expect(told.last == [all[1], all[audioIndex]])
      let shown = try video.buffers.map { md5(try $0.pixels()) }
      let turn = try #require(shown.firstIndex { right.contains($0) })
      #expect(turn >= 5 && turn < 50)
      #expect(shown[..<turn].allSatisfy { left.contains($0) })
      #expect(Array(shown[turn...]) == Array(right.suffix(shown.count - turn)))
      let bytes = audio.buffers.map(\.buffer.size).reduce(0, +)
      #expect(bytes == 60 * 1600 / 1024 * 1024 * 4)
    }
  }

  /// What a file is found to be.
  private func type(of path: String, between: String = "") async throws -> String {
    let pipeline = try pipeline(
      "filesrc location=\(path) ! \(between) typefind name=t ! fakesink num-buffers=1 name=sink")
    defer { pipeline.setState(.null) }
    pipeline.setState(.paused)
    try #require(pipeline.waitForState())
    return "\(try #require(pipeline.element(named: "t")?.staticPad("src")?.currentCaps))"
  }

  @Test("movies with two layers have a type of their own, and others keep theirs")
  func types() async throws {
    let layered = "video/quicktime, layers=(int)2"
    try await OwnMovie.make(path, frames: 3, audio: true)
    #expect(try await type(of: path) == layered)
    let start = folder.path("start.mp4")
    try await play(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! queue ! mux.video_0 "
        + "mvhevcmux name=mux container=mp4 fragment-duration=1000000000 "
        + "! filesink location=\(start)")
    // The index comes first: it is found in what is pushed, too.
    #expect(try await type(of: start) == layered)
    #expect(try await type(of: start, between: "queue !") == layered)
    let plain = folder.path("plain.mp4")
    try await play(
      "videotestsrc num-buffers=3 ! x265enc ! h265parse ! mp4mux ! filesink location=\(plain)")
    #expect(try await type(of: plain) == "video/quicktime, variant=(string)iso")
  }

  @Test(
    "decodebin and decodebin3 take spatial movies by default, and the stream of a pad each",
    arguments: [
      ("decodebin !", ["left"]), ("decodebin3 !", ["left"]), ("", ["left"]), ("", ["right"]),
      ("", ["left", "right"]), ("queue !", ["left"]), ("queue !", ["right"]),
      ("queue !", ["left", "right"]),
    ] as [(String, [String])])
  func decodebin(between: String, eyes: [String]) async throws {
    let isAlone = between.contains("decodebin")
    try await OwnMovie.make(path, frames: 20, audio: !isAlone)
    let branches = eyes.map { "d.\($0) ! queue ! decodebin3 ! fakesink name=\($0) " }
    let rest = isAlone ? "fakesink name=left" : "mvhevcdemux name=d " + branches.joined()
    let frames = try await record(
      "filesrc location=\(path) ! \(between) \(rest)", sinks: eyes)
    for (eye, frames) in zip(eyes, frames) {
      let expected = try await DemuxRun.decoded(path, eye).map(\.md5)
      #expect(try frames.map { md5(try $0.pixels()) } == expected, "\(eye)")
    }
  }

  @Test(
    "a seek that makes no sense and a choice of streams are refused, and change nothing",
    arguments: ["", "queue !"])
  func refused(between: String) async throws {
    let pads = ["left", "right", "video_0"]
    try await OwnMovie.make(path, frames: 60)
    let expected = try await DemuxRun.file(path, pads)
    let pipeline = try pipeline(
      "filesrc location=\(path) blocksize=1024 ! \(between) mvhevcdemux name=d "
        + pads.map { "d.\($0) ! queue max-size-buffers=2 ! fakesink name=\($0) " }.joined())
    let taps = try pads.map { ($0, try Tap(pipeline.element(named: $0)?.staticPad("sink"))) }
    defer { pipeline.setState(.null) }
    pipeline.setState(.paused)
    try #require(pipeline.waitForState())
    // From after its own end.
    let isDone = gst_element_seek(
      pipeline.pointer, 1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET,
      1_000_000_000, GST_SEEK_TYPE_SET, 500_000_000)
    #expect(isDone == 0)
    let pad = try #require(pipeline.element(named: "d")?.staticPad("right"))
    let id = try #require(pad.stickyEvent(GST_EVENT_STREAM_START)?.streamID)
    #expect(!pipeline.send(try selection([id])))
    let query = try #require(gst_query_new_selectable())
    defer { gst_query_unref(query) }
    var isSelectable: gboolean = 0
    if gst_pad_query(pad.pointer, query) != 0 {
      gst_query_parse_selectable(query, &isSelectable)
    }
    #expect(isSelectable == 0)
    pipeline.setState(.playing)
    try await messages(of: pipeline)
    for (pad, tap) in taps {
      #expect(!tap.events.contains { $0.type == GST_EVENT_FLUSH_START }, "\(pad)")
      #expect(PadRecord(tap) == expected[pad], "\(pad)")
    }
  }
}
