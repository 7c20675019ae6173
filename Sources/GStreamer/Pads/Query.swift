public import CGStreamer

/// A question that travels through pads. Valid only during the call it is handed to.
public struct Query: ~Copyable {
  public let pointer: UnsafeMutablePointer<GstQuery>
  private let owned: Bool

  init(borrowing pointer: UnsafeMutablePointer<GstQuery>) {
    self.pointer = pointer
    owned = false
  }

  private init(adopting pointer: UnsafeMutablePointer<GstQuery>) {
    self.pointer = pointer
    owned = true
  }

  deinit {
    if owned { gst_query_unref(pointer) }
  }

  public var type: GstQueryType { pointer.pointee.type }

  // MARK: ACCEPT_CAPS and CAPS

  /// The caps of an ACCEPT_CAPS query.
  public var acceptCaps: Caps? {
    guard type == GST_QUERY_ACCEPT_CAPS else { return nil }
    var caps: UnsafeMutablePointer<GstCaps>?
    gst_query_parse_accept_caps(pointer, &caps)
    return caps.map { Caps(retaining: $0) }
  }

  public func answerAcceptCaps(_ accepted: Bool) {
    gst_query_set_accept_caps_result(pointer, accepted ? 1 : 0)
  }

  /// The filter of a CAPS query, where it has one.
  public var capsFilter: Caps? {
    guard type == GST_QUERY_CAPS else { return nil }
    var filter: UnsafeMutablePointer<GstCaps>?
    gst_query_parse_caps(pointer, &filter)
    return filter.map { Caps(retaining: $0) }
  }

  /// Answers a CAPS query, applying its filter.
  public func answerCaps(_ caps: Caps) {
    withExtendedLifetime(capsFilter.map { $0.intersection(caps) } ?? caps) {
      gst_query_set_caps_result(pointer, $0.pointer)
    }
  }

  // MARK: ALLOCATION

  public static func allocation(_ caps: Caps, needsPool: Bool) -> Query {
    Query(adopting: gst_query_new_allocation(caps.pointer, needsPool ? 1 : 0))
  }

  /// The caps of an ALLOCATION query.
  public var allocationCaps: Caps? {
    guard type == GST_QUERY_ALLOCATION else { return nil }
    var caps: UnsafeMutablePointer<GstCaps>?
    gst_query_parse_allocation(pointer, &caps, nil)
    return caps.map { Caps(retaining: $0) }
  }

  /// Whether the answer says that buffers may describe their planes by a GstVideoMeta.
  public var acceptsVideoMeta: Bool {
    gst_query_find_allocation_meta(pointer, gst_video_meta_api_get_type(), nil) != 0
  }

  public func offerVideoMeta() {
    gst_query_add_allocation_meta(pointer, gst_video_meta_api_get_type(), nil)
  }

  // MARK: SEEKING, DURATION, SCHEDULING

  public static func seeking(_ format: GstFormat) -> Query {
    Query(adopting: gst_query_new_seeking(format))
  }

  /// Whether the answer to a SEEKING query is yes.
  public var isSeekable: Bool {
    var seekable: gboolean = 0
    gst_query_parse_seeking(pointer, nil, &seekable, nil, nil)
    return seekable != 0
  }
}
