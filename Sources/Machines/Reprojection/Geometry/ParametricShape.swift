// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The picture of a calibrated lens: the unified camera model with radial and tangential
/// distortion.
struct ParametricShape: Sendable {
  /// Rotation into the camera's coordinates.
  private let rotation: Rotation
  private let lanes: LaneRotation
  /// In pixels of the picture.
  private let focalX, focalY, skew, centreX, centreY: Double
  private let offset, k1, k2, p1, p2: Double
  private let adjustX, adjustY: LensCalibration.FrameAdjustment
  private let halfWidth, halfHeight: Double
  /// Lowest z of a unit vector for which the model holds.
  private let minimumZ: Double

  init(_ lens: LensCalibration, _ size: PictureSize) throws(GeometryError) {
    let figures = [
      lens.focalLengthX, lens.focalLengthY, lens.principalPointX, lens.principalPointY, lens.skew,
      lens.projectionOffset, lens.k1, lens.k2, lens.p1, lens.p2, lens.rotationX, lens.rotationY,
      lens.rotationZ, lens.frameAdjustmentX.constant, lens.frameAdjustmentX.linear,
      lens.frameAdjustmentX.cubic, lens.frameAdjustmentY.constant, lens.frameAdjustmentY.linear,
      lens.frameAdjustmentY.cubic,
    ]
    guard figures.allSatisfy({ abs($0) < 1e9 }) else {
      throw GeometryError("the lens calibration has values that are not numbers or exceed 1e9")
    }
    guard lens.referenceWidth >= 1, lens.referenceWidth < 1e9, lens.referenceHeight >= 1,
      lens.referenceHeight < 1e9, lens.focalLengthX > 0, lens.focalLengthY > 0,
      lens.projectionOffset >= 0, lens.projectionOffset <= 100
    else {
      throw GeometryError(
        "the lens calibration has an empty reference picture, a focal length that is not positive, "
          + "or a projection offset outside 0 to 100")
    }
    let scaleX = size.width / lens.referenceWidth
    let scaleY = size.height / lens.referenceHeight
    rotation =
      Rotation(
        quaternionX: lens.rotationX, lens.rotationY, lens.rotationZ
      ).inverse
    lanes = LaneRotation(rotation)
    (focalX, focalY) = (lens.focalLengthX * scaleX, lens.focalLengthY * scaleY)
    skew = lens.skew * scaleX
    (centreX, centreY) = (lens.principalPointX * scaleX, lens.principalPointY * scaleY)
    (offset, k1, k2) = (lens.projectionOffset, lens.k1, lens.k2)
    (p1, p2) = (lens.p1, lens.p2)
    (adjustX, adjustY) = (lens.frameAdjustmentX, lens.frameAdjustmentY)
    (halfWidth, halfHeight) = (size.width / 2, size.height / 2)
    minimumZ = cos(try Self.limit(lens))
  }

  /// Returns the angle up to which the model holds: the lens's own limit, or less if the radius in
  /// the picture stops increasing earlier.
  private static func limit(_ lens: LensCalibration) throws(GeometryError) -> Double {
    var most = 180.0
    if let limit = lens.radialLimit, limit > 0 { most = min(most, limit) }
    var (limit, last) = (0.0, 0.0)
    // In steps of one degree; the last one may be smaller.
    for degree in 1...180 {
      let degrees = min(Double(degree), most)
      let angle = degrees * .pi / 180
      let depth = cos(angle) + lens.projectionOffset
      guard depth > 1e-3 else { break }
      let radius = sin(angle) / depth
      let square = radius * radius
      let value = radius * (1 + lens.k1 * square + lens.k2 * square * square)
      guard value > last, value < 1e6 else { break }
      (limit, last) = (angle, value)
      if degrees >= most { break }
    }
    guard limit > 0 else { throw GeometryError("the lens calibration shows nothing") }
    return limit
  }

  private func distorted(_ a: Double, _ b: Double) -> (Double, Double) {
    let square = a * a + b * b
    let radial = 1 + square * (k1 + square * k2)
    return (
      a * radial + 2 * p1 * a * b + p2 * (square + 2 * a * a),
      b * radial + p1 * (square + 2 * b * b) + 2 * p2 * a * b
    )
  }

  func position(of direction: Direction) -> PicturePosition? {
    guard let own = rotation(direction).normalized, own.z >= minimumZ else { return nil }
    let depth = own.z + offset
    guard depth > 0 else { return nil }
    let (a, b) = distorted(own.x / depth, own.y / depth)
    let x = (focalX * a + skew * b + centreX - halfWidth) / halfWidth
    let y = (focalY * b + centreY - halfHeight) / halfHeight
    return PicturePosition(
      x: adjusted(x, adjustX) * halfWidth + halfWidth - 0.5,
      y: adjusted(y, adjustY) * halfHeight + halfHeight - 0.5)
  }

