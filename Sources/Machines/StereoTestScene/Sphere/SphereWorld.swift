// SPDX-License-Identifier: MPL-2.0

public import Reprojection
public import StereoVideo

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A world around the viewer in which it is known what every direction shows: a sky with a chart of
/// directions, a tiled floor, balls at known places, one of them moving, and boards with the eye's
/// letter and the frame's number.
///
/// The colour of a direction depends on nothing but the direction, the eye and the frame. Pictures of
/// all projections show the same world, so that one drawn from another can be compared with the truth.
///
/// The chart and the boards are infinitely far: both eyes see them in the same directions. The floor and
/// the balls are seen from where each eye is.
public struct SphereWorld: Sendable {
  /// Where the eyes are.
  public enum Eyes: Sendable {
    /// On the axis to the right, and looking ahead: what two cameras side by side see.
    case ahead
    /// For each direction anew, on the axis to the right of it: omnidirectional stereo, in which one
    /// sees depth all around.
    case omnidirectional
  }

  /// How the colour of a direction is given, each part from 0 to 255: gamma-coded with the BT.709
  /// primaries.
  public typealias Color = (red: UInt8, green: UInt8, blue: UInt8)

  /// From one eye to the other, in metres.
  public static let baseline = 0.0635
  /// Of the floor below the eyes, in metres.
  public static let eyeHeight = 1.6
  /// The width of the edge of a thing, in radians as it is seen.
  static let softness = SphereChart.softness * .pi / 180

  public let eyes: Eyes

  public init(_ eyes: Eyes) { self.eyes = eyes }

  /// The balls in a frame, the nearest last.
  public func balls(frame: Int) -> [Ball] { Self.stillBalls + [Self.movingBall(frame: frame)] }

  /// Where an eye sees the middle of a ball.
  public func direction(of ball: Ball, eye: Eye) -> Direction {
    let centre = ball.centre
    let half = Self.baseline / 2 * (eye == .right ? 1 : -1)
    let origin: SIMD3<Double>
    switch eyes {
    case .ahead: origin = SIMD3(half, 0, 0)
    case .omnidirectional:
      // The line of sight touches the circle that the eyes are on.
      let level = (centre.x * centre.x + centre.z * centre.z).squareRoot()
      let azimuth = atan2(centre.x, centre.z) - asin(half / level)
      origin = SIMD3(half * cos(azimuth), 0, -half * sin(azimuth))
    }
    let seen = centre - origin
    return Direction(x: seen.x, y: seen.y, z: seen.z)
  }

  /// What an eye sees in a direction; black where that points nowhere.
  public func color(of direction: Direction, eye: Eye, frame: Int) -> Color {
    let color = SkyDirection(direction).map {
      self.color($0, eye, Self.movingBall(frame: frame), SphereLabel(eye: eye, frame: frame))
    }
    func byte(_ channel: Channel) -> UInt8 { color?.byte(channel) ?? 0 }
    return (byte(.red), byte(.green), byte(.blue))
  }

  /// Where an eye stands that looks into a direction.
  func origin(_ eye: Eye, _ direction: SkyDirection) -> SIMD3<Double> {
    let half = Self.baseline / 2 * (eye == .right ? 1 : -1)
    switch eyes {
    case .ahead: return SIMD3(half, 0, 0)
    case .omnidirectional:
      let ray = direction.ray
      let level = (ray.x * ray.x + ray.z * ray.z).squareRoot()
      guard level > 1e-9 else { return SIMD3(half, 0, 0) }
      return SIMD3(half * ray.z / level, 0, -half * ray.x / level)
    }
  }

  func color(
    _ direction: SkyDirection, _ eye: Eye, _ moving: Ball, _ label: SphereLabel
  ) -> RGB {
    if let place = SphereLabel.Place(direction) { return label.color(place) }
    let origin = origin(eye, direction)
    let still = still(direction, SphereChart(direction), from: origin)
    return moving.painted(over: still, from: origin, direction.ray)
  }

  /// What does not change with time.
  func still(
    _ direction: SkyDirection, _ chart: SphereChart, from origin: SIMD3<Double>
  ) -> RGB {
    var color = chart.drawn(over: Self.ground(direction.ray, from: origin))
    for ball in Self.stillBalls {
      color = ball.painted(over: color, from: origin, direction.ray)
    }
    return color
  }

  private static let haze = RGB(190, 176, 184)

  /// The sky, or the floor.
  private static func ground(_ ray: SIMD3<Double>, from origin: SIMD3<Double>) -> RGB {
    guard ray.y > 1e-6 else {
      let height = min(1, -ray.y * 1.4)
      return haze.mixed(with: RGB(52, 78, 146), height * (2 - height))
    }
    let depth = (eyeHeight - origin.y) / ray.y
    let (x, z) = (origin.x + ray.x * depth, origin.z + ray.z * depth)
    let square = x * x + z * z
    let away = square.squareRoot()
    // What an edge's width covers of the floor, in metres, along the line of sight.
    let blur = softness * (square + eyeHeight * eyeHeight) / eyeHeight
    // One tile below the viewer, where the directions meet.
    let inner = softEdge(away - 0.45, blur)
    let checks = tile(x, blur) * tile(z, blur) * inner
    let color = RGB(98, 84, 100).mixed(with: RGB(170, 150, 150), 0.5 + 0.5 * checks)
    let near = max(0, 1 - away / 14)
    return haze.mixed(with: color, near * near)
  }

  /// From -1 to 1 by turns, each a metre wide, with edges of a width in metres.
  private static func tile(_ position: Double, _ blur: Double) -> Double {
    let within = position - 2 * (position / 2).rounded(.down)
    let inside = within < 1 ? min(within, 1 - within) : -min(within - 1, 2 - within)
    return min(1, max(-1, 2 * inside / blur))
  }
}
