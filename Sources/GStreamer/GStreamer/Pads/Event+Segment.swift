// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// Events of an element's own that carry a segment past elements that make segments of their own.
extension Event {
  private static let field = "segment"

  /// A serialized event of this name, for elements downstream that know it.
  public static func carrying(_ segment: Segment, name: String) -> Event {
    var value = GValue()
    var segment = segment.segment
    let structure = gst_structure_new_empty(name)
    g_value_init(&value, gst_segment_get_type())
    g_value_set_boxed(&value, &segment)
    gst_structure_take_value(structure, field, &value)
    return Event(adopting: gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, structure))
  }

  /// The segment of such an event; nil for any other.
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
