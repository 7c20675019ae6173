import CGStreamer
import GStreamer
import Reprojection
import StereoVideo

/// Raw formats that Reprojection draws.
enum SphereFormat {
  static let caps: Caps = {
    let names = [
      "I420", "YV12", "NV12", "NV21", "Y42B", "Y444", "GRAY8", "I420_10LE", "P010_10LE", "RGBx",
      "BGRx", "xRGB", "xBGR", "RGBA", "BGRA", "ARGB", "ABGR",
    ]
    return Caps("video/x-raw", ["format": .list(names.map { .string($0) })])
  }()

  /// The planes of a format; nil for one that is none of the caps'.
  static func format(_ info: VideoInfo) -> PictureFormat? {
    let isFullRange = info.colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255
    var format: PictureFormat
    switch info.format {
    case GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YV12: format = .i420
    case GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21: format = .nv12
    case GST_VIDEO_FORMAT_Y42B: format = .planar(verticalSubsampling: 1)
    case GST_VIDEO_FORMAT_Y444:
      format = .planar(horizontalSubsampling: 1, verticalSubsampling: 1)
    case GST_VIDEO_FORMAT_GRAY8: format = .gray8
    case GST_VIDEO_FORMAT_I420_10LE: format = .i42010
    case GST_VIDEO_FORMAT_P010_10LE: format = .p010
    case GST_VIDEO_FORMAT_RGBx, GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_xRGB,
      GST_VIDEO_FORMAT_xBGR, GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_BGRA, GST_VIDEO_FORMAT_ARGB,
      GST_VIDEO_FORMAT_ABGR:
      format = .quadruples
    default: return nil
    }
    if isFullRange, format.planes[0].components == 1 { format.planes[0].fill = [0] }
    return format
  }

  /// Where the chroma of the frames stands.
  static func chromaSite(_ info: VideoInfo) -> ChromaSite {
    let site = info.info.chroma_site.rawValue
    guard site & GST_VIDEO_CHROMA_SITE_NONE.rawValue == 0, site != 0 else { return .left }
    return ChromaSite(
      isOnLeft: site & GST_VIDEO_CHROMA_SITE_H_COSITED.rawValue != 0,
      isOnTop: site & GST_VIDEO_CHROMA_SITE_V_COSITED.rawValue != 0)
  }
}

extension VideoFrame {
  /// The planes of one eye, or of the whole frame.
  ///
  /// - Parameters:
  ///   - width: of the eye.
  ///   - place: 0 for the first eye in the frame, 1 for the second.
  func planes(
    _ format: PictureFormat, width: Int, height: Int, place: Int,
    _ arrangement: PackingLayout.Arrangement?
  ) throws -> [PlaneView] {
    try format.planes.indices.map { index in
      guard let base = plane(index) else { throw FlowReturn.error }
      let plane = format.planes[index]
      let columns = (width + plane.horizontalSubsampling - 1) / plane.horizontalSubsampling
      let rows = (height + plane.verticalSubsampling - 1) / plane.verticalSubsampling
      let rowBytes = columns * plane.components * plane.bytes
      let stride = stride(index)
      let offset =
        switch arrangement {
        case .sideBySide: place * rowBytes
        case .topBottom: place * rows * stride
        case .frameByFrame, nil: 0
        }
      return PlaneView(base: base + offset, stride: stride, rowBytes: rowBytes, rows: rows)
    }
  }
}
