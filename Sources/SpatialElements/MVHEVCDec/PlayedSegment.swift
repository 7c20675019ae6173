import CGStreamer
import GStreamer

/// The segment that is played, as it travels past the decoder.
///
/// The decoder itself gets a segment without bounds and forwards: it gives the pictures of both eyes
/// timestamps of its own making (see `AccessUnitMeta`), and would drop by these what lies outside.
/// It passes this event on between the same pictures.
enum PlayedSegment {
  private static let name = "GstMVHEVCPlayedSegment"
  private static let field = "segment"

  /// What is to be sent to the decoder for a SEGMENT event: a segment, and this event.
  static func events(for event: Event) -> [Event] {
    guard let segment = event.segment else { return [] }
    // In another format than time the timestamps cannot be placed: all is played.
    let played = segment.format == GST_FORMAT_TIME ? segment : Segment()
    return [Event.segment(Segment()).following(event), Self.event(played).following(event)]
  }

  private static func event(_ segment: Segment) -> Event {
    var value = GValue()
    var segment = segment.segment
    let structure = gst_structure_new_empty(name)
    g_value_init(&value, gst_segment_get_type())
    g_value_set_boxed(&value, &segment)
    gst_structure_take_value(structure, field, &value)
    return Event(adopting: gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, structure))
  }

  /// The segment of such an event; nil for any other.
  static func segment(of event: Event) -> Segment? {
    guard event.type == GST_EVENT_CUSTOM_DOWNSTREAM,
      gst_event_has_name(event.pointer, name) != 0,
      let structure = gst_event_get_structure(event.pointer),
      let value = gst_structure_get_value(structure, field),
      let boxed = g_value_get_boxed(value)
    else { return nil }
    return Segment(boxed.assumingMemoryBound(to: GstSegment.self).pointee)
  }
}
