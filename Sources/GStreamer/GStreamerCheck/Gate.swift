// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
public import GStreamer

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
