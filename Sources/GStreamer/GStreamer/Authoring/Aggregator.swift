// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// An element that makes one stream of several: `GstAggregator`. Its streaming thread is the one of
/// the source pad: buffers and serialized events wait at the sink pads until that takes them.
public protocol AggregatorImplementation: ElementImplementation {
  /// Every sink pad has a buffer or is at its end, or, in a live pipeline, time is up: takes what
  /// is there and finishes what can be finished. Throws `.needData` to wait for more, `.eos` when
  /// all is done. Called once more when the last sink pad has been released while data flows.
  func aggregate(timeout: Bool, _ streaming: inout Streaming) throws

  /// The running time up to which pads without data are waited for in a live pipeline, from where the
  /// latency is counted; nil for as long as it takes. `aggregate` is then called with `timeout`.
  ///
  /// Called in the streaming thread while GstAggregator holds its lock: look at the pads, and at
  /// nothing that others wait for.
  func deadline() -> ClockTime?

  /// A serialized event, when the buffers before it have been taken. Returns whether it was
  /// handled; `forwardSinkEvent` does the usual thing.
  func sinkEvent(
    _ pad: AggregatorPad, _ event: Event, _ streaming: inout Streaming
  ) throws -> Bool

  /// A query at a sink pad, from any thread. Returns whether it was answered.
  func sinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool

  /// An event that came to the source pad, from any thread. Returns whether it was handled.
  func sourceEvent(_ event: Event) -> Bool

  /// Discards what is queued: a flushing seek, while the streaming thread rests.
  func flush(_ streaming: inout Streaming) throws

  /// Somebody is about to wait for the streaming thread: for a flush, or the element's stop. What keeps
  /// `aggregate` waiting besides data has to end, and nothing may wait until `unlockStop` or `start`.
  /// From any thread.
  func unlock()

  /// The flush that `unlock` was called for is over.
  func unlockStop()

  /// The name for a requested pad of a template; throws where there can be no (further) pad.
  func padName(template: String, requested: String?) throws -> String
}

extension AggregatorImplementation {
  public func sinkEvent(
    _ pad: AggregatorPad, _ event: Event, _ streaming: inout Streaming
  ) throws -> Bool {
    forwardSinkEvent(pad, event, &streaming)
  }

  public func sinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool {
    forwardSinkQuery(pad, query)
  }

  public func sourceEvent(_ event: Event) -> Bool { forwardSourceEvent(event) }
  public func deadline() -> ClockTime? { nil }
  public func flush(_ streaming: inout Streaming) throws {}
  public func unlock() {}
  public func unlockStop() {}

  public func padName(template: String, requested: String?) throws -> String {
    requested ?? template
  }

  public static var superclass: ElementSuperclass<Self> {
    ElementSuperclass(.aggregator) { try AggregatorBox<Self>($0) }
  }

  // MARK: What the base class does

  private var box: AggregatorBox<Self>? {
    ElementBox.of(cast(gstElement)) as? AggregatorBox<Self>
  }

  /// Handles an event as the base class does.
  public func forwardSinkEvent(
    _ pad: AggregatorPad, _ event: Event, _ streaming: inout Streaming
  ) -> Bool {
    guard let box else { return false }
    return box.owned.streaming.lend(&streaming) { box.forwardSinkEvent(pad, event) }
  }

  /// Handles an event that came to the source pad as the base class does.
  public func forwardSourceEvent(_ event: Event) -> Bool {
    box?.forwardSourceEvent(event) ?? false
  }

  /// Answers a query as the base class does.
  public func forwardSinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool {
    box?.forwardSinkQuery(pad, query) ?? false
  }

  // MARK: Pads

  private var aggregator: UnsafeMutablePointer<GstAggregator> { cast(gstElement) }

  /// The source pad.
  public var sourcePad: Pad { Pad(retaining: aggregator.pointee.srcpad) }

  /// The sink pads that are there now.
  public var sinkPads: [AggregatorPad] { AnyAggregatorBox.sinkPads(of: gstElement) }

  /// Adds a sink pad that is always there. Call it at creation.
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

  /// Pushes a finished buffer, giving up this reference to it.
  public func finish(_ buffer: consuming Buffer) throws(FlowReturn) {
    let handed: UnsafeMutablePointer<GstBuffer> = cast(MiniObject.handOver(buffer))
    try FlowReturn(gst_aggregator_finish_buffer(aggregator, handed)).check()
  }

  /// How much media each sink pad holds in front of what `aggregate` takes, in nanoseconds.
  ///
  /// By default it is one buffer, for which two threads take turns. Otherwise pads on request collect
  /// samples, and `aggregate` is called when there are many, or after a few milliseconds. Not for live
  /// sources: their data would be expected later by that.
  public func setQueuedDuration(_ duration: ClockTime) { box?.setQueuedDuration(duration) }

  /// Says how much time data spends inside.
  public func setLatency(min: ClockTime, max: ClockTime?) {
    gst_aggregator_set_latency(aggregator, GstClockTime(min), max.cValue)
  }
}

/// Between the trampolines of GstAggregator and an implementation.
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

  /// FLUSH_STOP comes in the thread of the sink pad; `flush` tells of it.
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
}
