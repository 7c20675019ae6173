// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import TestKit
import Testing

/// The media of other makers, and what is known of it.
enum ForeignMovies {
  // The names are those of the JSON file.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  struct Facts: Decodable {
    let width: Int
    let height: Int
    let access_units: Int
    let base_layer_eye: String
    let frame_md5_i420_presentation_order: [String: [String]]
  }

  static let folder = Repository.url.deletingLastPathComponent()
    .appending(path: "shared/media")

  static let facts: [String: Facts] =
    (try? JSONDecoder().decode(
      [String: Facts].self, from: Data(contentsOf: folder.appending(path: "golden.json")))) ?? [:]

  /// The movies; there are elementary streams too.
  static let names = facts.keys.filter { !$0.hasSuffix(".hevc") }.sorted()

  static func path(_ name: String) -> String { folder.appending(path: name).path }

  static let areThere: ConditionTrait = .enabled(
    if: !facts.isEmpty, "no ../shared/media beside the repository")
}

/// What a demuxer's pad carried, in a form that can be compared.
struct PadRecord: Equatable {
  /// All of it, in order.
  let lines: [String]
  let events: [String]
  let buffers: [String]

  init(_ tap: Tap) {
    var (lines, events, buffers): ([String], [String], [String]) = ([], [], [])
    for item in tap.items {
      switch item {
      case .buffer(let passed):
        buffers.append(Self.line(passed.buffer))
        lines.append(buffers[buffers.endIndex - 1])
      case .event(let event):
        guard let line = Self.line(event) else { continue }
        events.append(line)
        lines.append(line)
      }
    }
    (self.lines, self.events, self.buffers) = (lines, events, buffers)
  }

  private static func line(_ buffer: Buffer) -> String {
    // Whether a thread in between marks a buffer is not the demuxer's doing.
    let flags = buffer.flags.intersection([
      .discont, .deltaUnit, .droppable, .decodeOnly, .header, .gap,
    ])
    func time(_ time: ClockTime?) -> String { time.map { "\($0.nanoseconds)" } ?? "none" }
    return "\(time(buffer.pts)) \(time(buffer.dts)) \(time(buffer.duration)) \(flags.rawValue) "
      + "\(buffer.size) \(md5(buffer.bytes))"
  }

  private static func line(_ event: Event) -> String? {
    switch event.type {
    case GST_EVENT_STREAM_START, GST_EVENT_EOS, GST_EVENT_STREAM_COLLECTION: return event.name
    case GST_EVENT_CAPS: return "caps \(event.caps?.description ?? "")"
    case GST_EVENT_TAG: return "tags \(event.tags?.description ?? "")"
    case GST_EVENT_SEGMENT:
      guard let segment = event.segment else { return nil }
      return
        "segment \(segment.start) \(segment.stop ?? .max) \(segment.time ?? .max) \(segment.base) "
        + "\(segment.rate)"
    case GST_EVENT_GAP: return "gap \(event.structure?.allFields.count ?? 0)"
    default: return nil
    }
  }
}

/// A demuxer with a sink at each of its pads.
enum DemuxRun {
  static func sinks(_ pads: [String]) -> String {
    pads.map { "d.\($0) ! queue max-size-time=0 max-size-bytes=0 ! fakesink name=\($0) " }.joined()
  }

  private static func taps(_ pipeline: Pipeline, _ pads: [String]) throws -> [String: Tap] {
    var taps: [String: Tap] = [:]
    for pad in pads { taps[pad] = try Tap(pipeline.element(named: pad)?.staticPad("sink")) }
    return taps
  }

  /// What the pads carry when a file is read from start to end.
  ///
  /// - Parameter between: what stands between the source and the demuxer; a queue makes push mode.
  static func file(
    _ path: String, _ pads: [String], between: String = ""
  ) async throws -> [String: PadRecord] {
    let pipeline = try pipeline(
      "filesrc location=\(path) ! \(between) mvhevcdemux name=d " + sinks(pads))
    let taps = try taps(pipeline, pads)
    try await play(pipeline)
    return taps.mapValues { PadRecord($0) }
  }

  /// What the pads carry when bytes are pushed in chunks, by an upstream that cannot seek.
  static func pushed(
    _ bytes: [UInt8], _ pads: [String], chunkSize: @escaping () -> Int
  ) async throws -> [String: PadRecord] {
    try await pushedTaps(bytes, pads, chunkSize: chunkSize)
      .mapValues { PadRecord($0) }
  }

