// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A circle whose radius is a function of the angle from the axis.
struct FisheyeShape: Sendable {
  let mapping: FisheyeLens.Mapping
  let centreX, centreY: Double
  /// Radius of the circle along each axis, in pixels.
  let radiusX, radiusY: Double
  /// Angle of the circle's edge from the axis, in radians.
  let edge: Double
  /// The value of the mapping at `edge`.
  let edgeValue: Double

  init(_ lens: FisheyeLens, _ size: PictureSize) throws(GeometryError) {
    let degrees = lens.fieldOfView
    let most: Double =
      switch lens.mapping {
      case .orthographic: 180
      case .stereographic: 359
      default: 360
      }
    guard degrees >= 0.001, degrees <= most else {
      throw GeometryError(
        "a fisheye field of view of \(degrees) degrees; must be from 0.001 to \(Int(most))")
    }
    mapping = lens.mapping
    centreX = size.width / 2 - 0.5
    centreY = size.height / 2 - 0.5
    let radius = min(size.width * size.pixelAspectRatio, size.height) / 2
    (radiusX, radiusY) = (radius / size.pixelAspectRatio, radius)
    edge = degrees * .pi / 360
    edgeValue = Self.value(mapping, edge)
    guard edgeValue.isFinite, edgeValue > 0, Self.grows(mapping, upTo: edge) else {
      throw GeometryError("the fisheye's radius does not increase with the angle up to its edge")
    }
  }

  private static func value(_ mapping: FisheyeLens.Mapping, _ angle: Double) -> Double {
    switch mapping {
    case .equidistant: angle
    case .equisolid: sin(angle / 2)
    case .stereographic: tan(angle / 2)
    case .orthographic: sin(angle)
    case .kannalaBrandt(let k1, let k2, let k3, let k4):
      polynomial(angle, k1, k2, k3, k4)
    }
  }

  private static func polynomial(
    _ angle: Double, _ k1: Double, _ k2: Double, _ k3: Double, _ k4: Double
  ) -> Double {
    let square = angle * angle
    return angle * (1 + square * (k1 + square * (k2 + square * (k3 + square * k4))))
  }

  /// Only the polynomial can decrease.
  private static func grows(_ mapping: FisheyeLens.Mapping, upTo edge: Double) -> Bool {
    guard case .kannalaBrandt = mapping else { return true }
    let values = (0...256).map { value(mapping, edge * Double($0) / 256) }
    return zip(values, values.dropFirst()).allSatisfy { $0 < $1 }
  }

  /// Returns the angle for a mapping value up to `edgeValue`.
  private func angle(_ value: Double) -> Double {
    switch mapping {
    case .equidistant: return value
    case .equisolid: return 2 * asin(min(1, value))
    case .stereographic: return 2 * atan(value)
    case .orthographic: return asin(min(1, value))
    case .kannalaBrandt:
      var (low, high) = (0.0, edge)
      for _ in 0..<60 {
        let middle = (low + high) / 2
        if Self.value(mapping, middle) < value { low = middle } else { high = middle }
      }
      return (low + high) / 2
    }
  }

  func direction(of position: PicturePosition) -> Direction? {
    let x = (position.x - centreX) / radiusX
    let y = (position.y - centreY) / radiusY
    let radius = (x * x + y * y).squareRoot()
    guard radius <= 1 else { return nil }
    guard radius > 0 else { return Direction(x: 0, y: 0, z: 1) }
    let angle = angle(radius * edgeValue)
    return Direction(x: sin(angle) * x / radius, y: sin(angle) * y / radius, z: cos(angle))
  }

  func position(of direction: Direction) -> PicturePosition? {
    let level = (direction.x * direction.x + direction.y * direction.y).squareRoot()
    let angle = atan2(level, direction.z)
    guard angle <= edge else { return nil }
    guard level > 0 else { return PicturePosition(x: centreX, y: centreY) }
    let radius = Self.value(mapping, angle) / edgeValue / level
    return PicturePosition(
      x: centreX + radiusX * radius * direction.x, y: centreY + radiusY * radius * direction.y)
  }

  func positions(of ray: Rays) -> Positions {
    let square = ray.x * ray.x + ray.y * ray.y
    let inverse = 1 / (square + ray.z * ray.z + 1e-30).squareRoot()
    let (level, ahead) = (square.squareRoot(), ray.z * inverse)
    let value: Floats
    switch mapping {
    case .equidistant: value = arcTangent(level, ray.z)
    case .stereographic: value = level * inverse / maximum(1 + ahead, 1e-6)
    case .orthographic: value = level * inverse
    case .equisolid:
      // Sine of half the angle, computed from the half that is not a small difference.
      let half = maximum((1 + ahead) * 0.5, 1e-12).squareRoot()
      let front = level * inverse * 0.5 / half
      let back = maximum((1 - ahead) * 0.5, 0).squareRoot()
      value = select(isNegative(ahead), back, front)
    case .kannalaBrandt(let k1, let k2, let k3, let k4):
      let angle = arcTangent(level, ray.z)
      let square = angle * angle
      var sum = square * Float(k4) + Float(k3)
      sum = sum * square + Float(k2)
      sum = sum * square + Float(k1)
      value = angle * (sum * square + 1)
    }
    let angleIsInside = isNegative(Floats(repeating: Float(cos(edge)) - 1e-7) - ahead)
    let radius = value * Float(1 / edgeValue) / (level + 1e-30)
    return Positions(
      x: ray.x * radius * Float(radiusX) + Float(centreX),
      y: ray.y * radius * Float(radiusY) + Float(centreY), isInside: angleIsInside)
  }

  /// Returns the directions of eight positions in a row; nil for mappings without a short inverse.
  func rays(x: Floats, y: Float) -> Rays? {
    guard case .equidistant = mapping else { return nil }
    let across = (x - Float(centreX)) * Float(1 / radiusX)
    let down = Float((Double(y) - centreY) / radiusY)
    let radius = (across * across + down * down).squareRoot()
    let (sine, cosine) = sineAndCosine(radius * Float(edge))
    let level = sine / maximum(radius, 1e-20)
    var rays = Rays(x: across * level, y: level * down, z: cosine)
    rays.face = isNegative(1.000_000_1 - radius)
    return rays
  }
}
