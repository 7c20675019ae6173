// SPDX-License-Identifier: MPL-2.0

import StereoVideo

/// Lenses for tests.
enum Lens {
  /// An equidistant fisheye of 190 degrees in a square picture, as a unified camera model: a fit
  /// whose largest error is 0.18 pixels at a radius of 2048.
  static func fisheye190(size: Double) -> LensCalibration {
    var lens = LensCalibration(
      referenceWidth: size, referenceHeight: size, focalLengthX: 1.47859 * size / 2,
      focalLengthY: 1.47859 * size / 2, principalPointX: size / 2, principalPointY: size / 2)
    lens.projectionOffset = 1.45208
    (lens.k1, lens.k2) = (-0.218765, 0.151891)
    lens.radialLimit = 95
    return lens
  }

  /// One that uses every field.
  static var bent: LensCalibration {
    var lens = fisheye190(size: 1000)
    lens.skew = 3
    (lens.p1, lens.p2) = (0.002, -0.001)
    lens.principalPointX += 7
    lens.frameAdjustmentX = .init(constant: 0.01, linear: 0.98, cubic: 0.015)
    lens.frameAdjustmentY = .init(constant: -0.02, linear: 1.01, cubic: -0.01)
    (lens.rotationX, lens.rotationY, lens.rotationZ) = (0.05, -0.1, 0.02)
    return lens
  }
}

/// Projections of every kind, in pictures that suit them.
let everyGeometry: [(projection: Projection, width: Int, height: Int)] = [
  (.rectilinear(horizontalFieldOfView: 90), 640, 360),
  (.rectilinear(horizontalFieldOfView: 150), 333, 501),
  (.equirectangular(.full), 640, 320),
  (.equirectangular(.frontHalf), 480, 480),
  (
    .equirectangular(SphereBounds(top: 1 << 29, bottom: 1 << 28, left: 1 << 30, right: 3 << 28)),
    500, 300
  ),
  (.fisheye(FisheyeLens(fieldOfView: 190)), 512, 512),
  (.fisheye(FisheyeLens(fieldOfView: 220, mapping: .equisolid)), 600, 400),
  (.fisheye(FisheyeLens(fieldOfView: 200, mapping: .stereographic)), 400, 600),
  (.fisheye(FisheyeLens(fieldOfView: 170, mapping: .orthographic)), 512, 512),
  (
    .fisheye(
      FisheyeLens(
        fieldOfView: 200, mapping: .kannalaBrandt(k1: -0.02, k2: 0.004, k3: -0.0005, k4: 0.00002))),
    512, 512
  ),
  (.parametric(Lens.fisheye190(size: 512)), 512, 512),
  (.parametric(Lens.bent), 512, 500),
  (.cubemap(.sphericalVideo, padding: 0), 480, 320),
  (.cubemap(.turned, padding: 8), 480, 320),
  (.cubemap(.equiAngular, padding: 2), 484, 328),
]
