// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// An element that combines several streams into one: `GstAggregator`. Its streaming thread is that
/// of the source pad, which takes the buffers and serialized events queued at the sink pads.
public protocol AggregatorImplementation: ElementImplementation {
  /// Called when every sink pad has a buffer or is at EOS, or, in a live pipeline, on timeout.
  /// Takes the available buffers and finishes any output. Throws `.needData` to wait for more
  /// input, `.eos` at the end. Also called when the last sink pad is released during data flow.
  func aggregate(timeout: Bool, _ streaming: inout Streaming) throws

  /// Returns the running time until which a live pipeline waits for pads without data, not
  /// including the latency; then `aggregate` is called with `timeout`. Nil to wait without limit.
  ///
  /// Called in the streaming thread while GstAggregator holds its lock: inspect only the pads, and
  /// take no lock that another thread may hold while it waits for this element.
  func deadline() -> ClockTime?

  /// Handles a serialized event after the buffers before it have been taken. Returns whether it was
  /// handled; `forwardSinkEvent` does the default handling.
  func sinkEvent(
    _ pad: AggregatorPad, _ event: Event, _ streaming: inout Streaming
  ) throws -> Bool

  /// Answers a query at a sink pad, in any thread. Returns whether it was answered.
  func sinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool

  /// Handles an event that arrives at the source pad, in any thread. Returns whether it was
  /// handled.
  func sourceEvent(_ event: Event) -> Bool

  /// Discards queued data for a flushing seek. The streaming thread is idle.
  func flush(_ streaming: inout Streaming) throws

  /// Called in any thread before it waits for the streaming thread, for a flush or for the stop of
  /// the element. Anything but data that `aggregate` waits for must be cancelled, and must not be
  /// waited for again until `unlockStop` or `start`.
  func unlock()

  /// Called at the end of the flush for which `unlock` was called.
  func unlockStop()

  /// Returns the name for a requested pad of a template. Throws if there cannot be another pad.
  func padName(template: String, requested: String?) throws -> String

  /// Returns what the buffers of a new request pad go through before they are queued; nil for
  /// nothing.
  func padFilter(name: String) -> (any BufferFilter)?
}

extension AggregatorImplementation {
  /// Forwards the event to the base class.
  public func sinkEvent(
    _ pad: AggregatorPad, _ event: Event, _ streaming: inout Streaming
  ) throws -> Bool {
    forwardSinkEvent(pad, event, &streaming)
  }

  /// Forwards the query to the base class.
  public func sinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool {
    forwardSinkQuery(pad, query)
  }

  /// Forwards the event to the base class.
  public func sourceEvent(_ event: Event) -> Bool { forwardSourceEvent(event) }
  /// Waits without limit.
  public func deadline() -> ClockTime? { nil }
  /// Does nothing.
  public func flush(_ streaming: inout Streaming) throws {}
  /// Does nothing.
  public func unlock() {}
  /// Does nothing.
  public func unlockStop() {}

  /// Returns the requested name, or that of the template.
  public func padName(template: String, requested: String?) throws -> String {
    requested ?? template
  }

  /// Filters nothing.
  public func padFilter(name: String) -> (any BufferFilter)? { nil }

  /// `GstAggregator`.
  public static var superclass: ElementSuperclass<Self> {
    ElementSuperclass(.aggregator) { try AggregatorBox<Self>($0) }
  }

  // MARK: Default handling

  private var box: AggregatorBox<Self>? {
    ElementBox.of(cast(gstElement)) as? AggregatorBox<Self>
  }

  /// Handles an event with the base class.
  public func forwardSinkEvent(
    _ pad: AggregatorPad, _ event: Event, _ streaming: inout Streaming
  ) -> Bool {
    guard let box else { return false }
    return box.owned.streaming.lend(&streaming) { box.forwardSinkEvent(pad, event) }
  }

  /// Handles an event that arrived at the source pad with the base class.
  public func forwardSourceEvent(_ event: Event) -> Bool {
    box?.forwardSourceEvent(event) ?? false
  }

