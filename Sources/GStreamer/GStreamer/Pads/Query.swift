// SPDX-License-Identifier: MPL-2.0

package import CGStreamer
internal import StereoVideo

/// A query that travels through pads: `GstQuery`. Valid only during the call that receives it.
public struct Query: ~Copyable {
  package let pointer: UnsafeMutablePointer<GstQuery>
  private let owned: Bool

  init(borrowing pointer: UnsafeMutablePointer<GstQuery>) {
    self.pointer = pointer
    owned = false
  }

  init(adopting pointer: UnsafeMutablePointer<GstQuery>) {
    self.pointer = pointer
    owned = true
  }

  deinit {
    if owned { gst_query_unref(pointer) }
  }

  /// The C counterpart of ``kind``.
  package var type: GstQueryType { pointer.pointee.type }

  /// Whether the query keeps its position between buffers; other queries overtake them.
  public var isSerialized: Bool {
    gst_query_type_get_flags(type).rawValue & GST_QUERY_TYPE_SERIALIZED.rawValue != 0
  }

  // MARK: ACCEPT_CAPS and CAPS

  /// The caps of an ACCEPT_CAPS query.
  public var acceptCaps: Caps? {
    guard type == GST_QUERY_ACCEPT_CAPS else { return nil }
    var caps: UnsafeMutablePointer<GstCaps>?
    gst_query_parse_accept_caps(pointer, &caps)
    return caps.map { Caps(retaining: $0) }
  }

  /// Answers an ACCEPT_CAPS query.
  public func answerAcceptCaps(_ accepted: Bool) {
    gst_query_set_accept_caps_result(pointer, accepted ? 1 : 0)
  }

  /// The filter of a CAPS query; nil if it has none.
  public var capsFilter: Caps? {
    guard type == GST_QUERY_CAPS else { return nil }
    var filter: UnsafeMutablePointer<GstCaps>?
    gst_query_parse_caps(pointer, &filter)
    return filter.map { Caps(retaining: $0) }
  }

  /// Answers a CAPS query; the filter is applied.
  public func answerCaps(_ caps: Caps) {
    withExtendedLifetime(capsFilter.map { $0.intersection(caps) } ?? caps) {
      gst_query_set_caps_result(pointer, $0.pointer)
    }
  }

  // MARK: CUSTOM

  /// Creates a query between elements that know its name.
  public static func custom(_ name: String) -> Query {
    Query(adopting: gst_query_new_custom(GST_QUERY_CUSTOM, gst_structure_new_empty(name)))
  }

  // MARK: ALLOCATION

  /// Creates an ALLOCATION query.
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

  /// Whether the answer to an ALLOCATION query allows buffers with a GstVideoMeta.
  public var acceptsVideoMeta: Bool {
    gst_query_find_allocation_meta(pointer, gst_video_meta_api_get_type(), nil) != 0
  }

  /// Answers an ALLOCATION query with a minimum number of buffers in addition to the owner's own.
  /// Does nothing for caps other than raw video, because sources allocate buffers of the size given
  /// in the answer.
  ///
  /// - Parameters:
  ///   - count: Minimum number of frames.
  ///   - caps: The caps of the frames.
  public func requireFrames(_ count: Int, _ caps: Caps) {
    guard count > 0, let size = VideoInfo(caps)?.size else { return }
    gst_query_add_allocation_pool(
      pointer, nil, guint(clamping: size), guint(clamping: count), 0)
  }

  /// The largest minimum number of buffers in the answer to an ALLOCATION query.
  public var requiredBufferCount: Int {
    (0..<gst_query_get_n_allocation_pools(pointer)).map { index in
      var least: guint = 0
      gst_query_parse_nth_allocation_pool(pointer, index, nil, nil, &least, nil)
      return Int(least)
    }.max() ?? 0
  }

  /// Allows buffers with a GstVideoMeta in the answer to an ALLOCATION query.
  public func offerVideoMeta() {
    gst_query_add_allocation_meta(pointer, gst_video_meta_api_get_type(), nil)
  }

  // MARK: SCHEDULING

  /// Creates a SCHEDULING query.
  public static func scheduling() -> Query { Query(adopting: gst_query_new_scheduling()) }

  /// Whether the answer to a SCHEDULING query offers pull mode with random access.
  public var allowsPulling: Bool {
    gst_query_has_scheduling_mode_with_flags(
      pointer, GST_PAD_MODE_PULL, GST_SCHEDULING_FLAG_SEEKABLE) != 0
  }

  // MARK: DURATION, POSITION, SEEKING, SEGMENT, CONVERT

  /// Creates a DURATION query.
  public static func duration(_ format: Format) -> Query {
    Query(adopting: gst_query_new_duration(format.cValue))
  }

  /// The format of the answer to a DURATION, POSITION, SEEKING, SEGMENT or CONVERT query.
  public var format: Format {
    var format = GST_FORMAT_UNDEFINED
    switch type {
    case GST_QUERY_DURATION: gst_query_parse_duration(pointer, &format, nil)
    case GST_QUERY_POSITION: gst_query_parse_position(pointer, &format, nil)
    case GST_QUERY_SEEKING: gst_query_parse_seeking(pointer, &format, nil, nil, nil)
    case GST_QUERY_SEGMENT: gst_query_parse_segment(pointer, nil, &format, nil, nil)
    case GST_QUERY_CONVERT: gst_query_parse_convert(pointer, nil, nil, &format, nil)
    default: break
    }
    return Format(format)
  }

