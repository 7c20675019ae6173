// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import ISOBMFF
import SpatialElements
import TestElements
import TestKit
import Testing

/// A pipeline of gst-launch's kind, with the project's plugin.
func pipeline(_ description: String) throws -> Pipeline {
  try BuiltPlugin.require()
  return try Pipeline(parsing: description)
}

/// Plays to the end and gives all messages. Throws the first error that is posted, and where the
/// end does not come in time.
@discardableResult
func play(_ pipeline: Pipeline, seconds: Double = 60) async throws -> [Message] {
  defer { pipeline.setState(.null) }
  pipeline.setState(.playing)
  return try await messages(of: pipeline, seconds: seconds)
}

@discardableResult
func play(_ description: String, seconds: Double = 60) async throws -> [Message] {
  try await play(try pipeline(description), seconds: seconds)
}

/// The messages of a pipeline that plays, up to its end.
@discardableResult
func messages(of pipeline: Pipeline, seconds: Double = 60) async throws -> [Message] {
  try await withThrowingTaskGroup(of: [Message].self) { group in
    group.addTask {
      var seen: [Message] = []
      for await message in pipeline.bus.messages {
        seen.append(message)
        switch message.content {
        case .error(let failure): throw failure
        case .endOfStream: return seen
        default: break
        }
      }
      throw CancellationError()
    }
    group.addTask {
      try await Task.sleep(for: .seconds(seconds))
      throw Failure("The pipeline did not end within \(seconds) seconds.")
    }
    defer { group.cancelAll() }
    return try await group.next() ?? []
  }
}

/// The error that a pipeline ends with. Throws where it ends well, or not in time.
func failure(of pipeline: Pipeline, seconds: Double = 60) async throws -> PipelineFailure {
  do {
    try await play(pipeline, seconds: seconds)
  } catch let failure as PipelineFailure {
    return failure
  }
  throw Failure("The pipeline ended without an error.")
}

func failure(of description: String, seconds: Double = 60) async throws -> PipelineFailure {
  try await failure(of: try pipeline(description), seconds: seconds)
}

/// Has a pipeline play, and sees what the element of this name gives.
func start(_ pipeline: Pipeline, watching element: String) throws -> Tap {
  let tap = try Tap(pipeline.element(named: element)?.staticPad("src"))
  pipeline.setState(.playing)
  return tap
}

/// Ends a live pipeline's streams, and gives the messages up to its end.
@discardableResult
func finish(_ pipeline: Pipeline) async throws -> [Message] {
  pipeline.send(.endOfStream)
  return try await play(pipeline)
}

extension [Message] {
  var warnings: [String] {
    compactMap { if case .warning(let failure) = $0.content { failure.message } else { nil } }
  }

  /// The element messages of a name.
  func named(_ name: String) -> [StructureView] {
    compactMap {
      guard case .element(let structure) = $0.content, structure.name == name else { return nil }
      return structure
    }
  }
}

/// A buffer that passed a pad, and the caps it had.
struct PassedBuffer {
  let buffer: Buffer
  let caps: Caps
  /// When it plays; nil for what lies outside its segment.
  var runningTime: ClockTime?

  /// The visible bytes of a raw frame, plane by plane, row by row.
  func pixels() throws -> [UInt8] {
    guard let info = VideoInfo(caps) else { throw Failure("no raw video: \(caps)") }
    let frame = try VideoFrame(buffer, info)
    var bytes: [UInt8] = []
    for plane in 0..<frame.planeCount {
      guard let base = frame.plane(plane) else { throw Failure("no plane \(plane)") }
      let grid = info.sampleGrid(plane)
      let rows = (info.height + (1 << grid.heightShift) - 1) >> grid.heightShift
      let columns = (info.width + (1 << grid.widthShift) - 1) >> grid.widthShift
      for row in 0..<rows {
        let start = base + row * frame.stride(plane)
        bytes += UnsafeRawBufferPointer(start: start, count: columns * grid.step)
      }
    }
    return bytes
  }

  /// Where the buffer's memories are.
  var memories: [UnsafeMutablePointer<GstMemory>?] {
    (0..<gst_buffer_n_memory(buffer.pointer)).map { gst_buffer_peek_memory(buffer.pointer, $0) }
  }
}

/// Sees what passes a pad: buffers, and events in both directions.
final class Tap: Sendable {
  enum Item {
    case buffer(PassedBuffer)
    case event(Event)
  }

