// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// An element that makes data, buffer by buffer, and counts in time: `GstPushSrc`.
public protocol PushSourceImplementation: ElementImplementation {
  /// The caps to prefer among those that downstream takes. Asked from any thread.
  func fixate(_ caps: Caps) -> Caps

  /// The caps of the stream are known.
  func setCaps(_ caps: Caps, _ streaming: inout Streaming) throws

  /// Makes the next buffer; throws `FlowReturn.eos` behind the last one.
  func create(_ streaming: inout Streaming) throws -> UniqueBuffer

  /// Whether `seek` can do something.
  var isSeekable: Bool { get }

  /// Goes to where the segment's position is.
  func seek(to segment: Segment, _ streaming: inout Streaming) throws

  /// The times at which a live source's buffer starts and ends, by the clock; nil not to wait.
  func times(of buffer: Buffer) -> (start: ClockTime, end: ClockTime)?
}

extension PushSourceImplementation {
  public func fixate(_ caps: Caps) -> Caps { caps.fixated() }
  public func setCaps(_ caps: Caps, _ streaming: inout Streaming) throws {}
  public var isSeekable: Bool { false }
  public func seek(to segment: Segment, _ streaming: inout Streaming) throws {}
  public func times(of buffer: Buffer) -> (start: ClockTime, end: ClockTime)? { nil }

  public static var superclass: ElementSuperclass<Self> {
    ElementSuperclass(.pushSource) { try PushSourceBox<Self>($0) }
  }

  /// Makes the source produce by the clock, or as fast as it is asked. The base class looks at this
  /// before it starts.
  public func setLive(_ isLive: Bool) {
    gst_base_src_set_live(cast(gstElement), isLive ? 1 : 0)
  }

  /// Sends a serialized event behind the segment and before the next buffer.
  public func sendBeforeNext(_ event: Event) {
    gst_element_send_event(gstElement, event.retainedPointer())
  }
}

/// Between the trampolines of GstPushSrc and an implementation.
private final class PushSourceBox<Implementation: PushSourceImplementation>: AnyPushSourceBox,
  @unchecked Sendable
{
  private let owned: ElementCore<Implementation>

  init(_ instance: ElementInstance) throws {
    owned = try ElementCore(instance)
    super.init(instance, owned)
    setFormat(.time)
  }

  override func fixate(_ caps: Caps) -> Caps { owned.implementation.fixate(caps) }

  override func setCaps(_ caps: Caps) throws {
    try owned.streaming.call { try owned.implementation.setCaps(caps, &$0) }
  }

  override func create() throws -> UniqueBuffer {
    try owned.streaming.call { try owned.implementation.create(&$0) }
  }

  override var isSeekable: Bool { owned.implementation.isSeekable }

  override func seek(to segment: Segment) throws {
    try owned.streaming.call { try owned.implementation.seek(to: segment, &$0) }
  }

  override func times(of buffer: Buffer) -> (start: ClockTime, end: ClockTime)? {
    owned.implementation.times(of: buffer)
  }
}
