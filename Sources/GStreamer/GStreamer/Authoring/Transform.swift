// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// An element with one sink and one source pad that modifies buffers in place: `GstBaseTransform`.
public protocol TransformImplementation: ElementImplementation {
  /// Returns the caps that one side supports if the other has `caps`. Called in any thread.
  func transformCaps(_ caps: Caps, from direction: PadTemplate.Direction) -> Caps

  /// Called when the caps of both sides are known.
  func setCaps(input: Caps, output: Caps, _ streaming: inout Streaming) throws

  /// Modifies a buffer, whose memory may be shared.
  func transformInPlace(_ buffer: borrowing UniqueBuffer, _ streaming: inout Streaming) throws

  /// Handles a serialized event at the sink pad. Returns whether it was handled.
  func sinkEvent(_ event: Event, _ streaming: inout Streaming) throws -> Bool
}

extension TransformImplementation {
  /// Returns the caps unchanged.
  public func transformCaps(_ caps: Caps, from direction: PadTemplate.Direction) -> Caps { caps }
  /// Does nothing.
  public func setCaps(input: Caps, output: Caps, _ streaming: inout Streaming) throws {}

  /// Forwards the event to the base class.
  public func sinkEvent(_ event: Event, _ streaming: inout Streaming) throws -> Bool {
    forwardSinkEvent(event, &streaming)
  }

  /// `GstBaseTransform`.
  public static var superclass: ElementSuperclass<Self> {
    ElementSuperclass(.baseTransform) { try TransformBox<Self>($0) }
  }

  private var box: TransformBox<Self>? {
    ElementBox.of(cast(gstElement)) as? TransformBox<Self>
  }

  /// Handles an event with the base class, which may call `setCaps`.
  public func forwardSinkEvent(_ event: Event, _ streaming: inout Streaming) -> Bool {
    guard let box else { return false }
    return box.owned.streaming.lend(&streaming) { box.forwardSinkEvent(event) }
  }

  /// The source pad.
  public var sourcePad: Pad { Pad(retaining: transform.pointee.srcpad) }

  /// Sets whether buffers pass unchanged, without calling `transformInPlace`.
  public func setPassthrough(_ passthrough: Bool) {
    gst_base_transform_set_passthrough(transform, passthrough ? 1 : 0)
  }

  private var transform: UnsafeMutablePointer<GstBaseTransform> { cast(gstElement) }
}

/// Connects the C functions of GstBaseTransform with an implementation.
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

/// An element with one sink and one source pad that modifies buffers in place: `GstBaseTransform`.
class AnyTransformBox: ElementBox, @unchecked Sendable {
  var transform: UnsafeMutablePointer<GstBaseTransform> { cast(pointer) }
  private var sink: Pad { Pad(retaining: transform.pointee.sinkpad) }
  private var parent: UnsafeMutablePointer<GstBaseTransformClass> {
    parentClass.assumingMemoryBound(to: GstBaseTransformClass.self)
  }

  /// Returns the caps that one side supports if the other has `caps`.
  func transformCaps(_ caps: Caps, from direction: PadTemplate.Direction) -> Caps { caps }

  /// Called when the caps of both sides are known.
  func setCaps(input: Caps, output: Caps) throws {}

  /// Modifies a buffer with no other owner; its memory may be shared.
  func transformInPlace(_ buffer: borrowing UniqueBuffer) throws {}

  /// Handles an event at the sink pad. Returns whether it was handled.
  func sinkEvent(_ event: Event) throws -> Bool { forwardSinkEvent(event) }

  /// Handles an event with the base class.
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
    // Memory passes unchanged, so downstream's answer applies to this element too.
    transformClass.pointee.propose_allocation = { pointer, _, query in
      guard let pointer, let query else { return 0 }
      return gst_pad_peer_query(pointer.pointee.srcpad, query)
    }
    transformClass.pointee.sink_event = { pointer, event in
      guard let event else { return 0 }
      let owned = Event(adopting: event)
      guard let element = AnyTransformBox.of(pointer) else { return 0 }
      element.logEvent(owned, at: element.sink)
      return element.answer { try element.sinkEvent(owned) }
    }
    transformClass.pointee.transform_ip = { pointer, buffer in
      guard let buffer, let element = AnyTransformBox.of(pointer) else {
        return GST_FLOW_ERROR
      }
      let lent = UniqueBuffer(adopting: buffer)
      element.logBuffer(lent, at: element.sink)
      let flow = element.flow { () throws in try element.transformInPlace(lent) }
      // The base class keeps its reference.
      _ = lent.take()
      return flow
    }
  }
}
