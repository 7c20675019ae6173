import CGStreamer
import GStreamer
import MoviePlayer

// A segment and a seek, in GStreamer's words and in the player's.

extension PlaybackSegment {
  init(_ segment: Segment) {
    self.init()
    let given = segment.segment
    flags = Flags(given.flags.rawValue)
    (rate, appliedRate) = (given.rate, given.applied_rate)
    (start, stop) = (segment.start, segment.stop)
    // What has no stream time begins with it.
    time = given.time == .max ? segment.start : segment.time
    (base, offset) = (segment.base, ClockTime(given.offset))
    (position, duration) = (segment.position ?? segment.start, segment.duration)
  }
}

extension Segment {
  init(_ other: PlaybackSegment) {
    self.init(GST_FORMAT_TIME)
    segment.flags = GstSegmentFlags(rawValue: other.flags.gstFlags)
    (segment.rate, segment.applied_rate) = (other.rate, other.appliedRate)
    (start, stop, time) = (other.start, other.stop, other.time)
    base = other.base
    segment.offset = guint64(other.offset)
    (position, duration) = (other.position, other.duration)
  }
}

extension PlaybackSegment.Flags {
  /// Each flag and the bit that GStreamer has for it, the same in `GstSeekFlags`.
  private static let table: [(Self, GstSegmentFlags)] = [
    (.reset, GST_SEGMENT_FLAG_RESET),
    (.trickMode, GST_SEGMENT_FLAG_TRICKMODE),
    (.endsWithSegmentDone, GST_SEGMENT_FLAG_SEGMENT),
    (.keyUnitsOnly, GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS),
    (.forwardPredicted, GST_SEGMENT_FLAG_TRICKMODE_FORWARD_PREDICTED),
    (.withoutAudio, GST_SEGMENT_FLAG_TRICKMODE_NO_AUDIO),
  ]

  /// By the bits of `GstSegmentFlags`, or of `GstSeekFlags`.
  fileprivate init(_ bits: UInt32) {
    self = []
    for (flag, other) in Self.table where bits & other.rawValue != 0 { insert(flag) }
  }

  fileprivate var gstFlags: UInt32 {
    Self.table.reduce(0) { $0 | (contains($1.0) ? $1.1.rawValue : 0) }
  }
}

extension SeekRequest {
  /// Nil for a seek of another kind than to a time.
  init?(_ seek: Seek) {
    guard seek.format == GST_FORMAT_TIME, !seek.has(GST_SEEK_FLAG_INSTANT_RATE_CHANGE) else {
      return nil
    }
    self.init(
      rate: seek.rate, start: Self.bound(seek.startType, seek.start),
      stop: Self.bound(seek.stopType, seek.stop))
    flags = PlaybackSegment.Flags(seek.flags.rawValue)
    guard seek.has(GST_SEEK_FLAG_KEY_UNIT), !seek.has(GST_SEEK_FLAG_ACCURATE) else { return }
    precision = .keyUnit(
      seek.has(GST_SEEK_FLAG_SNAP_NEAREST)
        ? .nearest : seek.has(GST_SEEK_FLAG_SNAP_AFTER) ? .after : .before)
  }

  private static func bound(_ type: GstSeekType, _ value: gint64) -> Bound {
    switch type {
    case GST_SEEK_TYPE_SET: .at(ClockTime(exactly: value))
    case GST_SEEK_TYPE_END: .fromEnd(Int64(value))
    default: .unchanged
    }
  }
}
