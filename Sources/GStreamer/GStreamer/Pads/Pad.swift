// SPDX-License-Identifier: MPL-2.0

package import CGStreamer
internal import StereoVideo

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

  /// The name, unique within the element.
  public var name: String { adopt(gst_object_get_name(cast(pointer))) ?? "" }

  /// The name of the template the pad was created from.
  public var templateName: String? {
    guard let template = gst_pad_get_pad_template(pointer) else { return nil }
    defer { gst_object_unref(template) }
    return template.pointee.name_template.map { String(cString: $0) }
  }

  /// Whether the pad has a peer.
  public var isLinked: Bool { gst_pad_is_linked(pointer) != 0 }

  /// The pad this one is linked to.
  public var peer: Pad? { gst_pad_get_peer(pointer).map { Pad(adopting: $0) } }

  /// The caps of the last CAPS event.
  public var currentCaps: Caps? {
    gst_pad_get_current_caps(pointer).map { Caps(adopting: $0) }
  }

  /// The caps of the pad's template.
  public var templateCaps: Caps { Caps(adopting: gst_pad_get_pad_template_caps(pointer)) }

  /// Returns the caps that the peer supports; the filter if there is no peer.
  public func peerCaps(filter: Caps?) -> Caps {
    Caps(adopting: gst_pad_peer_query_caps(pointer, filter?.pointer))
  }

  /// Whether the peer accepts exactly these caps; true if there is no peer.
  public func peerAccepts(_ caps: Caps) -> Bool {
    guard isLinked else { return true }
    return gst_pad_peer_query_accept_caps(pointer, caps.pointer) != 0
  }

  /// Whether this pad accepts exactly these caps, which specify all that its template restricts.
  public func accepts(_ caps: Caps) -> Bool {
    gst_pad_query_accept_caps(pointer, caps.pointer) != 0
  }

  /// Sends a query to the peer; returns false if it was not answered.
  public func queryPeer(_ query: borrowing Query) -> Bool {
    gst_pad_peer_query(pointer, query.pointer) != 0
  }

  /// Pushes a buffer to the peer and gives up this reference to it.
  public func push(_ buffer: consuming Buffer) -> FlowReturn {
    FlowReturn(gst_pad_push(pointer, cast(MiniObject.handOver(buffer))))
  }

  /// Pushes a buffer to the peer.
  public func push(_ buffer: consuming UniqueBuffer) -> FlowReturn {
    FlowReturn(gst_pad_push(pointer, buffer.take()))
  }

  /// Pushes an event to the peer; returns false if it was not handled.
  @discardableResult
  public func push(_ event: Event) -> Bool {
    gst_pad_push_event(pointer, event.retainedPointer()) != 0
  }

  /// Pulls bytes from the peer, into a buffer of that size if one is given, otherwise into a new
  /// one.
  public func pullRange(
    offset: UInt64, size: UInt32, into target: Buffer? = nil
  ) throws(FlowReturn) -> Buffer {
    var buffer = target?.pointer
    try FlowReturn(gst_pad_pull_range(pointer, guint64(offset), size, &buffer)).check()
    guard let buffer else { throw .error }
    return target ?? Buffer(adopting: buffer)
  }

  /// Returns the pad's sticky event of a type.
  package func stickyEvent(_ type: GstEventType) -> Event? {
    gst_pad_get_sticky_event(pointer, type, 0).map { Event(adopting: $0) }
  }

  /// The STREAM_START event of the current stream.
  public var streamStart: Event? { stickyEvent(GST_EVENT_STREAM_START) }

  /// The segment of the last SEGMENT event.
  public var currentSegment: Segment? { stickyEvent(GST_EVENT_SEGMENT)?.segment }

  /// Whether the current stream has reached EOS.
  public var hasEnded: Bool { stickyEvent(GST_EVENT_EOS) != nil }

  /// Whether the current stream has had a TAG event.
  public var hasTags: Bool { stickyEvent(GST_EVENT_TAG) != nil }

  /// The tags that have passed last, of the stream and of all streams; nil if there were none.
  public var tags: TagList? { .passed(pointer) }

  /// The current running time of the pad's element; nil if that has no clock.
  public var currentRunningTime: ClockTime? {
    guard let element = gst_pad_get_parent_element(pointer) else { return nil }
    defer { gst_object_unref(element) }
    return ClockTime(cValue: gst_element_get_current_running_time(element))
  }

  /// Activates or deactivates the pad; returns whether that succeeded.
  @discardableResult
  public func setActive(_ active: Bool) -> Bool { gst_pad_set_active(pointer, active ? 1 : 0) != 0 }

  /// Makes the pad answer CAPS queries with its current caps, or with its template's if it has
  /// none.
  public func useFixedCaps() { gst_pad_use_fixed_caps(pointer) }

  /// Whether downstream has requested renegotiation since the last call.
  public func checkReconfigure() -> Bool { gst_pad_check_reconfigure(pointer) != 0 }

  /// Returns a stream ID for an element, derived from the upstream stream ID.
  public func streamID(_ element: any ElementObject, suffix: String?) -> String {
    adopt(gst_pad_create_stream_id(pointer, element.gstElement, suffix)) ?? ""
  }

  /// Handles an event with GStreamer's default handler.
  public func forward(_ event: Event) -> Bool {
    gst_pad_event_default(pointer, pointer.pointee.object.parent, event.retainedPointer()) != 0
  }

  /// Answers a query with GStreamer's default handler.
  public func forward(_ query: borrowing Query) -> Bool {
    gst_pad_query_default(pointer, pointer.pointee.object.parent, query.pointer) != 0
  }
}

