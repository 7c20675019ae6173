// SPDX-License-Identifier: MPL-2.0

package import GStreamer
package import Reprojection
package import StereoVideo

#if canImport(Glibc)
  import Glibc
#endif

/// Raw formats that can be reprojected.
package enum SphereFormat {
  static let caps: Caps = {
    let names = [
      "I420", "YV12", "NV12", "NV21", "Y42B", "Y444", "GRAY8", "I420_10LE", "P010_10LE", "RGBx",
      "BGRx", "xRGB", "xBGR", "RGBA", "BGRA", "ARGB", "ABGR",
    ]
    return Caps("video/x-raw", ["format": .list(names.map { .string($0) })])
  }()

  /// Returns the layout of a format's planes; nil for a format that is not in `caps`.
  package static func format(_ info: VideoInfo) -> PictureFormat? {
    let isFullRange = info.colorimetry.range == .full
    var format: PictureFormat
    switch info.formatName {
    case "I420", "YV12": format = .i420
    case "NV12", "NV21": format = .nv12
    case "Y42B": format = .planar(verticalSubsampling: 1)
    case "Y444": format = .planar(horizontalSubsampling: 1, verticalSubsampling: 1)
    case "GRAY8": format = .gray8
    case "I420_10LE": format = .i42010
    case "P010_10LE": format = .p010
    case "RGBx", "BGRx", "xRGB", "xBGR", "RGBA", "BGRA", "ARGB", "ABGR": format = .quadruples
    default: return nil
    }
    if isFullRange, format.planes[0].components == 1 { format.planes[0].fill = [0] }
    return format
  }

  /// Position of the chroma samples.
  package static func chromaSite(_ info: VideoInfo) -> ChromaSite {
    let siting = info.chromaSiting
    guard !siting.contains(.centred), !siting.isEmpty else { return .left }
    return ChromaSite(
      isOnLeft: siting.contains(.horizontallyCosited), isOnTop: siting.contains(.verticallyCosited))
  }
}

extension VideoFrame {
  /// Returns the planes of one eye, or of the whole frame.
  ///
  /// - Parameters:
  ///   - width: width of the eye, in pixels.
  ///   - height: height of the eye, in pixels.
  ///   - place: 0 for the first eye in the frame, 1 for the second.
  package func planes(
    _ format: PictureFormat, width: Int, height: Int, place: Int = 0,
    _ arrangement: PackingLayout.Arrangement? = nil
  ) throws -> [PlaneView] {
    var planes: [PlaneView] = []
    try locate(
      &planes, format, width: width, height: height, place: place, arrangement)
    return planes
  }

  /// Writes the same planes to an existing array.
  func locate(
    _ planes: inout [PlaneView], _ format: PictureFormat, width: Int, height: Int, place: Int,
    _ arrangement: PackingLayout.Arrangement?
  ) throws {
    planes.removeAll(keepingCapacity: true)
    for index in format.planes.indices {
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
      planes.append(
        PlaneView(base: base + offset, stride: stride, rowBytes: rowBytes, rows: rows))
    }
  }
}

/// Spherical input described by its caps.
struct SphereInput {
  let caps: Caps
  let info: VideoInfo
  let format: PictureFormat
  /// Nil for frames of one eye.
  let layout: PackingLayout?

  init(_ caps: Caps) throws {
    guard let info = VideoInfo(caps), let format = SphereFormat.format(info) else {
      throw ElementError(
        .format, "This raw video format is not supported; put videoconvert before.",
        debug: "\(caps)")
    }
    guard !info.isInterlaced else {
      throw ElementError(.format, "Interlaced video cannot be reprojected; deinterlace it first.")
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
        "A packed frame of \(info.width)x\(info.height) cannot be cut into two eyes of even size.")
    }
  }

  /// The eye shown by frames of one eye, if their caps say.
  var eye: Eye? { caps.first?.string("multiview-mode").flatMap(Eye.init(rawValue:)) }

  /// Size of one eye, in pixels.
  var width: Int { layout?.arrangement == .sideBySide ? info.width / 2 : info.width }
  var height: Int { layout?.arrangement == .topBottom ? info.height / 2 : info.height }

  /// Pixel aspect ratio of one eye's picture, with half-size packing undone.
  private var pixelAspectRatio: Double {
    let ratio = info.pixelAspectRatio
    var value = Double(max(1, ratio.numerator)) / Double(max(1, ratio.denominator))
    guard let layout, layout.halfAspect else { return value }
    value *= layout.arrangement == .sideBySide ? 2 : 0.5
    return value
  }

  /// Geometry of one eye's picture.
  func geometry(_ projection: Projection) throws(GeometryError) -> PictureGeometry {
    try PictureGeometry(
      projection, width: width, height: height,
      pixelAspectRatio: projection.isMeasuredInPixels ? pixelAspectRatio : 1)
  }
}

/// Default picture sizes of projections.
extension Projection {
  /// Whether the pixel aspect ratio matters, because the projection is not scaled to the picture's
  /// edges.
  package var isMeasuredInPixels: Bool {
    switch self {
    case .rectilinear, .fisheye: true
    case .equirectangular, .parametric, .cubemap: false
    }
  }

  /// Angle covered by the picture's width, in degrees.
  var horizontalDegrees: Double {
    switch self {
    case .rectilinear(let degrees): degrees
    case .equirectangular(let bounds): 360 * (1 - bounds.leftPart - bounds.rightPart)
    case .fisheye(let lens): lens.fieldOfView
    case .parametric(let lens):
      // The angle that its width would cover with the scale of its centre.
      min(
        360,
        max(
          1,
          lens.referenceWidth / lens.focalLengthX * (1 + lens.projectionOffset) * 180 / .pi))
    case .cubemap: 270
    }
  }

  /// Returns the width in pixels of a picture with this many pixels per degree: at the centre of a
  /// flat picture, along the equator of all others.
  func width(pixelsPerDegree: Double) -> Double {
    switch self {
    case .rectilinear(let degrees): 2 * tan(degrees * .pi / 360) * pixelsPerDegree * 180 / .pi
    case .cubemap(.equiAngular, let padding):
      horizontalDegrees * pixelsPerDegree + Double(2 * padding)
    case .cubemap(_, let padding): horizontalDegrees * pixelsPerDegree + Double(6 * padding)
    case .equirectangular, .fisheye, .parametric: horizontalDegrees * pixelsPerDegree
    }
  }

  /// Returns the height in pixels for a width: 16:9 for a flat picture, the circle's diameter,
  /// square cube faces, else the same number of pixels per degree as along the equator.
  func height(width: Double) -> Double {
    switch self {
    case .rectilinear: width * 9 / 16
    case .equirectangular(let bounds):
      width * (1 - bounds.topPart - bounds.bottomPart) * 180 / max(horizontalDegrees, 1e-6)
    case .fisheye, .parametric: width
    case .cubemap(.equiAngular, let padding):
      (width - Double(2 * padding)) / 3 * 2 + Double(4 * padding)
    case .cubemap: width / 3 * 2
    }
  }
}
