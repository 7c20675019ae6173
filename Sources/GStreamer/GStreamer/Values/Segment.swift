// SPDX-License-Identifier: MPL-2.0

package import CGStreamer
internal import StereoVideo

/// The part of a stream to play and the mapping of its timestamps to running and stream time:
/// `GstSegment`.
public struct Segment: @unchecked Sendable {
  package var segment: GstSegment

  /// Creates a segment of a whole stream at normal rate.
  public init(_ format: Format = .time) {
    segment = GstSegment()
    gst_segment_init(&segment, format.cValue)
  }

  /// Creates a segment in bytes that begins at an offset.
  public init(startInBytes offset: UInt64) {
    self.init(.bytes)
    segment.start = guint64(offset)
  }

  package init(_ segment: GstSegment) {
    self.segment = segment
  }

  /// The unit of positions.
  public var format: Format { Format(segment.format) }
  /// Whether positions are times. Those that are declared as times have no meaning otherwise.
  public var isInTime: Bool { segment.format == GST_FORMAT_TIME }
  /// The byte offset of the start; nil unless the segment is in bytes.
  public var startInBytes: UInt64? { format == .bytes ? UInt64(segment.start) : nil }

  /// The current position; nil if there is none.
  public var position: ClockTime? {
    get { ClockTime(cValue: segment.position) }
    set { segment.position = newValue.cValue }
  }

  /// Timestamp of the start.
  public var start: ClockTime {
    get { ClockTime(nanoseconds: segment.start) }
    set { segment.start = newValue.cValue }
  }

  /// Timestamp of the end, exclusive; nil for the end of the stream.
  public var stop: ClockTime? {
    get { ClockTime(cValue: segment.stop) }
    set { segment.stop = newValue.cValue }
  }

  /// Stream time of `start`; nil if timestamps have no stream time.
  public var time: ClockTime? {
    get { ClockTime(cValue: segment.time) }
    set { segment.time = newValue.cValue }
  }

  /// Running time of the start.
  public var base: ClockTime {
    get { ClockTime(nanoseconds: segment.base) }
    set { segment.base = newValue.cValue }
  }

  /// Duration of the whole stream; nil if unknown.
  public var duration: ClockTime? {
    get { ClockTime(cValue: segment.duration) }
    set { segment.duration = newValue.cValue }
  }

  /// Playback rate; negative is backwards, never 0.
  public var rate: Double {
    get { segment.rate }
    set { segment.rate = newValue }
  }

  /// Amount of the segment that has already been played: `offset`.
  public var offset: ClockTime {
    get { ClockTime(nanoseconds: segment.offset) }
    set { segment.offset = newValue.cValue }
  }

  /// Options such as trick modes.
  public var flags: SegmentFlags {
    get { SegmentFlags(rawValue: segment.flags.rawValue) }
    set { segment.flags = GstSegmentFlags(rawValue: newValue.rawValue) }
  }

  /// Rate that has already been applied to the stream.
  public var appliedRate: Double {
    get { segment.applied_rate }
    set { segment.applied_rate = newValue }
  }

  /// Whether any part of a buffer lies inside the segment; true if the segment is not in time.
  public func overlaps(_ timestamp: ClockTime, duration: ClockTime?) -> Bool {
    guard isInTime else { return true }
    var segment = segment
    let stop = duration.map { timestamp + $0 }
    return gst_segment_clip(
      &segment, GST_FORMAT_TIME, timestamp.cValue, stop.cValue, nil, nil) != 0
  }

  /// Whether both segments map timestamps in the same way. Current positions are ignored.
  public func covers(_ other: Segment) -> Bool {
    var (one, other) = (segment, other.segment)
    (one.position, other.position) = (0, 0)
    return gst_segment_is_equal(&one, &other) != 0
  }

  /// Returns the running time of a timestamp; nil outside the segment, or if it is not in time.
  public func runningTime(_ timestamp: ClockTime) -> ClockTime? {
    guard isInTime else { return nil }
    var segment = segment
    return ClockTime(
      cValue: gst_segment_to_running_time(&segment, GST_FORMAT_TIME, timestamp.cValue))
  }