extension Pad: Equatable {
  /// Whether both refer to the same pad.
  public static func == (a: Pad, b: Pad) -> Bool { a.pointer == b.pointer }
}

/// A pad of a bin that represents a pad of one of its children.
public final class GhostPad: Pad, @unchecked Sendable {
  /// Creates a ghost pad without a target from a template of the bin's class.
  public convenience init(_ instance: ElementInstance, template name: String) throws {
    guard
      let template = gst_element_class_get_pad_template(instance.pointer.elementClass, name),
      let pad = gst_ghost_pad_new_no_target_from_template(name, template)
    else {
      throw ElementError(.pad, "The pad \(name) could not be created.")
    }
    // New pads have a floating reference.
    self.init(adopting: gst_object_ref_sink(pad).assumingMemoryBound(to: GstPad.self))
  }

  /// Sets the pad that this one represents; nil for none.
  public func setTarget(_ target: Pad?) throws {
    guard gst_ghost_pad_set_target(cast(pointer), target?.pointer) != 0 else {
      throw ElementError(
        .pad, "\(target?.name ?? "no pad") cannot be the target of the ghost pad \(name).")
    }
  }
}

extension Pad {
  /// Sends an event to this pad as if it came from its peer, after waiting for data that is being
  /// processed there; returns false if the pad refuses it.
  @discardableResult
  public func send(_ event: Event) -> Bool {
    gst_pad_send_event(pointer, event.retainedPointer()) != 0
  }
}

/// Functions for applications.
extension Pad {
  /// Whether this is a source or a sink pad.
  public var direction: PadTemplate.Direction {
    gst_pad_get_direction(pointer) == GST_PAD_SRC ? .source : .sink
  }

  /// The caps that the pad currently supports.
  public var possibleCaps: Caps { Caps(adopting: gst_pad_query_caps(pointer, nil)) }

  /// The reason why two pads cannot be linked.
  @nonexhaustive
  public enum LinkFailure: Error, Sendable {
    /// The pads have no caps in common.
    case noFormat
    /// One of them is already linked.
    case wasLinked
    /// Any other reason, by GStreamer's name.
    case refused(String)
  }

  /// Links this source pad with a sink pad.
  public func link(to sink: Pad) throws(LinkFailure) {
    switch gst_pad_link(pointer, sink.pointer) {
    case GST_PAD_LINK_OK: return
    case GST_PAD_LINK_NOFORMAT: throw .noFormat
    case GST_PAD_LINK_WAS_LINKED: throw .wasLinked
    case let result: throw .refused(String(cString: gst_pad_link_get_name(result)))
    }
  }

  /// Whether data can arrive at this sink pad: upstream there is an element without sink pads, or
  /// with a sink pad for which this is true.
  public var hasSource: Bool {
    guard let peer else { return false }
    let sinks = peer.internalLinks
    return sinks.isEmpty || sinks.contains(where: \.hasSource)
  }

  /// The factory names of the elements that receive this source pad's data, including those after
  /// elements that only forward data, such as queues, those in bins, and those after the bin that
  /// the pad's element is in.
  public var readers: [String] { readers(depth: 16) }

