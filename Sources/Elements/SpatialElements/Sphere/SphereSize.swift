// SPDX-License-Identifier: MPL-2.0

import StereoVideo

#if canImport(Glibc)
  import Glibc
#endif

/// The sizes that pictures of a projection have where nobody asks for another.
extension Projection {
  /// Whether the shape of its pixels matters, because it is not given by the picture's edges.
  package var isMeasuredInPixels: Bool {
    switch self {
    case .rectilinear, .fisheye: true
    case .equirectangular, .parametric, .cubemap: false
    }
  }

  /// What the picture's width covers, in degrees.
  var horizontalDegrees: Double {
    switch self {
    case .rectilinear(let degrees): degrees
    case .equirectangular(let bounds): 360 * (1 - bounds.leftPart - bounds.rightPart)
    case .fisheye(let lens): lens.fieldOfView
    case .parametric(let lens):
      // As many as its width would cover if it were everywhere as in its middle.
      min(
        360,
        max(
          1,
          lens.referenceWidth / lens.focalLengthX * (1 + lens.projectionOffset) * 180 / .pi))
    case .cubemap: 270
    }
  }

  /// The width, in pixels, of a picture with so many pixels for a degree: in the middle of a flat
  /// one, along the equator of all others.
  func width(pixelsPerDegree: Double) -> Double {
    switch self {
    case .rectilinear(let degrees): 2 * tan(degrees * .pi / 360) * pixelsPerDegree * 180 / .pi
    case .cubemap(.equiAngular, let padding):
      horizontalDegrees * pixelsPerDegree + Double(2 * padding)
    case .cubemap(_, let padding): horizontalDegrees * pixelsPerDegree + Double(6 * padding)
    case .equirectangular, .fisheye, .parametric: horizontalDegrees * pixelsPerDegree
    }
  }

  /// The height, in pixels, that goes with a width: 16:9 for a flat picture, a circle's diameter,
  /// square faces of a cube, and as many pixels for a degree down as along the equator.
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
