import CGStreamer
import GStreamer
import StereoVideo

extension PackingLayout {
  /// The layout that the caps fields `multiview-mode` and `multiview-flags` name; nil where they
  /// name none that holds two eyes in a frame.
  init?(multiviewCaps caps: Caps) {
    guard let structure = caps.first else { return nil }
    let flags = structure.flagNames("multiview-flags")
    let arrangement: Arrangement
    switch structure.string("multiview-mode") {
    case "side-by-side": arrangement = .sideBySide
    case "top-bottom": arrangement = .topBottom
    default: return nil
    }
    self.init(
      arrangement, rightViewFirst: flags.contains("right-view-first"),
      halfAspect: flags.contains("half-aspect"))
  }
}

extension PackingLayout {
  /// The caps with `multiview-mode` and `multiview-flags` that say this layout.
  func adding(to caps: Caps) -> Caps {
    let mode =
      switch arrangement {
      case .sideBySide: "side-by-side"
      case .topBottom: "top-bottom"
      case .frameByFrame: "frame-by-frame"
      }
    return caps.withMultiview(mode, rightViewFirst: rightViewFirst, halfAspect: halfAspect)
  }
}

extension Caps {
  /// A copy that says how two eyes are in the frames; `mono` says that they are not.
  func withMultiview(_ mode: String, rightViewFirst: Bool, halfAspect: Bool) -> Caps {
    guard mode != "mono" else { return with(["multiview-mode": "mono"]) }
    var flags: UInt32 = 0
    if rightViewFirst { flags |= GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_VIEW_FIRST.rawValue }
    if halfAspect { flags |= GST_VIDEO_MULTIVIEW_FLAGS_HALF_ASPECT.rawValue }
    let tagged = with(["multiview-mode": .string(mode), "views": 2])
    var value = GValue()
    g_value_init(&value, gst_video_multiview_flagset_get_type())
    defer { g_value_unset(&value) }
    // With any other mask, the caps would not be fixed.
    gst_value_set_flagset(&value, flags, .max)
    gst_caps_set_value(tagged.pointer, "multiview-flags", &value)
    return tagged
  }
}