  /// - Parameter flush: at which byte everything under way is dropped.
  static func pushedTaps(
    _ bytes: [UInt8], _ pads: [String], flush: Int = .max,
    chunkSize: @escaping () -> Int
  ) async throws -> [String: Tap] {
    let pipeline = try pipeline("mvhevcdemux name=d " + sinks(pads))
    let taps = try taps(pipeline, pads)
    let source = try TestSource(feeding: pipeline.element(named: "d"), "sink", isLive: false)
    pipeline.setState(.playing)
    nonisolated(unsafe) let size = chunkSize
    source.run { source in
      source.begin(nil, Segment(.bytes))
      var offset = 0
      while offset < bytes.count {
        let end = min(bytes.count, offset + max(1, size()))
        if (offset..<end).contains(flush) {
          // A sink that is flushed on its way to PLAYING may stay in PAUSED.
          _ = pipeline.waitForState()
          source.push(.flushStart)
          source.push(.flushStop())
          source.push(.segment(Segment(startInBytes: UInt64(offset))))
        }
        if source.push(Buffer(Array(bytes[offset..<end]))) != .ok { break }
        offset = end
      }
      source.end()
    }
    do {
      defer { pipeline.setState(.null) }
      try await messages(of: pipeline)
    }
    try await source.waitForRuns()
    return taps
  }

  /// Gives every pad that a demuxer gets a sink of its own.
  static func linkAllPads(of demuxer: Element?, in pipeline: Pipeline) {
    guard let demuxer else { return }
    let added:
      @convention(c) (
        UnsafeMutablePointer<GstElement>, UnsafeMutablePointer<GstPad>, UnsafeMutableRawPointer
      ) -> Void = { _, pad, pipeline in
        let name = Pad(retaining: pad).name
        guard let queue = try? Element("queue", name: "queue-\(name)"),
          let sink = try? Element("fakesink", name: "sink-\(name)"),
          let target = queue.staticPad("sink")
        else { return }
        let bin = pipeline.assumingMemoryBound(to: GstBin.self)
        for element in [queue, sink] { gst_bin_add(bin, element.pointer) }
        gst_element_link(queue.pointer, sink.pointer)
        gst_pad_link(pad, target.pointer)
        for element in [queue, sink] { gst_element_sync_state_with_parent(element.pointer) }
      }
    g_signal_connect_data(
      demuxer.pointer, "pad-added", unsafeBitCast(added, to: GCallback.self), pipeline.pointer,
      nil, cgst_no_connect_flags())
  }

  /// Takes away the sinks that ``linkAllPads(of:in:)`` gave.
  static func removeSinks(_ pads: [String], from pipeline: Pipeline) {
    for name in pads.flatMap({ ["queue-\($0)", "sink-\($0)"] }) {
      guard let element = pipeline.element(named: name) else { continue }
      element.setState(.null)
      gst_bin_remove(
        UnsafeMutableRawPointer(pipeline.pointer).assumingMemoryBound(to: GstBin.self),
        element.pointer)
    }
  }

  /// The MD5 of each frame that an ordinary decoder makes of a pad, with its running time
  /// and PTS.
  static func decoded(
    _ path: String, _ pad: String, between: String = "",
    decoder: String = "avdec_h265 max-threads=2"
  ) async throws -> [(md5: String, time: ClockTime?, pts: ClockTime?)] {
    let frames = try await record(
      "filesrc location=\(path) ! \(between) mvhevcdemux name=d "
        + "d.\(pad) ! queue ! \(decoder) ! fakesink name=sink")
    return try frames[0].map { (md5(try $0.pixels()), $0.runningTime, $0.buffer.pts) }
  }
}

/// Movies of this project's own making.
enum OwnMovie {
  /// A movie by `mvhevcmux` in which each eye is coded by itself, with a tone where `audio` says
  /// so.
  static func make(
    _ path: String, frames: Int = 40, caps: String = "format=I420,width=320,height=96",
    mux: String = "", audio: Bool = false
  ) async throws {
    let audio =
      audio
      ? "audiotestsrc num-buffers=\(frames * 1600 / 1024) samplesperbuffer=1024 ! "
        + "audio/x-raw,format=S16LE,rate=48000,channels=2 ! queue ! mux. " : ""
    try BuiltPlugin.require()
    try await TestMovie.make(
      path,
      eyes(frames, caps + ",framerate=30/1") + audio
        + "mvhevcmux name=mux speed-preset=superfast key-int-max=10 inter-view-prediction=none "
        + mux
    )
  }

  /// The MD5s of both eyes by FFmpeg's own MV-HEVC decoder; the base eye is view 0.
  static func judged(_ path: String, base: Eye = .left) throws -> [Eye: [String]] {
    let script = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    var eyes: [Eye: [String]] = [:]
    for line in try Python.lines([script, path]) {
      let words = line.words
      // FFmpeg's own messages come along.
      guard words.count == 3, ["0", "1"].contains(words[0]) else { continue }
      eyes[words[0] == "0" ? base : base.other, default: []].append(words[1])
    }
    return eyes
  }
}
