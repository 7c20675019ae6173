// SPDX-License-Identifier: MPL-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The picture of a pinhole camera.
struct RectilinearShape: Sendable {
  /// From pixels to tangents: a step, and that of the position 0.
  let stepX, originX, stepY, originY: Double

  init(horizontalFieldOfView: Double, _ size: PictureSize) throws(GeometryError) {
    guard horizontalFieldOfView >= 0.001, horizontalFieldOfView <= 179.9 else {
      throw GeometryError(
        "a flat picture of \(horizontalFieldOfView) degrees; it has more than 0 and less than 180")
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