  /// Answers a query with the base class.
  public func forwardSinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool {
    box?.forwardSinkQuery(pad, query) ?? false
  }

  // MARK: Pads

  private var aggregator: UnsafeMutablePointer<GstAggregator> { cast(gstElement) }

  /// The source pad.
  public var sourcePad: Pad { Pad(retaining: aggregator.pointee.srcpad) }

  /// The current sink pads.
  public var sinkPads: [AggregatorPad] { AnyAggregatorBox.sinkPads(of: gstElement) }

  /// Adds a sink pad that always exists. Call it from `init`.
  public func addAlwaysPad(_ template: String) throws {
    try AnyAggregatorBox.addAlwaysPad(template, to: gstElement)
  }

  // MARK: Output

  /// Sets the caps of the output.
  public func setSourceCaps(_ caps: Caps) {
    gst_aggregator_set_src_caps(aggregator, caps.pointer)
  }

  /// Sends a new segment before the next buffer.
  public func updateSegment(_ segment: Segment) {
    var segment = segment.segment
    gst_aggregator_update_segment(aggregator, &segment)
  }

  /// Pushes a finished buffer and gives up this reference to it.
  public func finish(_ buffer: consuming Buffer) throws(FlowReturn) {
    let handed: UnsafeMutablePointer<GstBuffer> = cast(MiniObject.handOver(buffer))
    try FlowReturn(gst_aggregator_finish_buffer(aggregator, handed)).check()
  }

  /// Sets the amount of media that each sink pad queues before `aggregate`.
  ///
  /// By default a pad holds one buffer, so that two threads take turns. With a queue, request pads
  /// collect samples, and `aggregate` is called when there are many, or after a few milliseconds.
  /// Not for live sources, because it adds to the latency.
  public func setQueuedDuration(_ duration: ClockTime) { box?.setQueuedDuration(duration) }

  /// Sets the latency of the element; a nil maximum is unlimited.
  public func setLatency(min: ClockTime, max: ClockTime?) {
    gst_aggregator_set_latency(aggregator, min.cValue, max.cValue)
  }

  /// The latency of the sources and of the element together, 0 without live sources. Not for
  /// ``deadline()``, which is called under the lock that this takes.
  public var latency: ClockTime { ClockTime(cValue: gst_aggregator_get_latency(aggregator)) ?? 0 }
}

/// Connects the C functions of GstAggregator with an implementation.
private final class AggregatorBox<Implementation: AggregatorImplementation>: AnyAggregatorBox,
  @unchecked Sendable
{
  let owned: ElementCore<Implementation>

  init(_ instance: ElementInstance) throws {
    owned = try ElementCore(instance)
    super.init(instance, owned)
  }

  override func aggregate(timeout: Bool) throws {
    try owned.streaming.call { try owned.implementation.aggregate(timeout: timeout, &$0) }
  }

  override func deadline() -> ClockTime? { owned.implementation.deadline() }

  /// FLUSH_STOP arrives in the thread of the sink pad; the element handles it in `flush`.
  override func sinkEvent(_ pad: AggregatorPad, _ event: Event) throws -> Bool {
    guard event.isSerialized, event.type != GST_EVENT_FLUSH_STOP else {
      return forwardSinkEvent(pad, event)
    }
    return try owned.take(self) { try $0.sinkEvent(pad, event, &$1) }
  }

  override func sinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool {
    owned.implementation.sinkQuery(pad, query)
  }

  override func sourceEvent(_ event: Event) -> Bool { owned.implementation.sourceEvent(event) }

  override func unlock() { owned.implementation.unlock() }

  override func unlockStop() { owned.implementation.unlockStop() }

  override func flush() throws {
    try owned.streaming.call { try owned.implementation.flush(&$0) }
  }

  override func padName(template: String, requested: String?) throws -> String {
    try owned.implementation.padName(template: template, requested: requested)
  }

  override func padFilter(name: String) -> (any BufferFilter)? {
    owned.implementation.padFilter(name: name)
  }
}
