// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The arrangement of stereo views in frames: `GstVideoMultiviewMode`, the caps field
/// `multiview-mode`.
public struct MultiviewMode: RawRepresentable, Hashable, Sendable {
  /// The value of `GstVideoMultiviewMode`.
  public let rawValue: Int32

  /// Creates a mode from its value.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  init(_ mode: GstVideoMultiviewMode) {
    rawValue = mode.rawValue
  }

  var cValue: GstVideoMultiviewMode { GstVideoMultiviewMode(rawValue) }

  /// `GST_VIDEO_MULTIVIEW_MODE_NONE`: unspecified.
  public static let none = MultiviewMode(GST_VIDEO_MULTIVIEW_MODE_NONE)
  /// `GST_VIDEO_MULTIVIEW_MODE_MONO`
  public static let mono = MultiviewMode(GST_VIDEO_MULTIVIEW_MODE_MONO)
  /// `GST_VIDEO_MULTIVIEW_MODE_LEFT`
  public static let left = MultiviewMode(GST_VIDEO_MULTIVIEW_MODE_LEFT)
  /// `GST_VIDEO_MULTIVIEW_MODE_RIGHT`
  public static let right = MultiviewMode(GST_VIDEO_MULTIVIEW_MODE_RIGHT)
  /// `GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE`
  public static let sideBySide = MultiviewMode(GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE)
  /// `GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM`
  public static let topBottom = MultiviewMode(GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM)
  /// `GST_VIDEO_MULTIVIEW_MODE_ROW_INTERLEAVED`
  public static let rowInterleaved = MultiviewMode(GST_VIDEO_MULTIVIEW_MODE_ROW_INTERLEAVED)
  /// `GST_VIDEO_MULTIVIEW_MODE_FRAME_BY_FRAME`
  public static let frameByFrame = MultiviewMode(GST_VIDEO_MULTIVIEW_MODE_FRAME_BY_FRAME)

  /// The value of the caps field; nil for `none`.
  public var capsName: String? {
    gst_video_multiview_mode_to_caps_string(cValue).map { String(cString: $0) }
  }
}

/// Further properties of the views in a frame: `GstVideoMultiviewFlags`, the caps field
/// `multiview-flags`.
public struct MultiviewFlags: OptionSet, Sendable, FlagsType {
  /// The bits, as in `GstVideoMultiviewFlags`.
  public let rawValue: UInt32

  /// Creates flags from their bits.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// The right view is on the left, at the top, or first.
  public static let rightViewFirst = MultiviewFlags(
    rawValue: GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_VIEW_FIRST.rawValue)
  /// Each view is squeezed to half its size in the packing direction.
  public static let halfAspect = MultiviewFlags(
    rawValue: GST_VIDEO_MULTIVIEW_FLAGS_HALF_ASPECT.rawValue)
}

extension MultiviewFlags: RegisteredType {
  static var registeredType: GType { gst_video_multiview_flags_get_type() }
}

/// The multiview modes that an application can specify if the stream does not:
/// `GstVideoMultiviewFramePacking`.
public enum MultiviewFramePacking: Int32, EnumType {
  case none = -1
  case mono = 0
  case left = 1
  case right = 2
  case sideBySide = 3
  case sideBySideQuincunx = 4
  case columnInterleaved = 5
  case rowInterleaved = 6
  case topBottom = 7
  case checkerboard = 8

  /// The name of the GType.
  public static let typeName = "GstVideoMultiviewFramePacking"
  /// The name of the mode in caps, for both.
  public var names: (nick: String, description: String) {
    let name = mode.capsName ?? "none"
    return (name, name)
  }

  /// The corresponding mode.
  public var mode: MultiviewMode { MultiviewMode(rawValue: rawValue) }
}

extension MultiviewFramePacking: RegisteredType {
  static var registeredType: GType { gst_video_multiview_frame_packing_get_type() }
}

extension VideoInfo {
  /// Whether frames of this aspect ratio, packed as `mode`, more likely contain squeezed views than
  /// full-size ones.
  public func isLikelyHalfAspect(_ mode: MultiviewMode) -> Bool {
    gst_video_multiview_guess_half_aspect(
      mode.cValue, guint(clamping: info.width), guint(clamping: info.height),
      guint(clamping: info.par_n), guint(clamping: info.par_d)) != 0
  }
}

extension Caps {
  /// Returns a copy with the arrangement of two views in the frames; `mono` stands for a single
  /// view.
  public func withMultiview(_ mode: MultiviewMode, _ flags: MultiviewFlags = []) -> Caps {
    guard mode != .mono, let name = mode.capsName else {
      return with(["multiview-mode": "mono"], removing: ["multiview-flags", "views"])
    }
    let tagged = with(["multiview-mode": .string(name), "views": 2])
    var value = GValue()
    g_value_init(&value, gst_video_multiview_flagset_get_type())
    defer { g_value_unset(&value) }
    // With any other mask, the caps would not be fixed.
    gst_value_set_flagset(&value, flags.rawValue, .max)
    gst_caps_set_value(tagged.pointer, "multiview-flags", &value)
    return tagged
  }
}
