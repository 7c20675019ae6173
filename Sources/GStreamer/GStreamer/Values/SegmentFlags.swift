// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

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
