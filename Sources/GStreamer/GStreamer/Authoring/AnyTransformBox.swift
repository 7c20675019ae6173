// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

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
