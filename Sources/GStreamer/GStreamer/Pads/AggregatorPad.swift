// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// A sink pad of an aggregator, in front of which buffers wait: one, or batches of them where the element asked
/// for that (`setQueuedDuration`).
public final class AggregatorPad: Pad, @unchecked Sendable {
  var aggregatorPad: UnsafeMutablePointer<GstAggregatorPad> { cast(pointer) }

  /// The segment that the next buffer lies in. It is the one of when the pad was listed: a flush in
  /// another thread takes it away while `aggregate` still has a buffer of it in hands.
  public let segment: Segment

  /// Asked for once a handle: elements look at it for each sample.
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

  /// What is being taken, if samples wait in batches.
  private var batch: SampleBatch?

  /// The next buffer, left where it is.
  public func peek() -> Buffer? {
    if let sample = batch?.peek() { return sample }
    guard let first = gst_aggregator_pad_peek_buffer(aggregatorPad) else { return nil }
    guard let batch = SampleBatch.of(first) else { return Buffer(adopting: first) }
    gst_buffer_unref(first)
    self.batch = batch
    return batch.peek()
  }

  /// Takes the next buffer.
  public func pop() -> Buffer? {
    _ = peek()
    guard let batch else {
      return gst_aggregator_pad_pop_buffer(aggregatorPad).map { Buffer(adopting: $0) }
    }
    defer { if !batch.hasSamples { self.batch = nil } }
    return batch.pop(from: aggregatorPad)
  }

  /// Whether a buffer waits.
  public var hasBuffer: Bool {
    batch?.hasSamples ?? false || gst_aggregator_pad_has_buffer(aggregatorPad) != 0
  }

  /// Takes what waits if it only stands for a GAP event: a time without data. Returns whether it
  /// did.
  public func dropGap() -> Bool {
    guard let buffer = peek(), buffer.isGap else { return false }
    _ = pop()
    return true
  }

  /// Whether all buffers have been taken and no more will come.
  public var isAtEnd: Bool { gst_aggregator_pad_is_eos(aggregatorPad) != 0 }

  /// Ends the stream of a pad that nobody feeds.
  public func end() {
    if streamStart == nil {
      gst_pad_send_event(pointer, gst_event_new_stream_start("none"))
    }
    gst_pad_send_event(pointer, gst_event_new_eos())
  }
}

extension BufferAccess where Self: ~Copyable {
  /// Whether an aggregator put the buffer in the place of a GAP event.
  public var isGap: Bool { flags.contains(.gap) && size == 0 }
}
