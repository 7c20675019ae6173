// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
public import GStreamer

/// A buffer that passed a pad.
public struct PassedBuffer: Sendable {
  /// The buffer.
  public let buffer: Buffer
  /// The caps that it had.
  public let caps: Caps
  /// When it plays; nil for what lies outside its segment.
  public let runningTime: ClockTime?

  /// Creates a record of a buffer.
  public init(buffer: Buffer, caps: Caps, runningTime: ClockTime? = nil) {
    (self.buffer, self.caps, self.runningTime) = (buffer, caps, runningTime)
  }

  /// The visible bytes of a raw frame, plane by plane, row by row.
  ///
  /// - Throws: if the caps are not of raw video, or the buffer is not what they say.
  public func pixels() throws -> [UInt8] {
    guard let info = VideoInfo(caps) else {
      throw WaitFailure(description: "no raw video: \(caps)")
    }
    let frame = try VideoFrame(buffer, info)
    var bytes: [UInt8] = []
    for plane in 0..<frame.planeCount {
      guard let base = frame.plane(plane) else {
        throw WaitFailure(description: "no plane \(plane)")
      }
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
}

/// A record of a pad's traffic: buffers, and events in both directions. A test waits for them.
public final class Tap: Sendable {
  /// One passage through the pad.
  public enum Item: Sendable {
    /// A buffer.
    case buffer(PassedBuffer)
    /// An event, in either direction.
    case event(Event)
  }

  private struct Record {
    var items: [Item] = []
    var bufferCount = 0
    var hasEnded = false
  }

  private let record = Awaited(Record())

  /// - Parameters:
  ///   - pad: what is watched; nil throws, so that a test can say which pad it looks for in one
  ///   place.
  ///   - takesReferences: whether the pad says that it takes GstVideoMeta.
  /// - Throws: a ``WaitFailure`` if there is no pad.
  public init(_ pad: Pad?, takesReferences: Bool = false) throws {
    guard let pad else { throw WaitFailure(description: "There is no such pad.") }
    var what =
      GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_EVENT_BOTH.rawValue
      | GST_PAD_PROBE_TYPE_EVENT_FLUSH.rawValue
    if takesReferences {
      what |= GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM.rawValue | GST_PAD_PROBE_TYPE_PUSH.rawValue
    }
    pad.addProbe(GstPadProbeType(what)) { [self] pad, info in see(pad, info) }
  }

  // MARK: What has come

  /// Everything, in the order in which it came.
  public var items: [Item] { record.current.items }

  /// The buffers, in the order in which they came.
  public var buffers: [PassedBuffer] {
    record.read { record in
      record.items.compactMap { if case .buffer(let buffer) = $0 { buffer } else { nil } }
    }
  }

  /// The events, in the order in which they came.
  public var events: [Event] {
    record.read { record in
      record.items.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }
  }

  /// Whether EOS has passed.
  public var hasEnded: Bool { record.current.hasEnded }

  /// Forgets everything that came so far.
  public func forget() { record.change { $0 = Record() } }

  // MARK: Waiting

  /// Returns when this number of buffers has passed since the beginning, or since ``forget()``.
  ///
  /// - Throws: a ``WaitFailure`` if the stream ends before, or nothing comes any more.
  public func waitForBuffers(_ count: Int) async throws {
    try await record.wait(for: "buffer \(count)") { $0.bufferCount >= count || $0.hasEnded }
    let come = record.current.bufferCount
    guard come >= count else {
      throw WaitFailure(description: "the stream ended after \(come) buffers, not \(count)")
    }
  }

  /// Returns when this number of buffers has passed beyond those that have passed now.
  public func waitForMore(_ count: Int) async throws {
    try await waitForBuffers(record.current.bufferCount + count)
  }

  /// Returns when the stream has ended.
  public func waitForEnd() async throws {
    try await record.wait(for: "the end of the stream") { $0.hasEnded }
  }

  /// Returns when an event has passed for which `isIt` holds.
  public func waitForEvent(_ what: String, _ isIt: @escaping @Sendable (Event) -> Bool) async throws
  {
    try await record.wait(for: what) { record in
      record.items.contains { if case .event(let event) = $0 { isIt(event) } else { false } }
    }
  }

  private func see(_ pad: Pad, _ info: GstPadProbeInfo) -> GstPadProbeReturn {
    guard let data = info.data else { return GST_PAD_PROBE_OK }
    let type = info.type.rawValue
    if type & GST_PAD_PROBE_TYPE_BUFFER.rawValue != 0 {
      let buffer = Buffer(retaining: data.assumingMemoryBound(to: GstBuffer.self))
      let time = buffer.pts.flatMap { pad.currentSegment?.runningTime($0) }
      let passed = PassedBuffer(
        buffer: buffer, caps: pad.currentCaps ?? .empty, runningTime: time)
      record.change {
        $0.items.append(.buffer(passed))
        $0.bufferCount += 1
      }
    } else if type & GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM.rawValue != 0 {
      let query = data.assumingMemoryBound(to: GstQuery.self)
      guard query.pointee.type == GST_QUERY_ALLOCATION else { return GST_PAD_PROBE_OK }
      gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
      return GST_PAD_PROBE_HANDLED
    } else {
      let event = Event(retaining: data.assumingMemoryBound(to: GstEvent.self))
      record.change {
        $0.items.append(.event(event))
        if event.type == GST_EVENT_EOS { $0.hasEnded = true }
      }
    }
    return GST_PAD_PROBE_OK
  }
}