  private let seen = Locked([Item]())

  /// - Parameter takesReferences: makes the pad say that it takes GstVideoMeta.
  init(_ pad: Pad?, takesReferences: Bool = false) throws {
    guard let pad else { throw Failure("There is no such pad.") }
    var what =
      GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_EVENT_BOTH.rawValue
      | GST_PAD_PROBE_TYPE_EVENT_FLUSH.rawValue
    if takesReferences {
      what |= GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM.rawValue | GST_PAD_PROBE_TYPE_PUSH.rawValue
    }
    let probe: GstPadProbeCallback = { pad, info, data in
      guard let pad, let info, let data else { return GST_PAD_PROBE_OK }
      return Unmanaged<Tap>.fromOpaque(data).takeUnretainedValue()
        .see(Pad(retaining: pad), info.pointee)
    }
    gst_pad_add_probe(
      pad.pointer, GstPadProbeType(what), probe, Unmanaged.passRetained(self).toOpaque()
    ) { data in
      if let data { Unmanaged<Tap>.fromOpaque(data).release() }
    }
  }

  /// Forgets everything that came so far.
  func forget() { seen.withLock { $0 = [] } }

  /// Everything, in the order in which it came.
  var items: [Item] { seen.withLock { $0 } }
  var buffers: [PassedBuffer] {
    items.compactMap { if case .buffer(let buffer) = $0 { buffer } else { nil } }
  }
  var events: [Event] {
    items.compactMap { if case .event(let event) = $0 { event } else { nil } }
  }

  private func see(_ pad: Pad, _ info: GstPadProbeInfo) -> GstPadProbeReturn {
    guard let data = info.data else { return GST_PAD_PROBE_OK }
    let type = info.type.rawValue
    if type & GST_PAD_PROBE_TYPE_BUFFER.rawValue != 0 {
      let buffer = Buffer(retaining: data.assumingMemoryBound(to: GstBuffer.self))
      let caps = pad.currentCaps ?? .empty
      let segment = pad.stickyEvent(GST_EVENT_SEGMENT)?.segment
      let time = buffer.pts.flatMap { segment?.runningTime($0) }
      let passed = PassedBuffer(buffer: buffer, caps: caps, runningTime: time)
      seen.withLock { $0.append(.buffer(passed)) }
    } else if type & GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM.rawValue != 0 {
      let query = data.assumingMemoryBound(to: GstQuery.self)
      guard query.pointee.type == GST_QUERY_ALLOCATION else { return GST_PAD_PROBE_OK }
      gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
      return GST_PAD_PROBE_HANDLED
    } else {
      let event = Event(retaining: data.assumingMemoryBound(to: GstEvent.self))
      seen.withLock { $0.append(.event(event)) }
    }
    return GST_PAD_PROBE_OK
  }
}

extension Tap {
  var hasEnded: Bool { events.contains { $0.type == GST_EVENT_EOS } }

  /// Waits for `count` further buffers; fails the test if they do not come.
  func waitForMore(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let wanted = buffers.count + count
    for _ in 0..<1500 where buffers.count < wanted {
      try await Task.sleep(for: .milliseconds(10))
    }
    try #require(
      buffers.count >= wanted, "nothing comes any more", sourceLocation: sourceLocation)
  }

  /// Waits for the end of the stream; false where it does not come.
  func waitForEnd() async throws -> Bool {
    for _ in 0..<1000 where !hasEnded { try await Task.sleep(for: .milliseconds(10)) }
    return hasEnded
  }
}

extension Pad {
  /// Has `body` see each buffer that comes to this pad.
  ///
  /// - Parameter body: says what becomes of the buffer.
  func onEachBuffer(_ body: @escaping @Sendable (Pad, Buffer) -> GstPadProbeReturn) {
    final class Probe: Sendable {
      let body: @Sendable (Pad, Buffer) -> GstPadProbeReturn
      init(_ body: @escaping @Sendable (Pad, Buffer) -> GstPadProbeReturn) { self.body = body }
    }
    let see: GstPadProbeCallback = { pad, info, data in
      guard let pad, let data, let buffer = info?.pointee.data else { return GST_PAD_PROBE_OK }
      return Unmanaged<Probe>.fromOpaque(data).takeUnretainedValue().body(
        Pad(retaining: pad), Buffer(retaining: buffer.assumingMemoryBound(to: GstBuffer.self)))
    }
    gst_pad_add_probe(
      pointer, GST_PAD_PROBE_TYPE_BUFFER, see, Unmanaged.passRetained(Probe(body)).toOpaque()
    ) { data in
      if let data { Unmanaged<Probe>.fromOpaque(data).release() }
    }
  }

