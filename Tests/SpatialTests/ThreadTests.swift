// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import StereoVideo
import Synchronization
import TestElements
import TestKit
import Testing

import struct FuzzTargets.SplitMix

/// Each element while seeks, changes of state, properties, queries and events come in from threads
/// of their own. It must neither fail nor hang; `make tsan` looks on, and must have nothing to say.
@Suite(.serialized)
struct ThreadTests {
  /// Pipelines in which each element of the plugin has its place. `MOVIE` is a movie with sound;
  /// the demuxer's pads go to the queues of their names.
  enum Graph: String, CaseIterable, CustomTestStringConvertible {
    case pulled =
      """
      filesrc location=MOVIE ! mvhevcdemux name=d
      queue name=left ! fakesink name=a queue name=right ! fakesink name=b
      queue name=audio_0 ! fakesink name=c
      """
    case pushed =
      """
      filesrc location=MOVIE ! queue ! mvhevcdemux name=d
      queue name=left ! fakesink name=a queue name=right ! fakesink name=b
      queue name=video_0 ! fakesink name=c
      """
    case decoded =
      """
      filesrc location=MOVIE ! mvhevcdemux name=d queue name=video_0 ! mvhevcdec name=e
      e.left ! queue ! fakesink name=a e.right ! queue ! fakesink name=b
      """
    case encoded =
      """
      stereotestsrc ! video/x-raw,width=192,height=64 ! sbssplit name=s
      s.left ! stereotagger eye=left baseline=64 ! queue ! e.left
      s.right ! stereotagger eye=right ! queue ! e.right
      mvhevcenc name=e speed-preset=ultrafast ! fakesink name=a
      """
    case muxed =
      """
      stereotestsrc ! video/x-raw,width=192,height=64 ! sbssplit name=s
      s.left ! queue ! m.left s.right ! queue ! m.right
      audiotestsrc ! audio/x-raw,format=S16LE,rate=48000,channels=2 ! queue ! m.audio_0
      mvhevcmux name=m speed-preset=ultrafast fragment-duration=200000000 ! fakesink name=a
      """
    case packed =
      """
      stereotestsrc ! video/x-raw,width=192,height=64 ! sbssplit name=s
      s.left ! queue ! p.left s.right ! queue ! p.right stereopack name=p ! queue
      ! sphericalview projection=half-equirectangular ! video/x-raw,width=192,height=64
      ! fakesink name=a
      """

    var testDescription: String { "\(self)" }

    /// Whether a seek goes somewhere; what records refuses it.
    var isSeekable: Bool { self != .muxed }
    var isOfMovie: Bool { rawValue.contains("MOVIE") }
  }

