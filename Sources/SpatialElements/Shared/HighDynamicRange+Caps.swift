import CGStreamer
import GStreamer
import StereoVideo

extension MasteringDisplayColourVolume {
  /// The caps field `mastering-display-info`; nil where it is missing or no such thing.
  init?(_ caps: Caps) {
    var info = GstVideoMasteringDisplayInfo()
    guard gst_video_mastering_display_info_from_caps(&info, caps.pointer) != 0 else { return nil }
    func point(_ c: GstVideoMasteringDisplayInfoCoordinates) -> Chromaticity {
      Chromaticity(x: c.x, y: c.y)
    }
    let (red, green, blue) = info.display_primaries
    self.init(
      green: point(green), blue: point(blue), red: point(red), whitePoint: point(info.white_point),
      maximumLuminance: info.max_display_mastering_luminance,
      minimumLuminance: info.min_display_mastering_luminance)
  }

  func add(to caps: Caps) {
    func point(_ c: Chromaticity) -> GstVideoMasteringDisplayInfoCoordinates {
      GstVideoMasteringDisplayInfoCoordinates(x: c.x, y: c.y)
    }
    var info = GstVideoMasteringDisplayInfo()
    info.display_primaries = (point(red), point(green), point(blue))
    info.white_point = point(whitePoint)
    info.max_display_mastering_luminance = maximumLuminance
    info.min_display_mastering_luminance = minimumLuminance
    gst_video_mastering_display_info_add_to_caps(&info, caps.pointer)
  }
}

extension ContentLightLevel {
  /// The caps field `content-light-level`; nil where it is missing or no such thing.
  init?(_ caps: Caps) {
    var level = GstVideoContentLightLevel()
    guard gst_video_content_light_level_from_caps(&level, caps.pointer) != 0 else { return nil }
    self.init(
      maximum: level.max_content_light_level,
      maximumFrameAverage: level.max_frame_average_light_level)
  }

  func add(to caps: Caps) {
    var level = GstVideoContentLightLevel()
    level.max_content_light_level = maximum
    level.max_frame_average_light_level = maximumFrameAverage
    gst_video_content_light_level_add_to_caps(&level, caps.pointer)
  }
}