  /// Puts GAP events in the place of buffers, by their timestamps.
  func putGaps(where isGap: @escaping @Sendable (ClockTime) -> Bool) {
    onEachBuffer { pad, buffer in
      guard let start = buffer.pts, isGap(start) else { return GST_PAD_PROBE_OK }
      let fields = buffer.pointer.pointee
      pad.push(Event(adopting: gst_event_new_gap(fields.pts, fields.duration)))
      return GST_PAD_PROBE_DROP
    }
  }
}

/// What passes the sinks of these names while a pipeline plays to its end.
func record(
  _ description: String, sinks: [String] = ["sink"], takingReferences: Bool = false
) async throws -> [[PassedBuffer]] {
  let pipeline = try pipeline(description)
  let taps = try sinks.map {
    try Tap(pipeline.element(named: $0)?.staticPad("sink"), takesReferences: takingReferences)
  }
  try await play(pipeline)
  return taps.map(\.buffers)
}

/// The two eyes of a packed test stream, to the pads of an element named `mux`.
func eyes(
  _ count: Int, _ caps: String = "format=I420,width=640,height=180,framerate=30/1",
  split: String = ""
) -> String {
  "stereotestsrc num-buffers=\(count) ! video/x-raw,\(caps) ! sbssplit name=s \(split) "
    + "s.left ! queue ! mux.left s.right ! queue ! mux.right "
}

/// A quick muxer `mux`, and the movie that it writes, in which each eye is coded by itself.
func mux(to path: String, _ properties: String = "") -> String {
  "mvhevcmux name=mux speed-preset=ultrafast inter-view-prediction=none \(properties) "
    + "! filesink location=\(path) "
}

extension MovieFile {
  func tracks(_ handler: FourCC) -> [Track] { movie.tracks.filter { $0.handlerType == handler } }

  func video() throws -> Track { try track("vide") }
  func audio() throws -> Track { try track("soun") }

  /// The types of the boxes in the first visual sample entry, in order.
  func videoEntryBoxes() throws -> [String] {
    let start = try #require(bytes.firstRange(of: Array("hvc1".utf8)), "no hvc1").lowerBound - 4
    func number(_ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
    var types: [String] = []
    var box = start + 86
    while box + 8 <= start + number(start), number(box) >= 8 {
      types.append(String(decoding: bytes[box + 4..<box + 8], as: UTF8.self))
      box += number(box)
    }
    return types
  }
}

extension Track {
  var allSamples: [SampleRecord] { (0..<samples.count).compactMap { samples.sample(at: $0) } }
  var seconds: Double { Double(mediaDuration ?? 0) / Double(timescale) }

  /// When each sample is presented, in nanoseconds of the movie, in that order.
  var presentationNanoseconds: [UInt64] {
    let start = edits.first { $0.mediaTime != nil }?.mediaTime ?? 0
    return allSamples.map { $0.presentationTime - start }.sorted().map {
      scaleRounded(UInt64(clamping: $0), 1_000_000_000, UInt64(description.timescale))
    }
  }
}

extension String {
  /// What stands between spaces, as a shell without quotes would take it.
  var words: [String] { split(separator: " ").map(String.init) }
}

/// Runs a gst-launch line, and expects no leaks and no critical messages. Returns its exit status.
@discardableResult
func runExpectingNoLeaks(
  _ line: String, sourceLocation: SourceLocation = #_sourceLocation
) throws -> Int32 {
  let result = try Program.run(
    ["gst-launch-1.0"] + line.words,
    environment: [
      "GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7", "GST_DEBUG_NO_COLOR": "1",
      "G_DEBUG": "fatal-criticals",
    ])
  let output = result.output
  let left = output.split(separator: "\n").filter {
    // The tracer says its format first.
    $0.contains("object-alive, type-name=(string)") && !$0.contains("%s")
  }
  #expect(left.isEmpty, "\(left.joined(separator: "\n"))", sourceLocation: sourceLocation)
  #expect(!output.contains("CRITICAL"), sourceLocation: sourceLocation)
  #expect(
    output.contains("Freeing pipeline"), "\(output.suffix(400))", sourceLocation: sourceLocation)
  return result.status
}
