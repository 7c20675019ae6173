import CGStreamer
import GStreamer
import StereoEncoder

extension VideoSignal {
  /// What the caps say of colour, chroma siting and HDR10.
  init(_ info: VideoInfo, _ caps: Caps) {
    self.init()
    let colour = info.colorimetry
    colourPrimaries = Self.known(Int(gst_video_color_primaries_to_iso(colour.primaries)))
    transferCharacteristics = Self.known(Int(gst_video_transfer_function_to_iso(colour.transfer)))
    matrixCoefficients =
      colour.matrix == GST_VIDEO_COLOR_MATRIX_RGB
      ? 0 : Self.known(Int(gst_video_color_matrix_to_iso(colour.matrix)))
    switch colour.range {
    case GST_VIDEO_COLOR_RANGE_0_255: isFullRange = true
    case GST_VIDEO_COLOR_RANGE_16_235: isFullRange = false
    default: break
    }
    chromaLocation = Self.chromaLocation(info.info.chroma_site)
    masteringDisplay = MasteringDisplay(caps)
    contentLight = ContentLight(caps)
  }

  /// nil for "unspecified" and for what H.273 reserves.
  private static func known(_ number: Int) -> Int? {
    number == 0 || number == 2 || number == 3 ? nil : number
  }

  /// H.265 (E.3.1) chroma_sample_loc_type.
  private static func chromaLocation(_ site: GstVideoChromaSite) -> Int? {
    switch site {
    case GST_VIDEO_CHROMA_SITE_MPEG2: 0
    case GST_VIDEO_CHROMA_SITE_JPEG: 1
    case GST_VIDEO_CHROMA_SITE_COSITED: 2
    default: nil
    }
  }
}

extension MasteringDisplay {
  /// The caps field `mastering-display-info`; nil where it is missing or no such thing.
  init?(_ caps: Caps) {
    var info = GstVideoMasteringDisplayInfo()
    guard gst_video_mastering_display_info_from_caps(&info, caps.pointer) != 0 else { return nil }
    let primaries = info.display_primaries
    self.init(
      red: Chromaticity(x: primaries.0.x, y: primaries.0.y),
      green: Chromaticity(x: primaries.1.x, y: primaries.1.y),
      blue: Chromaticity(x: primaries.2.x, y: primaries.2.y),
      whitePoint: Chromaticity(x: info.white_point.x, y: info.white_point.y),
      maximumLuminance: info.max_display_mastering_luminance,
      minimumLuminance: info.min_display_mastering_luminance)
  }
}

extension ContentLight {
  /// The caps field `content-light-level`; nil where it is missing or no such thing.
  init?(_ caps: Caps) {
    var level = GstVideoContentLightLevel()
    guard gst_video_content_light_level_from_caps(&level, caps.pointer) != 0 else { return nil }
    self.init(
      maximum: level.max_content_light_level,
      maximumFrameAverage: level.max_frame_average_light_level)
  }
}
