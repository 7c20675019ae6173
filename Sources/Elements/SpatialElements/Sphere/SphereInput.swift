// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Reprojection
import StereoVideo

/// Frames that surround the viewer, as their caps say.
struct SphereInput {
  let caps: Caps
  let info: VideoInfo
  let format: PictureFormat
  /// nil for frames of one eye.
  let layout: PackingLayout?

  init(_ caps: Caps) throws {
    guard let info = VideoInfo(caps), let format = SphereFormat.format(info) else {
      throw ElementError(
        .format, "Only raw video of some formats can be drawn from.", debug: "\(caps)")
    }
    guard !info.isInterlaced else {
      throw ElementError(.format, "Interlaced video cannot be drawn from; deinterlace it first.")
    }
    (self.caps, self.info, self.format) = (caps, info, format)
    layout = PackingLayout(multiviewCaps: caps)
    let isOdd =
      switch layout?.arrangement {
      case .sideBySide: !info.width.isMultiple(of: 4)
      case .topBottom: !info.height.isMultiple(of: 4)
      case .frameByFrame, nil: false
      }
    guard !isOdd else {
      throw ElementError(
        .format,
        "A packed frame of \(info.width)x\(info.height) has no two eyes of an even size.")
    }
  }

  /// The eye that frames of one eye show, where their caps say it.
  var eye: Eye? { caps.first?.string("multiview-mode").flatMap(Eye.init(rawValue:)) }

  /// One eye's.
  var width: Int { layout?.arrangement == .sideBySide ? info.width / 2 : info.width }
  var height: Int { layout?.arrangement == .topBottom ? info.height / 2 : info.height }

  /// Of one eye's picture, when it is not squeezed any more.
  private var pixelAspectRatio: Double {
    let ratio = info.pixelAspectRatio
    var value = Double(max(1, ratio.numerator)) / Double(max(1, ratio.denominator))
    guard let layout, layout.halfAspect else { return value }
    value *= layout.arrangement == .sideBySide ? 2 : 0.5
    return value
  }

  /// Where the pixels of one eye's picture look.
  func geometry(_ projection: Projection) throws(GeometryError) -> PictureGeometry {
    try PictureGeometry(
      projection, width: width, height: height,
      pixelAspectRatio: projection.isMeasuredInPixels ? pixelAspectRatio : 1)
  }
}
