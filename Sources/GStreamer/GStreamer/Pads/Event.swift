// SPDX-License-Identifier: MPL-2.0

package import CGStreamer
internal import StereoVideo

/// A message that travels through pads, such as caps, segment, tags, EOS, flush or seek:
/// `GstEvent`.
public final class Event: MiniObject, @unchecked Sendable {
  package var pointer: UnsafeMutablePointer<GstEvent> { cast(raw) }

  package init(adopting pointer: UnsafeMutablePointer<GstEvent>) {
    super.init(adopting: cast(pointer))
  }

  package convenience init(retaining pointer: UnsafeMutablePointer<GstEvent>) {
    self.init(adopting: gst_event_ref(pointer))
  }

  /// The C counterpart of ``kind``.
  package var type: GstEventType { pointer.pointee.type }
  /// GStreamer's name for the type of the event, such as `segment`.
  public var name: String { String(cString: gst_event_type_get_name(type)) }

  /// Whether the event keeps its position between buffers; other events overtake them.
  public var isSerialized: Bool {
    gst_event_type_get_flags(type).rawValue & GST_EVENT_TYPE_SERIALIZED.rawValue != 0
  }

  /// The number that links events, messages and their cause.
  public var sequenceNumber: UInt32 {
    get { gst_event_get_seqnum(pointer) }
    set { gst_event_set_seqnum(pointer, newValue) }
  }

  /// Returns this new event with the sequence number of its cause.
  public func following(_ cause: Event) -> Event {
    sequenceNumber = cause.sequenceNumber
    return self
  }

  /// Returns this new STREAM_START event with the group ID of another one.
  public func takingGroup(of other: Event) -> Event {
    var group: guint = 0
    if gst_event_parse_group_id(other.pointer, &group) != 0 {
      gst_event_set_group_id(pointer, group)
    }
    return self
  }

  /// Whether the event requests a keyframe (`GstForceKeyUnit`).
  public var isForceKeyUnit: Bool { gst_video_event_is_force_key_unit(pointer) != 0 }

  /// Creates an upstream request for a keyframe with all headers at a running time.
  ///
  /// - Parameter time: Before 0 for streams whose times have jumped back; the offsets of pads
  ///   upstream, which the event is moved by, may make it later.
  public static func forceKeyUnit(at time: RunningTime) -> Event {
    let event = Event(
      adopting: gst_video_event_new_upstream_force_key_unit(
        ClockTime(clamping: time).cValue, 1, 0))
    if time < 0 { gst_event_set_running_time_offset(event.pointer, gint64(time.nanoseconds)) }
    return event
  }

  /// Creates an event that goes downstream before a keyframe and makes encoders make one, too.
  ///
  /// - Parameters:
  ///   - time: The timestamp of the keyframe.
  ///   - running: Its running time.
  public static func announcedKeyUnit(at time: ClockTime, running: ClockTime) -> Event {
    Event(
      adopting: gst_video_event_new_downstream_force_key_unit(
        time.cValue, ClockTime?.none.cValue, running.cValue, 1, 0))
  }

  /// The running time at which the event requests a keyframe; nil for immediately, and for other
  /// events.
  ///
  /// It is moved by the offsets of the pads that the event has passed, here rather than by
  /// `gst_video_event_parse_upstream_force_key_unit`: that of GStreamer 1.22 takes any that is
  /// positive for an underflow, and says 0.
  public var keyUnitTime: RunningTime? {
    guard isForceKeyUnit, case .uint64(let told) = structure?["running-time"],
      let time = ClockTime(cValue: GstClockTime(told))
    else { return nil }
    let offset = Int64(gst_event_get_running_time_offset(pointer))
    return RunningTime(clamping: time) + RunningTime(nanoseconds: offset)
  }

  /// The event's fields; nil if it has none.
  public var structure: StructureView? {
    gst_event_get_structure(pointer).map { StructureView($0, in: self) }
  }

  /// Creates a STREAM_START event.
  public static func streamStart(id: String) -> Event {
    Event(adopting: gst_event_new_stream_start(id))
  }

