// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// A sink pad of an aggregator with its queue of buffers: a single one, or batches if the element
/// has called `setQueuedDuration`.
public final class AggregatorPad: Pad, @unchecked Sendable {
  var aggregatorPad: UnsafeMutablePointer<GstAggregatorPad> { cast(pointer) }

  /// The segment of the next buffer, saved when the pad was listed: a flush in another thread
  /// resets it while `aggregate` may still process the buffer.
  public let segment: Segment

  /// Cached, since elements need the name for each sample.
  private let knownName: String
  public override var name: String { knownName }

  package override init(adopting pointer: UnsafeMutablePointer<GstPad>) {
    let pad: UnsafeMutablePointer<GstAggregatorPad> = cast(pointer)
    let object: UnsafeMutablePointer<GstObject> = cast(pointer)
    g_mutex_lock(&object.pointee.lock)
    segment = Segment(pad.pointee.segment)
    knownName = object.pointee.name.map { String(cString: $0) } ?? ""
    g_mutex_unlock(&object.pointee.lock)
    super.init(adopting: pointer)
  }

  /// The batch being taken, if samples are queued in batches.
  private var batch: SampleBatch?

  /// Returns the next buffer without removing it.
  public func peek() -> Buffer? {
    if let sample = batch?.peek() { return sample }
    guard let first = gst_aggregator_pad_peek_buffer(aggregatorPad) else { return nil }
    guard let batch = SampleBatch.of(first) else { return Buffer(adopting: first) }
    gst_buffer_unref(first)
    self.batch = batch
    return batch.peek()
  }

  /// Removes and returns the next buffer.
  public func pop() -> Buffer? {
    _ = peek()
    guard let batch else {
      return logged(gst_aggregator_pad_pop_buffer(aggregatorPad).map { Buffer(adopting: $0) })
    }
    defer { if !batch.hasSamples { self.batch = nil } }
    return logged(batch.pop(from: aggregatorPad))
  }

  /// Logs a buffer that the element takes.
  private func logged(_ buffer: Buffer?) -> Buffer? {
    if let buffer, let element = ElementBox.of(pointer.pointee.object.parent) {
      element.logBuffer(buffer, at: self)
    }
    return buffer
  }

  /// Whether a buffer is queued.
  public var hasBuffer: Bool {
    batch?.hasSamples ?? false || gst_aggregator_pad_has_buffer(aggregatorPad) != 0
  }

  /// Removes the next buffer if it represents a GAP event, a period without data; returns whether
  /// it did.
  public func dropGap() -> Bool {
    guard let buffer = peek(), buffer.isGap else { return false }
    _ = pop()
    return true
  }

  /// Whether all buffers have been taken and no more follow.
  public var isAtEnd: Bool { gst_aggregator_pad_is_eos(aggregatorPad) != 0 }

  /// Ends the stream of a pad without upstream.
  public func end() {
    if streamStart == nil {
      gst_pad_send_event(pointer, gst_event_new_stream_start("none"))
    }
    gst_pad_send_event(pointer, gst_event_new_eos())
  }
}

extension BufferAccess where Self: ~Copyable {
  /// Whether an aggregator created the buffer for a GAP event.
  public var isGap: Bool { flags.contains(.gap) && size == 0 }
}