  /// The answer to a DURATION query, in the query's format; nil if unknown.
  public var duration: UInt64? {
    var duration: gint64 = -1
    gst_query_parse_duration(pointer, nil, &duration)
    return UInt64(exactly: duration)
  }

  /// Answers a DURATION query in time.
  public func answerDuration(_ duration: ClockTime) {
    gst_query_set_duration(pointer, GST_FORMAT_TIME, gint64(clamping: duration.nanoseconds))
  }

  /// Answers a POSITION query with a stream time.
  public func answerPosition(_ position: ClockTime) {
    gst_query_set_position(pointer, GST_FORMAT_TIME, gint64(clamping: position.nanoseconds))
  }

  /// Answers a SEEKING query; `end` is nil if unknown, or if the format is not time.
  public func answerSeeking(_ format: Format, isSeekable: Bool, end: ClockTime?) {
    gst_query_set_seeking(
      pointer, format.cValue, isSeekable ? 1 : 0, 0,
      end.map { gint64(clamping: $0.nanoseconds) } ?? -1)
  }

  /// Answers a SEGMENT query with a segment's start and stop, in stream time.
  public func answerSegment(_ segment: Segment) {
    var copy = segment.segment
    let start = gst_segment_to_stream_time(&copy, copy.format, copy.start)
    let stop =
      copy.stop == .max ? copy.duration : gst_segment_to_stream_time(&copy, copy.format, copy.stop)
    gst_query_set_segment(
      pointer, copy.rate, copy.format, gint64(clamping: start),
      stop == .max ? -1 : gint64(clamping: stop))
  }

  /// The source format, value and target format of a CONVERT query.
  public var conversion: (from: Format, value: Int64, to: Format) {
    var from = GST_FORMAT_UNDEFINED
    var to = GST_FORMAT_UNDEFINED
    var value: gint64 = 0
    gst_query_parse_convert(pointer, &from, &value, &to, nil)
    return (Format(from), Int64(value), Format(to))
  }

  /// Answers a CONVERT query in the target format.
  public func answerConversion(_ result: Int64) {
    let asked = conversion
    gst_query_set_convert(
      pointer, asked.from.cValue, gint64(asked.value), asked.to.cValue, gint64(result))
  }

  /// Creates a SEEKING query.
  public static func seeking(_ format: Format) -> Query {
    Query(adopting: gst_query_new_seeking(format.cValue))
  }

  /// Whether the answer to a SEEKING query is positive.
  public var isSeekable: Bool {
    var seekable: gboolean = 0
    gst_query_parse_seeking(pointer, nil, &seekable, nil, nil)
    return seekable != 0
  }
}

extension Query {
  /// The type of a query, with its parameters.
  public enum Kind {
    /// The caps that the pad supports; `answerCaps` applies the filter.
    case caps
    case acceptCaps(Caps)
    /// The memory to use for these caps; nil if they are not known yet.
    case allocation(Caps?)
    case latency
    case position(Format)
    case duration(Format)
    case seeking(Format)
    case segment(Format)
    case convert
    case scheduling
    case custom(name: String)
    /// Any other.
    case other
  }

  /// The type of the query, with its parameters.
  public var kind: Kind {
    switch type {
    case GST_QUERY_CAPS: return .caps
    case GST_QUERY_ACCEPT_CAPS: return acceptCaps.map { .acceptCaps($0) } ?? .other
    case GST_QUERY_ALLOCATION: return .allocation(allocationCaps)
    case GST_QUERY_LATENCY: return .latency
    case GST_QUERY_POSITION: return .position(format)
    case GST_QUERY_DURATION: return .duration(format)
    case GST_QUERY_SEEKING: return .seeking(format)
    case GST_QUERY_SEGMENT: return .segment(format)
    case GST_QUERY_CONVERT: return .convert
    case GST_QUERY_SCHEDULING: return .scheduling
    case GST_QUERY_CUSTOM:
      guard let structure = gst_query_get_structure(pointer) else { return .other }
      return .custom(name: String(cString: gst_structure_get_name(structure)))
    default: return .other
    }
  }
}

/// The latency of a source.
public struct Latency: Equatable, Sendable {
  /// Whether the source is live and delivers data in real time only.
  public let isLive: Bool
  /// Minimum latency.
  public let least: ClockTime
  /// Maximum latency; nil if unlimited.
  public let most: ClockTime?
}

extension Pad {
  /// The latency upstream of a sink pad; nil if unknown so far.
  public var peerLatency: Latency? {
    let query = Query(adopting: gst_query_new_latency())
    guard queryPeer(query) else { return nil }
    var isLive: gboolean = 0
    var least: GstClockTime = 0
    var most: GstClockTime = 0
    gst_query_parse_latency(query.pointer, &isLive, &least, &most)
    return Latency(
      isLive: isLive != 0, least: ClockTime(nanoseconds: least), most: ClockTime(cValue: most))
  }
}

extension Query {
  /// Adds an element's own latency to the answer to a LATENCY query.
  public func addLatency(_ latency: ClockTime) {
    guard type == GST_QUERY_LATENCY else { return }
    var isLive: gboolean = 0
    var least: GstClockTime = 0
    var most: GstClockTime = 0
    gst_query_parse_latency(pointer, &isLive, &least, &most)
    gst_query_set_latency(
      pointer, isLive, (ClockTime(nanoseconds: least) + latency).cValue,
      ClockTime(cValue: most).map { $0 + latency }.cValue)
  }
}

extension ElementObject {
  /// Posts a LATENCY message, so that the application queries the latency again.
  public func postLatencyChanged() {
    gst_element_post_message(gstElement, gst_message_new_latency(cast(gstElement)))
  }
}
