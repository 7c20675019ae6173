// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
internal import StereoVideo

/// The flags of a seek: `GstSeekFlags`.
public struct SeekFlags: OptionSet, Sendable {
  /// The bits, as in `GstSeekFlags`.
  public let rawValue: UInt32

  /// Creates flags from their bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  init(_ flags: GstSeekFlags) { rawValue = flags.rawValue }

  var cValue: GstSeekFlags { GstSeekFlags(rawValue) }

  /// `GST_SEEK_FLAG_FLUSH`: flush the pipeline.
  public static let flush = SeekFlags(GST_SEEK_FLAG_FLUSH)
  /// `GST_SEEK_FLAG_ACCURATE`: go exactly to the position, even if that is slow.
  public static let accurate = SeekFlags(GST_SEEK_FLAG_ACCURATE)
  /// `GST_SEEK_FLAG_KEY_UNIT`: go to a keyframe, which is faster.
  public static let keyUnit = SeekFlags(GST_SEEK_FLAG_KEY_UNIT)
  /// `GST_SEEK_FLAG_SEGMENT`: end with SEGMENT_DONE instead of EOS.
  public static let segment = SeekFlags(GST_SEEK_FLAG_SEGMENT)
  /// `GST_SEEK_FLAG_TRICKMODE`: frames may be skipped.
  public static let trickMode = SeekFlags(GST_SEEK_FLAG_TRICKMODE)
  /// `GST_SEEK_FLAG_TRICKMODE_KEY_UNITS`: decode keyframes only.
  public static let trickModeKeyUnits = SeekFlags(GST_SEEK_FLAG_TRICKMODE_KEY_UNITS)
  /// `GST_SEEK_FLAG_TRICKMODE_FORWARD_PREDICTED`: skip bidirectionally predicted frames.
  public static let trickModeForwardPredicted = SeekFlags(
    GST_SEEK_FLAG_TRICKMODE_FORWARD_PREDICTED)
  /// `GST_SEEK_FLAG_TRICKMODE_NO_AUDIO`: do not decode audio.
  public static let trickModeNoAudio = SeekFlags(GST_SEEK_FLAG_TRICKMODE_NO_AUDIO)
  /// `GST_SEEK_FLAG_SNAP_AFTER`: go to the keyframe at or after the position.
  public static let snapAfter = SeekFlags(GST_SEEK_FLAG_SNAP_AFTER)
  /// `GST_SEEK_FLAG_SNAP_NEAREST`: go to the nearest keyframe.
  public static let snapNearest = SeekFlags(GST_SEEK_FLAG_SNAP_NEAREST)
  /// `GST_SEEK_FLAG_INSTANT_RATE_CHANGE`: change only the rate, immediately.
  public static let instantRateChange = SeekFlags(GST_SEEK_FLAG_INSTANT_RATE_CHANGE)
}

/// The parameters of a SEEK event.
public struct Seek: Sendable {
  /// The new value of one end of the segment: `GstSeekType`, with a position in the seek's format.
  public enum Bound: Equatable, Sendable {
    /// `GST_SEEK_TYPE_NONE`: leave it unchanged.
    case unchanged
    /// `GST_SEEK_TYPE_SET`: an absolute position; -1 for none.
    case set(Int64)
    /// `GST_SEEK_TYPE_END`: relative to the end of the stream; usually negative.
    case end(Int64)

    /// An absolute position in time.
    public static func at(_ time: ClockTime) -> Bound {
      .set(RunningTime(clamping: time).nanoseconds)
    }

    init(_ type: GstSeekType, _ value: gint64) {
      self =
        switch type {
        case GST_SEEK_TYPE_SET: .set(Int64(value))
        case GST_SEEK_TYPE_END: .end(Int64(value))
        default: .unchanged
        }
    }

    var cValue: (type: GstSeekType, value: gint64) {
      switch self {
      case .unchanged: (GST_SEEK_TYPE_NONE, -1)
      case .set(let value): (GST_SEEK_TYPE_SET, gint64(value))
      case .end(let value): (GST_SEEK_TYPE_END, gint64(value))
      }
    }
  }

  /// Playback rate; negative plays backwards.
  public var rate = 1.0
  /// Unit of `start` and `stop`.
  public var format = Format.undefined
  /// Options such as flushing and precision.
  public var flags: SeekFlags = []
  /// Start of the segment to play.
  public var start = Bound.unchanged
  /// End of the segment to play.
  public var stop = Bound.unchanged

  /// Creates a seek that changes nothing.
  public init() {}
}

extension Event {
  /// Creates a SEEK event.
  public static func seek(_ seek: Seek) -> Event {
    let (start, stop) = (seek.start.cValue, seek.stop.cValue)
    return Event(
      adopting: gst_event_new_seek(
        seek.rate, seek.format.cValue, seek.flags.cValue, start.type, start.value, stop.type,
        stop.value))
  }

  /// Creates a flushing seek of an upstream element to a byte offset.
  public static func byteSeek(to offset: UInt64) -> Event {
    var wanted = Seek()
    wanted.format = .bytes
    wanted.flags = [.flush, .accurate]
    wanted.start = .set(Int64(clamping: offset))
    return seek(wanted)
  }

  /// The parameters of a SEEK event; nil for other events.
  public var seek: Seek? {
    guard type == GST_EVENT_SEEK else { return nil }
    var seek = Seek()
    var (format, flags) = (GST_FORMAT_UNDEFINED, GST_SEEK_FLAG_NONE)
    var (startType, stopType) = (GST_SEEK_TYPE_NONE, GST_SEEK_TYPE_NONE)
    var (start, stop): (gint64, gint64) = (-1, -1)
    gst_event_parse_seek(
      pointer, &seek.rate, &format, &flags, &startType, &start, &stopType, &stop)
    seek.format = Format(format)
    seek.flags = SeekFlags(flags)
    (seek.start, seek.stop) = (Seek.Bound(startType, start), Seek.Bound(stopType, stop))
    return seek
  }
}

/// The state of an element: `GstState`.
public struct State: RawRepresentable, Hashable, Sendable {
  /// The value of `GstState`.
  public let rawValue: UInt32

  /// Creates a state from its value.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  init(_ state: GstState) {
    rawValue = state.rawValue
  }

  var cValue: GstState { GstState(rawValue) }

  /// `GST_STATE_NULL`: no resources are allocated.
  public static let null = State(GST_STATE_NULL)
  /// `GST_STATE_READY`: resources that do not depend on the stream are allocated, such as devices
  /// and libraries.
  public static let ready = State(GST_STATE_READY)
  /// `GST_STATE_PAUSED`: data flows up to the first buffer at each sink.
  public static let paused = State(GST_STATE_PAUSED)
  /// `GST_STATE_PLAYING`: the clock runs.
  public static let playing = State(GST_STATE_PLAYING)
}