  @Test(
    "an element survives calls from many threads at once", .tags(.long),
    arguments: Graph.allCases.sampled(4))
  func storm(graph: Graph) async throws {
    let folder = try TemporaryFolder()
    let movie = folder.path("movie.mov")
    try BuiltPlugin.require()
    if graph.isOfMovie { try await OwnMovie.make(movie, audio: true) }
    let pipeline = try pipeline(
      graph.rawValue.replacing("MOVIE", with: movie).replacing("\n", with: " "))
    for name in ["a", "b", "c"] { pipeline.element(named: name)?.set("sync", "false") }
    let elements = Self.ownElements(of: pipeline)
    #expect(!elements.isEmpty)
    pipeline.element(named: "d")?.onPadAdded { [weak pipeline] pad in
      guard let sink = pipeline?.element(named: pad.name)?.staticPad("sink") else { return }
      try? pad.link(to: sink)
    }
    let failures = Locked<[String]>([])
    let reader = Task {
      for await message in pipeline.bus.messages {
        guard case .error(let failure) = message.content else { continue }
        failures.withLock { $0.append("\(failure)") }
      }
    }
    defer { reader.cancel() }
    #expect(pipeline.setState(.playing))
    if !graph.isOfMovie { #expect(pipeline.waitForState()) }

    let storm = Storm()
    storm.blow { random in
      storm.pause(milliseconds: random.next(upTo: 60))
      if graph.isOfMovie, random.next(upTo: 5) == 0 { pipeline.setState(.ready) }
      pipeline.setState(random.next(upTo: 3) == 0 ? .paused : .playing)
    }
    // GstBaseSrc loses its segment if a seek comes while it starts, and after one that the source
    // refuses (GStreamer 1.22), so elements fed by such a source get no seeks, and stay above
    // READY; for seeks there, see LifeCycleTests.
    if graph.isOfMovie {
      storm.blow { random in
        storm.pause(milliseconds: random.next(upTo: 40))
        Self.seek(pipeline, &random)
      }
    }
    storm.blow { random in
      let element = elements[random.next(upTo: elements.count)]
      Self.useProperties(of: element)
      storm.pause(milliseconds: 1)
    }
    for _ in 0..<2 {
      storm.blow { random in
        let element = elements[random.next(upTo: elements.count)]
        Self.ask(element, position: graph != .decoded, &random)
        storm.pause(milliseconds: 1)
      }
    }
    try await Task.sleep(for: .seconds(3))
    storm.end()
    try await storm.waitForEnd()
    #expect(failures.current.isEmpty)

    // It still plays: what a seek to the start shows comes to the sink.
    if graph.isSeekable {
      pipeline.setState(.paused)
      // After a segment that a seek of the storm has ended with SEGMENT_DONE, a sink waits for data
      // until the next seek.
      _ = pipeline.waitForState(timeout: 2 * .second)
      #expect(pipeline.seek(to: 0))
      #expect(pipeline.waitForState())
      #expect(pipeline.element(named: "a")?.lastBuffer != nil)
    }
    pipeline.setState(.null)
  }

  @Test("an element's counters can be read while it counts")
  func statistics() async throws {
    let pipeline = try pipeline(
      Graph.encoded.rawValue.replacing("\n", with: " ")
        .replacing("stereotestsrc", with: "stereotestsrc num-buffers=30"))
    let elements = Self.ownElements(of: pipeline)
    let storm = Storm()
    storm.blow { _ in
      for element in elements { Self.useProperties(of: element) }
    }
    try await play(pipeline)
    storm.end()
    try await storm.waitForEnd()
  }

  // MARK: What threads do

  /// The plugin's own elements in a pipeline.
  private static func ownElements(of pipeline: Pipeline) -> [Element] {
    var elements: [Element] = []
    let iterator = gst_bin_iterate_recurse(UnsafeMutablePointer(OpaquePointer(pipeline.pointer)))
    defer { gst_iterator_free(iterator) }
    var item = GValue()
    while gst_iterator_next(iterator, &item) == GST_ITERATOR_OK {
      if let object = g_value_get_object(&item) {
        let element = object.assumingMemoryBound(to: GstElement.self)
        let factory = gst_element_get_factory(element).flatMap {
          gst_object_get_name(UnsafeMutablePointer($0))
        }
        if let factory {
          if PluginTests.elements.contains(String(cString: factory)) {
            elements.append(Element(retaining: element))
          }
          g_free(factory)
        }
      }
      g_value_unset(&item)
    }
    return elements
  }

  /// Flushes: other seeks wait for the data that flows, which does not in PAUSED.
  private static func seek(_ pipeline: Pipeline, _ random: inout SplitMix) {
    let flags = [
      GST_SEEK_FLAG_FLUSH.rawValue,
      GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue,
      GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_KEY_UNIT.rawValue
        | GST_SEEK_FLAG_SNAP_NEAREST.rawValue,
      GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_TRICKMODE_KEY_UNITS.rawValue,
      GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_SEGMENT.rawValue,
    ]
    let start = gint64(random.next(upTo: 1000)) * 1_000_000
    let rate = [1.0, 1.0, 2.0, -1.0][random.next(upTo: 4)]
    gst_element_seek(
      pipeline.pointer, rate, GST_FORMAT_TIME, GstSeekFlags(flags[random.next(upTo: flags.count)]),
      GST_SEEK_TYPE_SET, rate < 0 ? 0 : start, GST_SEEK_TYPE_SET, rate < 0 ? start + 1_000_000 : -1)
  }

  /// Reads each property and sets those that may be set while data flows to what they are.
  private static func useProperties(of element: Element) {
    let object = UnsafeMutablePointer<GObject>(OpaquePointer(element.pointer))
    let klass = UnsafeMutableRawPointer(object.pointee.g_type_instance.g_class)
      .assumingMemoryBound(to: GObjectClass.self)
    var count: UInt32 = 0
    guard let specs = g_object_class_list_properties(klass, &count) else { return }
    defer { g_free(specs) }
    for index in 0..<Int(count) {
      guard let spec = specs[index] else { continue }
      let flags = cgst_param_spec_flags(spec)
      guard flags & cgst_param_readable != 0,
        !["name", "parent"].contains(String(cString: spec.pointee.name))
      else { continue }
      var value = GValue()
      g_value_init(&value, spec.pointee.value_type)
      g_object_get_property(object, spec.pointee.name, &value)
      if flags & cgst_param_writable != 0,
        flags & cgst_param_mutable_playing != 0
      {
        g_object_set_property(object, spec.pointee.name, &value)
      }
      g_value_unset(&value)
    }
  }

  /// Queries at the element and at its pads, and an event from downstream.
  ///
  /// - Parameter position: whether to ask for positions, which GstVideoDecoder answers with a
  ///   critical message where it has no segment yet (GStreamer 1.22).
  private static func ask(_ element: Element, position: Bool, _ random: inout SplitMix) {
    if position { _ = element.position }
    _ = element.duration
    for pad in element.pads {
      var queries: [UnsafeMutablePointer<GstQuery>?] = [
        gst_query_new_latency(), gst_query_new_duration(GST_FORMAT_TIME),
        gst_query_new_seeking(GST_FORMAT_TIME), gst_query_new_segment(GST_FORMAT_TIME),
        gst_query_new_convert(GST_FORMAT_TIME, 1_000_000, GST_FORMAT_BYTES),
      ]
      if position { queries.append(gst_query_new_position(GST_FORMAT_TIME)) }
      if pad.direction == .source { queries.append(gst_query_new_scheduling()) }
      for query in queries {
        gst_pad_query(pad.pointer, query)
        gst_query_unref(query)
      }
      _ = pad.possibleCaps
      if let caps = pad.currentCaps { gst_pad_query_accept_caps(pad.pointer, caps.pointer) }
      guard pad.direction == .source else { continue }
      switch random.next(upTo: 4) {
      case 0: gst_pad_send_event(pad.pointer, gst_event_new_reconfigure())
      case 1:
        gst_pad_send_event(pad.pointer, gst_video_event_new_upstream_force_key_unit(.max, 1, 0))
      case 2:
        gst_pad_send_event(
          pad.pointer, gst_event_new_qos(GST_QOS_TYPE_OVERFLOW, 1, 0, gst_util_get_timestamp()))
      default: gst_pad_send_event(pad.pointer, gst_event_new_latency(1_000_000))
      }
    }
  }
}

/// Threads that do something again and again.
private final class Storm: Sendable {
  private let isOver = Atomic(false)
  private let running = Locked(0)

  /// - Parameter act: gets random numbers that are the same in every run.
  func blow(_ act: @escaping @Sendable (inout SplitMix) -> Void) {
    let seed = running.withLock {
      $0 += 1
      return UInt64($0)
    }
    Thread.detachNewThread { [self] in
      var random = SplitMix(state: seed)
      while !isOver.load(ordering: .relaxed) { act(&random) }
      running.withLock { $0 -= 1 }
    }
  }

  func pause(milliseconds: Int) { usleep(UInt32(clamping: milliseconds) * 1000) }

  /// Has the threads end.
  func end() { isOver.store(true, ordering: .relaxed) }

  /// Returns when the threads have ended.
  func waitForEnd() async throws {
    try await eventually("the end of the storm's threads") { running.current == 0 }
  }
}

extension SplitMix {
  /// A number below `limit`.
  fileprivate mutating func next(upTo limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
}
