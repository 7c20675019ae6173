// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The sphere's map, or a part of it, linear in longitude and latitude.
struct EquirectangularShape: Sendable {
  /// Conversion from radians to pixels: pixels per radian, and the position of longitude and
  /// latitude 0.
  let scaleX, originX, scaleY, originY: Double
  /// Whether the right edge meets the left one.
  let coversFullTurn: Bool
  /// Row of the horizon, and fraction of the distance from it to a pole per row.
  private let middle, perRow: Float

  init(_ bounds: SphereBounds, _ size: PictureSize) throws(GeometryError) {
    guard bounds.leavesSomething else {
      throw GeometryError("the sphere bounds leave no part of the map")
    }
    let width = size.width / (1 - bounds.leftPart - bounds.rightPart)
    let height = size.height / (1 - bounds.topPart - bounds.bottomPart)
    guard width < 0x1p24, height < 0x1p24 else {
      throw GeometryError("the sphere bounds leave too small a part of the map")
    }
    scaleX = width / (2 * .pi)
    originX = (0.5 - bounds.leftPart) * width - 0.5
    scaleY = height / .pi
    originY = (0.5 - bounds.topPart) * height - 0.5
    (middle, perRow) = (Float(originY), Float(2 / (.pi * scaleY)))
    coversFullTurn = bounds.left == 0 && bounds.right == 0
  }

  func direction(of position: PicturePosition) -> Direction {
    let longitude = (position.x - originX) / scaleX
    let latitude = (position.y - originY) / scaleY
    return Direction(
      x: cos(latitude) * sin(longitude), y: sin(latitude), z: cos(latitude) * cos(longitude))
  }

  func position(of direction: Direction) -> PicturePosition {
    let level = (direction.x * direction.x + direction.z * direction.z).squareRoot()
    return PicturePosition(
      x: atan2(direction.x, direction.z) * scaleX + originX,
      y: atan2(direction.y, level) * scaleY + originY)
  }

  func positions(of ray: Rays) -> Positions {
    let level = (ray.x * ray.x + ray.z * ray.z).squareRoot()
    return Positions(
      x: arcTangent(ray.x, ray.z) * Float(scaleX) + Float(originX),
      y: arcTangent(ray.y, level) * Float(scaleY) + Float(originY),
      isInside: Integers(repeating: -1))
  }

  func rays(x: Floats, y: Float) -> Rays {
    let latitude = (Double(y) - originY) / scaleY
    let (sine, cosine) = sineAndCosine((x - Float(originX)) * Float(1 / scaleX))
    let level = Float(cos(latitude))
    return Rays(
      x: sine * level, y: Floats(repeating: Float(sin(latitude))), z: cosine * level)
  }

  /// Returns the length on the sphere of a step along a row, relative to a step along a column.
  func rowScale(atY y: Float) -> Float {
    let toPole = max(0, 1 - abs(y - middle) * perRow)
    return min(1, toPole * (1.5708 - 0.55 * toPole * toPole))
  }
}

/// The picture of a pinhole camera.
struct RectilinearShape: Sendable {
  /// Conversion from pixels to tangents: tangent per pixel, and the tangent at position 0.
  let stepX, originX, stepY, originY: Double

  init(horizontalFieldOfView: Double, _ size: PictureSize) throws(GeometryError) {
    guard horizontalFieldOfView >= 0.001, horizontalFieldOfView <= 179.9 else {
      throw GeometryError(
        "a rectilinear field of view of \(horizontalFieldOfView) degrees; must be from 0.001 to "
          + "179.9")
    }
    stepX = 2 * tan(horizontalFieldOfView * .pi / 360) / size.width
    stepY = stepX / size.pixelAspectRatio
    originX = (0.5 - size.width / 2) * stepX
    originY = (0.5 - size.height / 2) * stepY
  }

  func direction(of position: PicturePosition) -> Direction {
    Direction(x: position.x * stepX + originX, y: position.y * stepY + originY, z: 1)
  }

  func position(of direction: Direction) -> PicturePosition? {
    guard direction.z > 0 else { return nil }
    return PicturePosition(
      x: (direction.x / direction.z - originX) / stepX,
      y: (direction.y / direction.z - originY) / stepY)
  }

  func positions(of ray: Rays) -> Positions {
    let inverse = 1 / maximum(ray.z, 1e-20)
    return Positions(
      x: (ray.x * inverse - Float(originX)) * Float(1 / stepX),
      y: (ray.y * inverse - Float(originY)) * Float(1 / stepY), isInside: isNegative(-ray.z))
  }

  func rays(x: Floats, y: Float) -> Rays {
    Rays(
      x: x * Float(stepX) + Float(originX),
      y: Floats(repeating: Float(Double(y) * stepY + originY)), z: Floats(repeating: 1))
  }
}