  /// Creates a STREAM_START event for a stream in a group.
  public static func streamStart(_ stream: Stream, group: UInt32) -> Event {
    let event = Event.streamStart(id: stream.id)
    gst_event_set_group_id(event.pointer, group)
    gst_event_set_stream_flags(event.pointer, gst_stream_get_stream_flags(stream.pointer))
    return event
  }

  /// The stream ID of a STREAM_START event.
  public var streamID: String? {
    guard type == GST_EVENT_STREAM_START else { return nil }
    var id: UnsafePointer<gchar>?
    gst_event_parse_stream_start(pointer, &id)
    return id.map { String(cString: $0) }
  }

  /// The flags of a STREAM_START event, such as whether the stream is sparse or unselected.
  package var streamFlags: GstStreamFlags {
    var flags = GST_STREAM_FLAG_NONE
    if type == GST_EVENT_STREAM_START { gst_event_parse_stream_flags(pointer, &flags) }
    return flags
  }

  /// Whether a STREAM_START event is for a stream that should not be selected by default.
  public var isUnselected: Bool {
    streamFlags.rawValue & GST_STREAM_FLAG_UNSELECT.rawValue != 0
  }

  /// Whether a STREAM_START event is for a stream that should be selected by default.
  public var isSelected: Bool { streamFlags.rawValue & GST_STREAM_FLAG_SELECT.rawValue != 0 }

  /// The group ID of a STREAM_START event.
  public var group: UInt32? {
    var group: guint = 0
    return gst_event_parse_group_id(pointer, &group) != 0 ? group : nil
  }

  /// Creates a CAPS event.
  public static func caps(_ caps: Caps) -> Event {
    Event(adopting: gst_event_new_caps(caps.pointer))
  }

  /// Creates a SEGMENT event.
  public static func segment(_ segment: Segment) -> Event {
    var segment = segment.segment
    return Event(adopting: gst_event_new_segment(&segment))
  }

  /// Creates a TAG event.
  public static func tags(_ tags: TagList) -> Event {
    Event(adopting: gst_event_new_tag(gst_tag_list_ref(tags.pointer)))
  }

  /// A new EOS event.
  public static var endOfStream: Event { Event(adopting: gst_event_new_eos()) }

  /// Creates a GAP event from a timestamp and a duration.
  public static func gap(at timestamp: ClockTime, duration: ClockTime?) -> Event {
    Event(adopting: gst_event_new_gap(timestamp.cValue, duration.cValue))
  }

  /// End of the gap of a GAP event, as a timestamp; nil for other events.
  public var gapEnd: ClockTime? {
    guard type == GST_EVENT_GAP else { return nil }
    var (timestamp, duration): (GstClockTime, GstClockTime) = (.max, .max)
    gst_event_parse_gap(pointer, &timestamp, &duration)
    return ClockTime(cValue: timestamp).map { $0 + (ClockTime(cValue: duration) ?? 0) }
  }

  /// A new FLUSH_START event.
  public static var flushStart: Event { Event(adopting: gst_event_new_flush_start()) }

  /// Creates a FLUSH_STOP event, which by default also resets running time.
  public static func flushStop(resetTime: Bool = true) -> Event {
    Event(adopting: gst_event_new_flush_stop(resetTime ? 1 : 0))
  }

  /// Creates a SEGMENT_DONE event from the end of the segment.
  public static func segmentDone(at position: ClockTime) -> Event {
    Event(
      adopting: gst_event_new_segment_done(
        GST_FORMAT_TIME, gint64(clamping: position.nanoseconds)))
  }

  /// Creates an event that starts or ends a still frame; decoders output all pending frames.
  public static func stillFrame(_ begins: Bool) -> Event {
    Event(adopting: gst_video_event_new_still_frame(begins ? 1 : 0))
  }

  /// The caps of a CAPS event.
  public var caps: Caps? {
    guard type == GST_EVENT_CAPS else { return nil }
    var caps: UnsafeMutablePointer<GstCaps>?
    gst_event_parse_caps(pointer, &caps)
    return caps.map { Caps(retaining: $0) }
  }

  /// The segment of a SEGMENT event.
  public var segment: Segment? {
    guard type == GST_EVENT_SEGMENT else { return nil }
    var segment: UnsafePointer<GstSegment>?
    gst_event_parse_segment(pointer, &segment)
    return segment.map { Segment($0.pointee) }
  }

