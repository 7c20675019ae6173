// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// How the samples of raw video are laid out: `GstVideoFormat`, the caps field `format`.
public struct VideoFormat: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// The format of a name such as `I420`; ``unknown`` where there is none of that name.
  public init(name: String) {
    self.init(cgst_video_format_from_string(name))
  }

  init(_ format: GstVideoFormat) {
    rawValue = format.rawValue
  }

  var cValue: GstVideoFormat { GstVideoFormat(rawValue) }

  /// As the caps field says it; `UNKNOWN` where GStreamer has no such format.
  public var name: String {
    // GStreamer has a critical for the format that is unknown.
    guard self != .unknown, let name = gst_video_format_to_string(cValue) else { return "UNKNOWN" }
    return String(cString: name)
  }

  /// Whether its pictures lie in planes: those of coded video and of an unknown format do not.
  public var hasPlanes: Bool { gst_video_format_get_info(cValue).map { $0.pointee.n_planes > 0 } ?? false }

  /// `GST_VIDEO_FORMAT_UNKNOWN`
  public static let unknown = VideoFormat(GST_VIDEO_FORMAT_UNKNOWN)
}