  private func adjusted(_ x: Double, _ by: LensCalibration.FrameAdjustment) -> Double {
    by.constant + x * (by.linear + by.cubic * x * x)
  }

  /// Returns the coordinate that the adjustment moves to `x`, by Newton's method.
  private func unadjusted(_ x: Double, _ by: LensCalibration.FrameAdjustment) -> Double? {
    var value = x
    for _ in 0..<32 {
      let slope = by.linear + 3 * by.cubic * value * value
      guard abs(slope) > 1e-9 else { return nil }
      let step = (adjusted(value, by) - x) / slope
      value -= step
      guard value.isFinite else { return nil }
      if abs(step) < 1e-13 { return value }
    }
    return nil
  }

  func direction(of position: PicturePosition) -> Direction? {
    guard let x = unadjusted((position.x + 0.5) / halfWidth - 1, adjustX),
      let y = unadjusted((position.y + 0.5) / halfHeight - 1, adjustY)
    else { return nil }
    let b = (y * halfHeight + halfHeight - centreY) / focalY
    let a = (x * halfWidth + halfWidth - centreX - skew * b) / focalX
    guard let (a, b) = undistorted(a, b) else { return nil }
    let square = a * a + b * b
    let root = 1 + (1 - offset * offset) * square
    guard root >= 0 else { return nil }
    let factor = (offset + root.squareRoot()) / (1 + square)
    let own = Direction(x: factor * a, y: factor * b, z: factor - offset)
    guard own.z >= minimumZ else { return nil }
    return rotation.inverse(own)
  }

  /// Returns the point that the distortion moves to (a, b), by Newton's method from the outside in:
  /// the radius increases up to the limit, and other solutions lie beyond it.
  private func undistorted(_ a: Double, _ b: Double) -> (Double, Double)? {
    var (x, y) = (a, b)
    let most = (1 - minimumZ * minimumZ).squareRoot() / max(minimumZ + offset, 1e-3)
    let radius = (x * x + y * y).squareRoot()
    if minimumZ > -offset, radius > most, radius > 0 {
      (x, y) = (x * most / radius, y * most / radius)
    }
    for _ in 0..<64 {
      let (u, v) = distorted(x, y)
      let (errorX, errorY) = (u - a, v - b)
      if abs(errorX) + abs(errorY) < 1e-13 * (1 + abs(a) + abs(b)) { return (x, y) }
      let square = x * x + y * y
      let radial = 1 + square * (k1 + square * k2)
      let slope = 2 * k1 + 4 * k2 * square
      let xx = radial + slope * x * x + 2 * p1 * y + 6 * p2 * x
      let xy = slope * x * y + 2 * p1 * x + 2 * p2 * y
      let yy = radial + slope * y * y + 6 * p1 * y + 2 * p2 * x
      let determinant = xx * yy - xy * xy
      guard abs(determinant) > 1e-12 else { return nil }
      x -= (yy * errorX - xy * errorY) / determinant
      y -= (xx * errorY - xy * errorX) / determinant
      guard x.isFinite, y.isFinite else { return nil }
    }
    let (u, v) = distorted(x, y)
    return abs(u - a) + abs(v - b) < 1e-9 * (1 + abs(a) + abs(b)) ? (x, y) : nil
  }

  func positions(of ray: Rays) -> Positions {
    let own = ray.turned(by: lanes)
    // In steps with types, which Swift 6.2 needs.
    let across: Floats = own.x * own.x + own.y * own.y
    let length: Floats = (across + own.z * own.z + 1e-30).squareRoot()
    let inverse = 1 / length
    let ahead = own.z * inverse
    let scale = inverse / maximum(ahead + Float(offset), 1e-4)
    let (a, b) = (own.x * scale, own.y * scale)
    let square: Floats = a * a + b * b
    let radial: Floats = (square * Float(k2) + Float(k1)) * square + 1
    let cross = a * b
    let (stretchedX, stretchedY): (Floats, Floats) = (square + a * a * 2, square + b * b * 2)
    let u: Floats = a * radial + cross * Float(2 * p1) + stretchedX * Float(p2)
    let v: Floats = b * radial + cross * Float(2 * p2) + stretchedY * Float(p1)
    let x =
      (u * Float(focalX) + v * Float(skew) + Float(centreX - halfWidth)) * Float(1 / halfWidth)
    let y = (v * Float(focalY) + Float(centreY - halfHeight)) * Float(1 / halfHeight)
    return Positions(
      x: adjusted(x, adjustX) * Float(halfWidth) + Float(halfWidth - 0.5),
      y: adjusted(y, adjustY) * Float(halfHeight) + Float(halfHeight - 0.5),
      isInside: isNegative(Floats(repeating: Float(minimumZ)) - ahead))
  }

  private func adjusted(_ x: Floats, _ by: LensCalibration.FrameAdjustment) -> Floats {
    (x * x * Float(by.cubic) + Float(by.linear)) * x + Float(by.constant)
  }
}