  /// The tags of a TAG event.
  public var tags: TagList? {
    guard type == GST_EVENT_TAG else { return nil }
    var tags: UnsafeMutablePointer<GstTagList>?
    gst_event_parse_tag(pointer, &tags)
    return tags.map { TagList(retaining: $0) }
  }

  /// Returns the pointer with an additional reference, for a C function that takes it over.
  func retainedPointer() -> UnsafeMutablePointer<GstEvent> { gst_event_ref(pointer) }
}

/// Returns a new group ID, unique in this process, for streams that belong together.
public func nextStreamGroup() -> UInt32 { gst_util_group_id_next() }

extension Event {
  /// The type of an event, with its contents.
  public enum Kind {
    case streamStart(id: String)
    case caps(Caps)
    case segment(Segment)
    case tags(TagList)
    case gap
    case segmentDone
    case streamCollection
    case tableOfContents
    case endOfStream
    case flushStart
    case flushStop
    case seek(Seek)
    case qualityOfService
    case latency
    case reconfigure
    /// A mouse, key or touch event, with its fields (`GstNavigation`).
    case navigation(StructureView)
    /// An element-specific downstream serialized event, by name.
    case custom(name: String)
    /// Any other.
    case other
  }

  /// The type of the event, with its contents.
  public var kind: Kind {
    switch type {
    case GST_EVENT_STREAM_START: streamID.map { .streamStart(id: $0) } ?? .other
    case GST_EVENT_CAPS: caps.map { .caps($0) } ?? .other
    case GST_EVENT_SEGMENT: segment.map { .segment($0) } ?? .other
    case GST_EVENT_TAG: tags.map { .tags($0) } ?? .other
    case GST_EVENT_GAP: .gap
    case GST_EVENT_SEGMENT_DONE: .segmentDone
    case GST_EVENT_STREAM_COLLECTION: .streamCollection
    case GST_EVENT_TOC: .tableOfContents
    case GST_EVENT_EOS: .endOfStream
    case GST_EVENT_FLUSH_START: .flushStart
    case GST_EVENT_FLUSH_STOP: .flushStop
    case GST_EVENT_SEEK: seek.map { .seek($0) } ?? .other
    case GST_EVENT_QOS: .qualityOfService
    case GST_EVENT_LATENCY: .latency
    case GST_EVENT_RECONFIGURE: .reconfigure
    case GST_EVENT_NAVIGATION: structure.map { .navigation($0) } ?? .other
    case GST_EVENT_CUSTOM_DOWNSTREAM: structure.map { .custom(name: $0.name) } ?? .other
    default: .other
    }
  }
}

/// Element-specific events that carry a segment past elements that create segments of their own.
extension Event {
  private static let field = "segment"

  /// Creates a serialized downstream event with a structure of this name.
  public static func custom(_ name: String, _ fields: Fields) -> Event {
    Event(
      adopting: gst_event_new_custom(
        GST_EVENT_CUSTOM_DOWNSTREAM, makeStructure(name, Array(fields))))
  }

  /// Creates a serialized downstream event of this name.
  public static func carrying(_ segment: Segment, name: String) -> Event {
    var value = GValue()
    var segment = segment.segment
    let structure = gst_structure_new_empty(name)
    g_value_init(&value, gst_segment_get_type())
    g_value_set_boxed(&value, &segment)
    gst_structure_take_value(structure, field, &value)
    return Event(adopting: gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, structure))
  }

  /// Returns the segment of such an event; nil for any other.
  public func carriedSegment(name: String) -> Segment? {
    guard type == GST_EVENT_CUSTOM_DOWNSTREAM, gst_event_has_name(pointer, name) != 0,
      let structure = gst_event_get_structure(pointer),
      let value = gst_structure_get_value(structure, Self.field),
      cgst_value_holds(value, gst_segment_get_type()) != 0,
      let boxed = g_value_get_boxed(value)
    else { return nil }
    return Segment(boxed.assumingMemoryBound(to: GstSegment.self).pointee)
  }
}
