// SPDX-License-Identifier: MPL-2.0

package import GStreamer
package import Reprojection
package import StereoVideo

/// Raw formats that Reprojection draws.
package enum SphereFormat {
  static let caps: Caps = {
    let names = [
      "I420", "YV12", "NV12", "NV21", "Y42B", "Y444", "GRAY8", "I420_10LE", "P010_10LE", "RGBx",
      "BGRx", "xRGB", "xBGR", "RGBA", "BGRA", "ARGB", "ABGR",
    ]
    return Caps("video/x-raw", ["format": .list(names.map { .string($0) })])
  }()

  /// The planes of a format; nil for one that is none of the caps'.
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

  /// Where the chroma of the frames stands.
  package static func chromaSite(_ info: VideoInfo) -> ChromaSite {
    let siting = info.chromaSiting
    guard !siting.contains(.centred), !siting.isEmpty else { return .left }
    return ChromaSite(
      isOnLeft: siting.contains(.horizontallyCosited), isOnTop: siting.contains(.verticallyCosited))
  }
}

extension VideoFrame {
  /// The planes of one eye, or of the whole frame.
  ///
  /// - Parameters:
  ///   - width: of the eye.
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

  /// The same, in an array that there is already.
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
