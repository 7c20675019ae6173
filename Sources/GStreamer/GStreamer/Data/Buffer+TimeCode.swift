// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The number of a frame in hours, minutes, seconds and frames, as productions count them.
public struct TimeCode: Equatable, Sendable {
  /// Frames a second.
  public let frameRate: Fraction
  /// Numbers are left out so that time codes keep to the clock.
  public let isDropFrame: Bool
  /// Frames since midnight.
  public let frame: UInt64
}

extension BufferAccess where Self: ~Copyable {
  /// The frame's time code, of its GstVideoTimeCodeMeta; nil where it has none that is valid.
  public var timeCode: TimeCode? {
    guard let meta = gst_buffer_get_meta(pointer, gst_video_time_code_meta_api_get_type()) else {
      return nil
    }
    return UnsafeMutableRawPointer(meta).withMemoryRebound(
      to: GstVideoTimeCodeMeta.self, capacity: 1
    ) { meta in
      let config = meta.pointee.tc.config
      guard config.fps_n > 0, config.fps_d > 0, gst_video_time_code_is_valid(&meta.pointee.tc) != 0
      else { return nil }
      return TimeCode(
        frameRate: Fraction(Int32(clamping: config.fps_n), Int32(clamping: config.fps_d)),
        isDropFrame: config.flags.rawValue & GST_VIDEO_TIME_CODE_FLAGS_DROP_FRAME.rawValue != 0,
        frame: UInt64(gst_video_time_code_frames_since_daily_jam(&meta.pointee.tc)))
    }
  }
}
