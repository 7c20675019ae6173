// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// A reference to a pad.
public class Pad: @unchecked Sendable {
  package let pointer: UnsafeMutablePointer<GstPad>

  /// Takes over the caller's reference.
  package init(adopting pointer: UnsafeMutablePointer<GstPad>) {
    self.pointer = pointer
  }

  /// Adds a reference.
  package convenience init(retaining pointer: UnsafeMutablePointer<GstPad>) {
    gst_object_ref(pointer)
    self.init(adopting: pointer)
  }

  deinit {
    gst_object_unref(pointer)
  }

  public var name: String { adopt(gst_object_get_name(cast(pointer))) ?? "" }

  /// The name of the template that the pad was made from.
  public var templateName: String? {
    guard let template = gst_pad_get_pad_template(pointer) else { return nil }
    defer { gst_object_unref(template) }
    return template.pointee.name_template.map { String(cString: $0) }
  }

  public var isLinked: Bool { gst_pad_is_linked(pointer) != 0 }

  public var peer: Pad? { gst_pad_get_peer(pointer).map { Pad(adopting: $0) } }

  /// The caps of the last CAPS event.
  public var currentCaps: Caps? {
    gst_pad_get_current_caps(pointer).map { Caps(adopting: $0) }
  }

  public var templateCaps: Caps { Caps(adopting: gst_pad_get_pad_template_caps(pointer)) }

  /// What the peer can take or give; the filter itself where there is no peer.
  public func peerCaps(filter: Caps?) -> Caps {
    Caps(adopting: gst_pad_peer_query_caps(pointer, filter?.pointer))
  }

  /// Whether the peer would take exactly these caps; true where there is none.
  public func peerAccepts(_ caps: Caps) -> Bool {
    guard isLinked else { return true }
    return gst_pad_peer_query_accept_caps(pointer, caps.pointer) != 0
  }

  /// Asks the peer; false where it does not answer.
  public func queryPeer(_ query: borrowing Query) -> Bool {
    gst_pad_peer_query(pointer, query.pointer) != 0
  }

  /// Pushes data to the peer, giving up this reference to it.
  public func push(_ buffer: consuming Buffer) -> FlowReturn {
    FlowReturn(gst_pad_push(pointer, cast(MiniObject.handOver(buffer))))
  }

  /// Pushes data to the peer.
  public func push(_ buffer: consuming UniqueBuffer) -> FlowReturn {
    FlowReturn(gst_pad_push(pointer, buffer.take()))
  }

  /// Pushes an event to the peer; false where nobody handled it.
  @discardableResult
  public func push(_ event: Event) -> Bool {
    gst_pad_push_event(pointer, event.retainedPointer()) != 0
  }

  /// Pulls bytes from the peer: into a buffer of that size, if one is given, else into a new one.
  public func pullRange(
    offset: UInt64, size: UInt32, into target: Buffer? = nil
  ) throws(FlowReturn) -> Buffer {
    var buffer = target?.pointer
    try FlowReturn(gst_pad_pull_range(pointer, guint64(offset), size, &buffer)).check()
    guard let buffer else { throw .error }
    return target ?? Buffer(adopting: buffer)
  }

  /// The sticky event of a type that the pad holds.
  package func stickyEvent(_ type: GstEventType) -> Event? {
    gst_pad_get_sticky_event(pointer, type, 0).map { Event(adopting: $0) }
  }

  /// The STREAM_START event of the stream that the pad carries.
  public var streamStart: Event? { stickyEvent(GST_EVENT_STREAM_START) }

  /// The segment of the last SEGMENT event.
  public var currentSegment: Segment? { stickyEvent(GST_EVENT_SEGMENT)?.segment }

  /// Whether the EOS event has passed in this stream.
  public var hasEnded: Bool { stickyEvent(GST_EVENT_EOS) != nil }

  /// Whether a TAG event has passed in this stream.
  public var hasTags: Bool { stickyEvent(GST_EVENT_TAG) != nil }

  @discardableResult
  public func setActive(_ active: Bool) -> Bool { gst_pad_set_active(pointer, active ? 1 : 0) != 0 }

  /// Makes the pad say its current caps, or its template's, when it is asked what it can carry.
  public func useFixedCaps() { gst_pad_use_fixed_caps(pointer) }

  /// Whether downstream asked for a new negotiation since the last call.
  public func checkReconfigure() -> Bool { gst_pad_check_reconfigure(pointer) != 0 }

  /// The stream id for a stream of an element, tied to that of its upstream.
  public func streamID(_ element: any ElementObject, suffix: String?) -> String {
    adopt(gst_pad_create_stream_id(pointer, element.gstElement, suffix)) ?? ""
  }

  /// Handles an event as GStreamer does by itself.
  public func forward(_ event: Event) -> Bool {
    gst_pad_event_default(pointer, pointer.pointee.object.parent, event.retainedPointer()) != 0
  }

  /// Answers a query as GStreamer does by itself.
  public func forward(_ query: borrowing Query) -> Bool {
    gst_pad_query_default(pointer, pointer.pointee.object.parent, query.pointer) != 0
  }
}

extension Pad: Equatable {
  public static func == (a: Pad, b: Pad) -> Bool { a.pointer == b.pointer }
}
