// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// How a seek is carried out: `GstSeekFlags`.
public struct SeekFlags: OptionSet, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  init(_ flags: GstSeekFlags) { rawValue = flags.rawValue }

  var cValue: GstSeekFlags { GstSeekFlags(rawValue) }

  /// `GST_SEEK_FLAG_FLUSH`: drop what is under way.
  public static let flush = SeekFlags(GST_SEEK_FLAG_FLUSH)
  /// `GST_SEEK_FLAG_ACCURATE`: exactly there, however long that takes.
  public static let accurate = SeekFlags(GST_SEEK_FLAG_ACCURATE)
  /// `GST_SEEK_FLAG_KEY_UNIT`: to a keyframe, which is quicker.
  public static let keyUnit = SeekFlags(GST_SEEK_FLAG_KEY_UNIT)
  /// `GST_SEEK_FLAG_SEGMENT`: end with SEGMENT_DONE in place of EOS.
  public static let segment = SeekFlags(GST_SEEK_FLAG_SEGMENT)
  /// `GST_SEEK_FLAG_TRICKMODE`: quickly rather than completely.
  public static let trickMode = SeekFlags(GST_SEEK_FLAG_TRICKMODE)
  /// `GST_SEEK_FLAG_TRICKMODE_KEY_UNITS`: show keyframes only.
  public static let trickModeKeyUnits = SeekFlags(GST_SEEK_FLAG_TRICKMODE_KEY_UNITS)
  /// `GST_SEEK_FLAG_TRICKMODE_FORWARD_PREDICTED`: leave bidirectionally predicted frames out.
  public static let trickModeForwardPredicted = SeekFlags(
    GST_SEEK_FLAG_TRICKMODE_FORWARD_PREDICTED)
  /// `GST_SEEK_FLAG_TRICKMODE_NO_AUDIO`: play no audio.
  public static let trickModeNoAudio = SeekFlags(GST_SEEK_FLAG_TRICKMODE_NO_AUDIO)
  /// `GST_SEEK_FLAG_SNAP_AFTER`: to the keyframe behind the position.
  public static let snapAfter = SeekFlags(GST_SEEK_FLAG_SNAP_AFTER)
  /// `GST_SEEK_FLAG_SNAP_NEAREST`: to the nearest keyframe.
  public static let snapNearest = SeekFlags(GST_SEEK_FLAG_SNAP_NEAREST)
  /// `GST_SEEK_FLAG_INSTANT_RATE_CHANGE`: only play faster or slower, from now on.
  public static let instantRateChange = SeekFlags(GST_SEEK_FLAG_INSTANT_RATE_CHANGE)
}

/// What a SEEK event asks for.
public struct Seek: Sendable {
  /// Where one end of the segment goes: `GstSeekType`, with its value in the seek's format.
  public enum Bound: Equatable, Sendable {
    /// `GST_SEEK_TYPE_NONE`: where it is.
    case unchanged
    /// `GST_SEEK_TYPE_SET`: there; -1 for no such end.
    case set(Int64)
    /// `GST_SEEK_TYPE_END`: so far behind the end of the stream, usually below 0.
    case end(Int64)

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

  /// How fast to play; below 0 backwards.
  public var rate = 1.0
  public var format = Format.undefined
  public var flags: SeekFlags = []
  public var start = Bound.unchanged
  public var stop = Bound.unchanged

  public init() {}
}

extension Event {
  /// A SEEK event.
  public static func seek(_ seek: Seek) -> Event {
    let (start, stop) = (seek.start.cValue, seek.stop.cValue)
    return Event(
      adopting: gst_event_new_seek(
        seek.rate, seek.format.cValue, seek.flags.cValue, start.type, start.value, stop.type,
        stop.value))
  }

  /// A seek of an upstream element to a place in its bytes, dropping what is under way.
  public static func byteSeek(to offset: UInt64) -> Event {
    var wanted = Seek()
    wanted.format = .bytes
    wanted.flags = [.flush, .accurate]
    wanted.start = .set(Int64(clamping: offset))
    return seek(wanted)
  }

  /// What a SEEK event asks for; nil for other events.
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

/// How far an element is from playing: `GstState`.
public struct State: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  init(_ state: GstState) {
    rawValue = state.rawValue
  }

  var cValue: GstState { GstState(rawValue) }

  /// `GST_STATE_NULL`: it holds nothing.
  public static let null = State(GST_STATE_NULL)
  /// `GST_STATE_READY`: it has what it needs before data: devices, libraries.
  public static let ready = State(GST_STATE_READY)
  /// `GST_STATE_PAUSED`: data flows up to the first buffer at each sink.
  public static let paused = State(GST_STATE_PAUSED)
  /// `GST_STATE_PLAYING`: the clock runs.
  public static let playing = State(GST_STATE_PLAYING)
}