  private func readers(depth: Int) -> [String] {
    guard depth > 0, let peer else { return [] }
    // A pad at the border of a bin has its other side there.
    let inside =
      g_type_check_instance_is_a(
        UnsafeMutableRawPointer(peer.pointer).assumingMemoryBound(to: GTypeInstance.self),
        gst_proxy_pad_get_type()) != 0
      ? peer.internalLinks.flatMap { $0.readers(depth: depth - 1) } : []
    guard let element = gst_pad_get_parent_element(peer.pointer) else { return inside }
    defer { gst_object_unref(element) }
    guard let factory = gst_element_get_factory(element),
      let text = gst_object_get_name(UnsafeMutablePointer<GstObject>(factory))
    else { return [] }
    defer { g_free(text) }
    let name = String(cString: text)
    guard ["queue", "queue2", "tee", "capsfilter", "identity", "valve"].contains(name) else {
      return [name] + inside
    }
    return [name] + peer.internalLinks.flatMap { $0.readers(depth: depth - 1) }
  }

  /// The factory names of the elements that this sink pad's data come from, the nearest first, up
  /// to one with several inputs or none.
  public var feeders: [String] {
    var names: [String] = []
    visitUpstream { pad in
      guard let peer = pad.peer, let element = gst_pad_get_parent_element(peer.pointer) else {
        return
      }
      if let factory = gst_element_get_factory(element),
        let text = gst_object_get_name(UnsafeMutablePointer<GstObject>(factory))
      {
        names.append(String(cString: text))
        g_free(text)
      }
      gst_object_unref(element)
    }
    return names
  }

  /// The current caps of this sink pad and of those that its data come through, the nearest first,
  /// up to an element with several inputs or none.
  public var capsUpstream: [Caps] {
    var caps: [Caps] = []
    visitUpstream { pad in pad.currentCaps.map { caps.append($0) } }
    return caps
  }

  /// Calls `body` with this sink pad, with that of the element upstream of it, and so on.
  private func visitUpstream(_ body: (Pad) -> Void) {
    var pad = self
    // A limit for links that form a circle.
    for _ in 0..<64 {
      body(pad)
      guard let inputs = pad.peer?.internalLinks, inputs.count == 1 else { break }
      pad = inputs[0]
    }
  }

  /// The pads of the same element that this pad's data come from or go to.
  private var internalLinks: [Pad] {
    guard let links = gst_pad_iterate_internal_links(pointer) else { return [] }
    defer { gst_iterator_free(links) }
    var pads: [Pad] = []
    var value = GValue()
    while gst_iterator_next(links, &value) == GST_ITERATOR_OK {
      if let pad = g_value_get_object(&value)?.assumingMemoryBound(to: GstPad.self) {
        pads.append(Pad(retaining: pad))
      }
      g_value_unset(&value)
    }
    return pads
  }

  /// Nanoseconds that are added to the running time of the pad's data; may be negative, unlike the
  /// property of this name.
  public var offset: Int64 {
    get { Int64(gst_pad_get_offset(pointer)) }
    set { gst_pad_set_offset(pointer, gint64(newValue)) }
  }

  /// Duration of the pad's stream; nil if no upstream element knows it.
  public var duration: ClockTime? {
    var duration: gint64 = 0
    guard gst_pad_query_duration(pointer, GST_FORMAT_TIME, &duration) != 0 else { return nil }
    return ClockTime(exactly: duration)
  }
}

/// Properties of the source of a sink pad's bytes.
extension Pad {
  /// The headers of the HTTP response that the bytes come from, with names in lower case; nil if
  /// they come from elsewhere or the source does not report its headers.
  public var httpResponseHeaders: [String: String]? {
    var index: guint = 0
    while let pointer = gst_pad_get_sticky_event(
      self.pointer, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, index)
    {
      index += 1
      let event = Event(adopting: pointer)
      guard let told = event.structure, told.name == "http-headers",
        let response = told.structure("response-headers")
      else { continue }
      let fields = response.fieldNames.compactMap { name in
        response.string(name).map { (name.lowercased(), $0) }
      }
      return Dictionary(fields) { first, _ in first }
    }
    return nil
  }

  /// Whether seeking in the peer is expensive or may fail, as over a network.
  public var peerIsBandwidthLimited: Bool {
    let query = Query.scheduling()
    guard queryPeer(query) else { return false }
    var flags = GST_SCHEDULING_FLAG_SEEKABLE
    gst_query_parse_scheduling(query.pointer, &flags, nil, nil, nil)
    return flags.rawValue & GST_SCHEDULING_FLAG_BANDWIDTH_LIMITED.rawValue != 0
  }
}
