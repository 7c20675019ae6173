// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// The part of a stream that is played, and how its timestamps become running time.
public struct Segment: @unchecked Sendable {
  package var segment: GstSegment

  public init(_ format: Format = .time) {
    segment = GstSegment()
    gst_segment_init(&segment, format.cValue)
  }

  package init(_ segment: GstSegment) {
    self.segment = segment
  }

  public var format: Format { Format(segment.format) }
  /// Positions are times, in nanoseconds.
  public var isInTime: Bool { segment.format == GST_FORMAT_TIME }

  /// The position in nanoseconds; nil where there is none.
  public var position: ClockTime? {
    get { ClockTime(cValue: segment.position) }
    set { segment.position = newValue.cValue }
  }

  /// The timestamp that the segment begins with.
  public var start: ClockTime {
    get { ClockTime(segment.start) }
    set { segment.start = guint64(newValue) }
  }

  /// The timestamp that the segment ends before; nil where it goes on to the end of the stream.
  public var stop: ClockTime? {
    get { ClockTime(cValue: segment.stop) }
    set { segment.stop = newValue.cValue }
  }

  /// The stream time of `start`.
  public var time: ClockTime {
    get { ClockTime(segment.time) }
    set { segment.time = guint64(newValue) }
  }

  /// The running time that the segment begins with.
  public var base: ClockTime {
    get { ClockTime(segment.base) }
    set { segment.base = guint64(newValue) }
  }

  /// The length of the whole stream; nil where it is not known.
  public var duration: ClockTime? {
    get { ClockTime(cValue: segment.duration) }
    set { segment.duration = newValue.cValue }
  }

  /// How fast the segment is played; below 0 backwards, never 0.
  public var rate: Double {
    get { segment.rate }
    set { segment.rate = newValue }
  }

  /// How much of the segment's running time has been played already: `offset`.
  public var offset: ClockTime {
    get { ClockTime(segment.offset) }
    set { segment.offset = guint64(newValue) }
  }

  /// Whether timestamps have a stream time: `time` is set.
  public var hasStreamTime: Bool { segment.time != .max }

  public var flags: SegmentFlags {
    get { SegmentFlags(rawValue: segment.flags.rawValue) }
    set { segment.flags = GstSegmentFlags(rawValue: newValue.rawValue) }
  }

  /// How much faster than normal the stream was made before it came here.
  public var appliedRate: Double {
    get { segment.applied_rate }
    set { segment.applied_rate = newValue }
  }

  /// Whether anything of what begins at `timestamp` lies inside the segment; true where that is not
  /// in time.
  public func overlaps(_ timestamp: ClockTime, duration: ClockTime?) -> Bool {
    guard isInTime else { return true }
    var segment = segment
    let end = duration.map { timestamp.addingReportingOverflow($0) }
    let stop = end.flatMap { $0.overflow ? nil : $0.partialValue }
    return gst_segment_clip(
      &segment, GST_FORMAT_TIME, guint64(timestamp), stop.cValue, nil, nil) != 0
  }

  /// Whether the other one says the same of every timestamp. How far playing has come is not
  /// compared.
  public func covers(_ other: Segment) -> Bool {
    var (one, other) = (segment, other.segment)
    (one.position, other.position) = (0, 0)
    return gst_segment_is_equal(&one, &other) != 0
  }

  /// The running time of a timestamp, or nil outside the segment and where it is not in time.
  public func runningTime(_ timestamp: ClockTime) -> ClockTime? {
    guard isInTime else { return nil }
    var segment = segment
    return ClockTime(
      cValue: gst_segment_to_running_time(&segment, GST_FORMAT_TIME, guint64(timestamp)))
  }

  /// The running time of a timestamp as a signed number, also outside the segment; nil if there
  /// is none.
  public func signedRunningTime(_ timestamp: ClockTime) -> Int64? {
    guard isInTime else { return nil }
    var segment = segment
    var running: guint64 = 0
    let sign = gst_segment_to_running_time_full(
      &segment, GST_FORMAT_TIME, guint64(timestamp), &running)
    guard sign != 0, running != .max, let value = Int64(exactly: running) else { return nil }
    return sign > 0 ? value : -value
  }

  /// The stream time of a timestamp, or nil outside the segment.
  public func streamTime(_ timestamp: ClockTime) -> ClockTime? {
    guard isInTime else { return nil }
    var segment = segment
    return ClockTime(
      cValue: gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, guint64(timestamp)))
  }

  /// The stream time of a timestamp also where that lies before or behind the segment; 0 for what
  /// would be before the stream's beginning, nil if there is none.
  public func unclippedStreamTime(_ timestamp: ClockTime) -> ClockTime? {
    guard isInTime else { return nil }
    var segment = segment
    var time: guint64 = 0
    let sign = gst_segment_to_stream_time_full(
      &segment, GST_FORMAT_TIME, guint64(timestamp), &time)
    guard sign != 0 else { return nil }
    return sign > 0 ? ClockTime(cValue: time) : 0
  }
}

/// How a segment is played: `GstSegmentFlags`. Those that a seek asks for have the bits of
/// ``SeekFlags``.
public struct SegmentFlags: OptionSet, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Those of a seek that the segment it makes has too.
  public init(_ flags: SeekFlags) {
    rawValue =
      flags.rawValue
      & Self([
        .reset, .trickMode, .segment, .trickModeKeyUnits, .trickModeForwardPredicted,
        .trickModeNoAudio,
      ]).rawValue
  }

  private init(_ flags: GstSegmentFlags) { rawValue = flags.rawValue }

  /// `GST_SEGMENT_FLAG_RESET`: running time begins anew.
  public static let reset = SegmentFlags(GST_SEGMENT_FLAG_RESET)
  /// `GST_SEGMENT_FLAG_TRICKMODE`: quickly rather than completely.
  public static let trickMode = SegmentFlags(GST_SEGMENT_FLAG_TRICKMODE)
  /// `GST_SEGMENT_FLAG_SEGMENT`: it ends with SEGMENT_DONE in place of EOS.
  public static let segment = SegmentFlags(GST_SEGMENT_FLAG_SEGMENT)
  /// `GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS`: keyframes only.
  public static let trickModeKeyUnits = SegmentFlags(GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS)
  /// `GST_SEGMENT_FLAG_TRICKMODE_FORWARD_PREDICTED`: no bidirectionally predicted frames.
  public static let trickModeForwardPredicted = SegmentFlags(
    GST_SEGMENT_FLAG_TRICKMODE_FORWARD_PREDICTED)
  /// `GST_SEGMENT_FLAG_TRICKMODE_NO_AUDIO`: no audio.
  public static let trickModeNoAudio = SegmentFlags(GST_SEGMENT_FLAG_TRICKMODE_NO_AUDIO)
}

/// What positions and durations are counted in: `GstFormat`.
public struct Format: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  init(_ format: GstFormat) {
    rawValue = format.rawValue
  }

  var cValue: GstFormat { GstFormat(rawValue) }

  /// `GST_FORMAT_UNDEFINED`
  public static let undefined = Format(GST_FORMAT_UNDEFINED)
  /// `GST_FORMAT_DEFAULT`: what the stream itself counts in, such as frames.
  public static let stream = Format(GST_FORMAT_DEFAULT)
  /// `GST_FORMAT_BYTES`
  public static let bytes = Format(GST_FORMAT_BYTES)
  /// `GST_FORMAT_TIME`: nanoseconds.
  public static let time = Format(GST_FORMAT_TIME)
}