  /// Returns the running time of a timestamp, which may be negative, also outside the segment; nil
  /// if there is none.
  public func signedRunningTime(_ timestamp: ClockTime) -> RunningTime? {
    guard isInTime else { return nil }
    var segment = segment
    var running: guint64 = 0
    let sign = gst_segment_to_running_time_full(
      &segment, GST_FORMAT_TIME, timestamp.cValue, &running)
    guard sign != 0, let value = Int64(exactly: running) else { return nil }
    return RunningTime(nanoseconds: sign > 0 ? value : -value)
  }

  /// Returns the stream time of a timestamp; nil outside the segment.
  public func streamTime(_ timestamp: ClockTime) -> ClockTime? {
    guard isInTime else { return nil }
    var segment = segment
    return ClockTime(
      cValue: gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, timestamp.cValue))
  }

  /// Returns the stream time of a timestamp, also outside the segment; 0 if that would be negative,
  /// nil if there is none.
  public func unclippedStreamTime(_ timestamp: ClockTime) -> ClockTime? {
    guard isInTime else { return nil }
    var segment = segment
    var time: guint64 = 0
    let sign = gst_segment_to_stream_time_full(
      &segment, GST_FORMAT_TIME, timestamp.cValue, &time)
    guard sign != 0 else { return nil }
    return sign > 0 ? ClockTime(cValue: time) : 0
  }
}

/// The flags of a segment: `GstSegmentFlags`. Flags that come from a seek have the same bits as in
/// ``SeekFlags``.
public struct SegmentFlags: OptionSet, Sendable {
  /// The bits, as in `GstSegmentFlags`.
  public let rawValue: UInt32

  /// Creates flags from their bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Creates the flags of the segment that results from a seek.
  public init(_ flags: SeekFlags) {
    rawValue =
      flags.rawValue
      & Self([
        .reset, .trickMode, .segment, .trickModeKeyUnits, .trickModeForwardPredicted,
        .trickModeNoAudio,
      ]).rawValue
  }

  private init(_ flags: GstSegmentFlags) { rawValue = flags.rawValue }

  /// `GST_SEGMENT_FLAG_RESET`: running time starts again at 0.
  public static let reset = SegmentFlags(GST_SEGMENT_FLAG_RESET)
  /// `GST_SEGMENT_FLAG_TRICKMODE`: frames may be skipped.
  public static let trickMode = SegmentFlags(GST_SEGMENT_FLAG_TRICKMODE)
  /// `GST_SEGMENT_FLAG_SEGMENT`: it ends with SEGMENT_DONE instead of EOS.
  public static let segment = SegmentFlags(GST_SEGMENT_FLAG_SEGMENT)
  /// `GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS`: keyframes only.
  public static let trickModeKeyUnits = SegmentFlags(GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS)
  /// `GST_SEGMENT_FLAG_TRICKMODE_FORWARD_PREDICTED`: no bidirectionally predicted frames.
  public static let trickModeForwardPredicted = SegmentFlags(
    GST_SEGMENT_FLAG_TRICKMODE_FORWARD_PREDICTED)
  /// `GST_SEGMENT_FLAG_TRICKMODE_NO_AUDIO`: no audio.
  public static let trickModeNoAudio = SegmentFlags(GST_SEGMENT_FLAG_TRICKMODE_NO_AUDIO)
}

/// The unit of positions and durations: `GstFormat`.
public struct Format: RawRepresentable, Hashable, Sendable {
  /// The value of `GstFormat`.
  public let rawValue: UInt32

  /// Creates a format from its value.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  init(_ format: GstFormat) {
    rawValue = format.rawValue
  }

  var cValue: GstFormat { GstFormat(rawValue) }

  /// `GST_FORMAT_UNDEFINED`
  public static let undefined = Format(GST_FORMAT_UNDEFINED)
  /// `GST_FORMAT_DEFAULT`: the stream's own unit, such as frames.
  public static let stream = Format(GST_FORMAT_DEFAULT)
  /// `GST_FORMAT_BYTES`
  public static let bytes = Format(GST_FORMAT_BYTES)
  /// `GST_FORMAT_TIME`: nanoseconds.
  public static let time = Format(GST_FORMAT_TIME)
}
