// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
public import GStreamer

/// Seeing and altering what passes a pad; a ``Gate`` holds it.
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

/// A stop at a pad: some buffers pass, and the next is held, with the thread that brings it, until
/// the test opens the gate or the pad is flushed or switched off.
public final class Gate: Sendable {
  private let pad: Pad
  private let probe: UInt
  private let arrivals: Awaited<Int>
  private let count: Int

  /// - Parameters:
  ///   - pad: what is stopped; nil throws, so that a test can say which pad it looks for in one
  ///   place.
  ///   - count: the number of buffers that pass.
  /// - Throws: a ``WaitFailure`` if there is no pad.
  public init(_ pad: Pad?, after count: Int) throws {
    guard let pad else { throw WaitFailure(description: "There is no such pad.") }
    let arrivals = Awaited(0)
    (self.pad, self.count, self.arrivals) = (pad, count, arrivals)
    let what = GST_PAD_PROBE_TYPE_BLOCK.rawValue | GST_PAD_PROBE_TYPE_BUFFER.rawValue
    probe = pad.addProbe(GstPadProbeType(what)) { _, _ in
      let number = arrivals.change {
        $0 += 1
        return $0
      }
      // A blocking probe that says OK holds the buffer until the probe is removed.
      return number > count ? GST_PAD_PROBE_OK : GST_PAD_PROBE_PASS
    }
  }

  /// Returns when a buffer is held.
  public func waitUntilHeld() async throws {
    try await arrivals.wait(for: "buffer \(count + 1)") { [count] in $0 > count }
  }

  /// Lets everything pass from now on.
  public func open() { gst_pad_remove_probe(pad.pointer, gulong(probe)) }
}
