// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// An element with one sink and one source that works buffer by buffer, in place:
/// `GstBaseTransform`.
public protocol TransformImplementation: ElementImplementation {
  /// What one side can carry when the other carries `caps`. Asked from any thread.
  func transformCaps(_ caps: Caps, from direction: PadTemplate.Direction) -> Caps

  /// The caps of both sides are known.
  func setCaps(input: Caps, output: Caps, _ streaming: inout Streaming) throws

  /// Changes a buffer, whose memory may be shared.
  func transformInPlace(_ buffer: borrowing UniqueBuffer, _ streaming: inout Streaming) throws

  /// A serialized event at the sink pad. Returns whether it was handled.
  func sinkEvent(_ event: Event, _ streaming: inout Streaming) throws -> Bool
}

extension TransformImplementation {
  public func transformCaps(_ caps: Caps, from direction: PadTemplate.Direction) -> Caps { caps }
  public func setCaps(input: Caps, output: Caps, _ streaming: inout Streaming) throws {}

  public func sinkEvent(_ event: Event, _ streaming: inout Streaming) throws -> Bool {
    forwardSinkEvent(event, &streaming)
  }

  public static var superclass: ElementSuperclass<Self> {
    ElementSuperclass(.baseTransform) { try TransformBox<Self>($0) }
  }

  private var box: TransformBox<Self>? {
    ElementBox.of(cast(gstElement)) as? TransformBox<Self>
  }

  /// Handles an event as the base class does, which may say new caps.
  public func forwardSinkEvent(_ event: Event, _ streaming: inout Streaming) -> Bool {
    guard let box else { return false }
    return box.owned.streaming.lend(&streaming) { box.forwardSinkEvent(event) }
  }

  /// The source pad.
  public var sourcePad: Pad { Pad(retaining: transform.pointee.srcpad) }

  /// Hands buffers on without looking at them.
  public func setPassthrough(_ passthrough: Bool) {
    gst_base_transform_set_passthrough(transform, passthrough ? 1 : 0)
  }

  private var transform: UnsafeMutablePointer<GstBaseTransform> { cast(gstElement) }
}

/// Between the trampolines of GstBaseTransform and an implementation.
private final class TransformBox<Implementation: TransformImplementation>: AnyTransformBox,
  @unchecked Sendable
{
  let owned: ElementCore<Implementation>

  init(_ instance: ElementInstance) throws {
    owned = try ElementCore(instance)
    super.init(instance, owned)
  }

  override func transformCaps(_ caps: Caps, from direction: PadTemplate.Direction) -> Caps {
    owned.implementation.transformCaps(caps, from: direction)
  }

  override func setCaps(input: Caps, output: Caps) throws {
    try owned.streaming.call {
      try owned.implementation.setCaps(input: input, output: output, &$0)
    }
  }

  override func transformInPlace(_ buffer: borrowing UniqueBuffer) throws {
    try owned.streaming.call { try owned.implementation.transformInPlace(buffer, &$0) }
  }

  override func sinkEvent(_ event: Event) throws -> Bool {
    guard event.isSerialized else { return forwardSinkEvent(event) }
    return try owned.take(self) { try $0.sinkEvent(event, &$1) }
  }
}

/// An element with one sink and one source that works buffer by buffer, in place: `GstBaseTransform`.
class AnyTransformBox: ElementBox, @unchecked Sendable {
  var transform: UnsafeMutablePointer<GstBaseTransform> { cast(pointer) }
  private var parent: UnsafeMutablePointer<GstBaseTransformClass> {
    parentClass.assumingMemoryBound(to: GstBaseTransformClass.self)
  }

  /// What one side can carry when the other carries `caps`.
  func transformCaps(_ caps: Caps, from direction: PadTemplate.Direction) -> Caps { caps }

  /// The caps of both sides are known.
  func setCaps(input: Caps, output: Caps) throws {}

  /// Changes a buffer that nobody else holds; its memory may be shared.
  func transformInPlace(_ buffer: borrowing UniqueBuffer) throws {}

  /// An event at the sink pad. Returns whether it was handled.
  func sinkEvent(_ event: Event) throws -> Bool { forwardSinkEvent(event) }

  /// Handles an event as the base class does.
  func forwardSinkEvent(_ event: Event) -> Bool {
    parent.pointee.sink_event(transform, event.retainedPointer()) != 0
  }

  private static func of(_ pointer: UnsafeMutablePointer<GstBaseTransform>?)
    -> AnyTransformBox?
  {
    guard let pointer else { return nil }
    return ElementBox.of(cast(pointer)) as? AnyTransformBox
  }

  static func fill(_ klass: UnsafeMutableRawPointer) {
    let transformClass = klass.assumingMemoryBound(to: GstBaseTransformClass.self)
    transformClass.pointee.start = { AnyTransformBox.of($0)?.runStart() == true ? 1 : 0 }
    transformClass.pointee.stop = { pointer in
      AnyTransformBox.of(pointer)?.runStop()
      return 1
    }
    transformClass.pointee.transform_caps = { pointer, direction, caps, filter in
      guard let caps, let element = AnyTransformBox.of(pointer) else { return nil }
      var result = element.transformCaps(
        Caps(retaining: caps), from: direction == GST_PAD_SRC ? .source : .sink)
      if let filter { result = Caps(retaining: filter).intersection(result) }
      return result.retainedPointer()
    }
    transformClass.pointee.set_caps = { pointer, input, output in
      guard let input, let output, let element = AnyTransformBox.of(pointer) else {
        return 0
      }
      return element.answer {
        try element.setCaps(input: Caps(retaining: input), output: Caps(retaining: output))
        return true
      }
    }
    // The memory passes through as it is, so downstream's word on memory is this element's.
    transformClass.pointee.propose_allocation = { pointer, _, query in
      guard let pointer, let query else { return 0 }
      return gst_pad_peer_query(pointer.pointee.srcpad, query)
    }
    transformClass.pointee.sink_event = { pointer, event in
      guard let event else { return 0 }
      let owned = Event(adopting: event)
      guard let element = AnyTransformBox.of(pointer) else { return 0 }
      return element.answer { try element.sinkEvent(owned) }
    }
    transformClass.pointee.transform_ip = { pointer, buffer in
      guard let buffer, let element = AnyTransformBox.of(pointer) else {
        return GST_FLOW_ERROR
      }
      let lent = UniqueBuffer(adopting: buffer)
      let flow = element.flow { () throws in try element.transformInPlace(lent) }
      // The base class keeps its reference.
      _ = lent.take()
      return flow
    }
  }
}
