// SPDX-License-Identifier: MPL-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

extension SphereWorld {
  /// A ball of two colours in four quarters, which meet where its middle is seen.
  public struct Ball: Sendable {
    /// A word for messages.
    public let name: String
    /// In degrees, seen from midway between the eyes: to the right of straight ahead, and up.
    public let longitude, latitude: Double
    /// Of the middle, in metres from midway between the eyes.
    public let distance: Double
    /// In metres.
    public let radius: Double

    /// In metres from midway between the eyes.
    let centre: SIMD3<Double>
    private let right, up: SIMD3<Double>
    private let colors: (RGB, RGB)

    init(
      _ name: String, longitude: Double, latitude: Double, distance: Double, radius: Double,
      _ one: RGB, _ other: RGB
    ) {
      (self.name, self.longitude, self.latitude) = (name, longitude, latitude)
      (self.distance, self.radius) = (distance, radius)
      centre = SkyDirection(longitude: longitude, latitude: latitude).ray * distance
      right = SkyDirection(longitude: longitude + 90, latitude: 0).ray
      up = SkyDirection(longitude: longitude, latitude: latitude + 90).ray
      colors = (one, other)
    }

    /// `color` with the ball before it.
    func painted(over color: RGB, from origin: SIMD3<Double>, _ ray: SIMD3<Double>) -> RGB {
      let coverage = coverage(from: origin, ray)
      guard coverage > 0 else { return color }
      return color.mixed(with: self.color(from: origin, ray), coverage)
    }

    /// How much of what is seen along a ray is the ball, from 0 to 1.
    func coverage(from origin: SIMD3<Double>, _ ray: SIMD3<Double>) -> Double {
      let middle = centre - origin
      let along = dot(middle, ray)
      let reach = radius + distance * SphereWorld.softness
      let square = dot(middle, middle) - along * along
      guard along > 0, square < reach * reach else { return 0 }
      return softEdge(radius - max(0, square).squareRoot(), distance * SphereWorld.softness)
    }

    /// Of the ball where a ray meets it, or passes nearest to it.
    func color(from origin: SIMD3<Double>, _ ray: SIMD3<Double>) -> RGB {
      let middle = centre - origin
      let along = dot(middle, ray)
      let square = max(0, dot(middle, middle) - along * along)
      // The nearest point of the ray, seen from the middle, in radii: the quarters face each eye.
      let beside = (ray * along - middle) / max(radius, square.squareRoot())
      let normal = beside - ray * max(0, 1 - square / (radius * radius)).squareRoot()
      func halves(_ axis: SIMD3<Double>) -> Double { min(1, max(-1, dot(beside, axis) * 12)) }
      let quarter = colors.0.mixed(with: colors.1, 0.5 + 0.5 * halves(right) * halves(up))
      let light = max(0, dot(normal, SIMD3(0.37, -0.82, -0.43)))
      return quarter.scaled(Int(150 + 106 * light))
    }
  }

  /// The balls that stay where they are, the farthest first.
  static let stillBalls = [
    Ball(
      "far right ball", longitude: 68, latitude: 11, distance: 8, radius: 0.6,
      RGB(54, 120, 196), RGB(255, 196, 61)),
    Ball(
      "far left ball", longitude: -37, latitude: 5, distance: 5, radius: 0.4,
      RGB(38, 166, 154), RGB(255, 224, 130)),
    Ball(
      "back right ball", longitude: 142, latitude: -9, distance: 4, radius: 0.35,
      RGB(126, 87, 194), RGB(236, 236, 236)),
    Ball(
      "right ball", longitude: 37, latitude: -9, distance: 3, radius: 0.25,
      RGB(226, 52, 62), RGB(250, 246, 238)),
    Ball(
      "back left ball", longitude: -128, latitude: 22, distance: 2.5, radius: 0.2,
      RGB(205, 140, 78), RGB(60, 60, 70)),
    Ball(
      "left ball", longitude: -67, latitude: -9, distance: 2, radius: 0.15,
      RGB(238, 92, 92), RGB(40, 90, 60)),
  ]

  /// The one that moves to and fro ahead, nearer than all others.
  static func movingBall(frame: Int) -> Ball {
    func wave(_ period: Int) -> Double {
      Double(Wave.sine(frame, period: period, phase: 0)) / Double(Wave.unit)
    }
    return Ball(
      "moving ball", longitude: 50 * wave(240), latitude: 24 + 5 * wave(90), distance: 1.5,
      radius: 0.12, RGB(255, 112, 32), RGB(255, 250, 205))
  }
}
