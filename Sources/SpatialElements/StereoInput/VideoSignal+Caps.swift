import CGStreamer
import GStreamer
import StereoEncoder
import StereoVideo

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
    masteringDisplay = MasteringDisplayColourVolume(caps)
    contentLightLevel = ContentLightLevel(caps)
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
