// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
public import GStreamer

/// Seeing and altering what passes a pad.
extension Pad {
  /// A test's decision on a buffer that it has seen.
  public enum Fate: Sendable {
    /// The buffer continues downstream.
    case passes
    /// The buffer is dropped.
    case isDropped
  }

  /// Has `body` see each buffer that comes to this pad, before it passes, in the thread that brings
  /// it.
  public func onEachBuffer(_ body: @escaping @Sendable (Pad, Buffer) -> Fate) {
    addProbe(GST_PAD_PROBE_TYPE_BUFFER) { pad, info in
      guard let buffer = info.data else { return GST_PAD_PROBE_OK }
      let fate = body(pad, Buffer(retaining: buffer.assumingMemoryBound(to: GstBuffer.self)))
      return fate == .passes ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP
    }
  }

  /// Puts GAP events in the place of buffers.
  ///
  /// - Parameter isGap: called with a buffer's timestamp.
  public func putGaps(where isGap: @escaping @Sendable (ClockTime) -> Bool) {
    onEachBuffer { pad, buffer in
      guard let start = buffer.pts, isGap(start) else { return .passes }
      pad.push(.gap(at: start, duration: buffer.duration))
      return .isDropped
    }
  }

  /// Has `body` see each event that comes to this pad, in both directions, in the thread that
  /// brings it.
  public func onEachEvent(_ body: @escaping @Sendable (Pad, Event) -> Void) {
    let what = GST_PAD_PROBE_TYPE_EVENT_BOTH.rawValue | GST_PAD_PROBE_TYPE_EVENT_FLUSH.rawValue
    addProbe(GstPadProbeType(what)) { pad, info in
      if let event = info.data {
        body(pad, Event(retaining: event.assumingMemoryBound(to: GstEvent.self)))
      }
      return GST_PAD_PROBE_OK
    }
  }

  /// Has `work` done when nothing passes the pad: at once, or after what passes now.
  ///
  /// - Returns: whether it has been done.
  public func whenIdle(_ work: @escaping @Sendable () -> Void) -> Awaited<Bool> {
    let isDone = Awaited(false)
    addProbe(GST_PAD_PROBE_TYPE_IDLE) { _, _ in
      work()
      isDone.change { $0 = true }
      return GST_PAD_PROBE_REMOVE
    }
    return isDone
  }

  /// Calls `body` with what passes, until it returns `GST_PAD_PROBE_REMOVE`.
  ///
  /// - Returns: the probe's number.
  @discardableResult
  func addProbe(
    _ what: GstPadProbeType,
    _ body: @escaping @Sendable (Pad, GstPadProbeInfo) -> GstPadProbeReturn
  ) -> UInt {
    let call: GstPadProbeCallback = { pad, info, data in
      guard let pad, let info, let data else { return GST_PAD_PROBE_OK }
      return Unmanaged<Probe>.fromOpaque(data).takeUnretainedValue()
        .body(Pad(retaining: pad), info.pointee)
    }
    let probe = Unmanaged.passRetained(Probe(body)).toOpaque()
    let number = gst_pad_add_probe(pointer, what, call, probe) { data in
      if let data { Unmanaged<Probe>.fromOpaque(data).release() }
    }
    return UInt(number)
  }
}

/// The data of a probe: the closure that it calls.
private final class Probe: Sendable {
  let body: @Sendable (Pad, GstPadProbeInfo) -> GstPadProbeReturn

  init(_ body: @escaping @Sendable (Pad, GstPadProbeInfo) -> GstPadProbeReturn) {
    self.body = body
  }
}
