// SPDX-License-Identifier: MPL-2.0

public import Reprojection
public import StereoVideo

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A world around the viewer with a known colour in every direction: a sky with a chart of
/// directions, a tiled floor, fixed balls and a moving one at known positions, and boards with the
/// eye's letter and the frame number.
///
/// The colour of a direction depends only on the direction, the eye and the frame. Pictures in all
/// projections show the same world, so a reprojected picture can be compared with the truth.
///
/// The chart and the boards are infinitely far away: both eyes see them in the same directions. The
/// floor and the balls are seen from each eye's position.
public struct SphereWorld: Sendable {
  /// The positions of the eyes.
  public enum Eyes: Sendable {
    /// Fixed on the axis to the right, looking ahead, like two cameras side by side.
    case ahead
    /// On the axis to the right of each direction: omnidirectional stereo, with depth all around.
    case omnidirectional
  }

  /// A colour, each component from 0 to 255, gamma-encoded with the BT.709 primaries.
  public typealias Color = (red: UInt8, green: UInt8, blue: UInt8)

  /// Distance between the eyes, in metres.
  public static let baseline = 0.0635
  /// Height of the eyes above the floor, in metres.
  public static let eyeHeight = 1.6
  /// Angular width of the edge of a thing, in radians.
  static let softness = SphereChart.softness * .pi / 180

  /// The positions of the eyes.
  public let eyes: Eyes

  /// Creates a world seen by these eyes.
  public init(_ eyes: Eyes) { self.eyes = eyes }

  /// Returns the balls in a frame, the nearest last.
  public func balls(frame: Int) -> [Ball] { Self.staticBalls + [Self.movingBall(frame: frame)] }

  /// Returns the direction in which an eye sees the centre of a ball.
  public func direction(of ball: Ball, eye: Eye) -> Direction {
    let centre = ball.centre
    let half = Self.baseline / 2 * (eye == .right ? 1 : -1)
    let origin: SIMD3<Double>
    switch eyes {
    case .ahead: origin = SIMD3(half, 0, 0)
    case .omnidirectional:
      // The line of sight is tangent to the circle of eye positions.
      let level = (centre.x * centre.x + centre.z * centre.z).squareRoot()
      let azimuth = atan2(centre.x, centre.z) - asin(half / level)
      origin = SIMD3(half * cos(azimuth), 0, -half * sin(azimuth))
    }
    let seen = centre - origin
    return Direction(x: seen.x, y: seen.y, z: seen.z)
  }

  /// Returns the colour an eye sees in a direction; black if the direction has no length.
  public func color(of direction: Direction, eye: Eye, frame: Int) -> Color {
    let color = SkyDirection(direction).map {
      self.color($0, eye, Self.movingBall(frame: frame), SphereLabel(eye: eye, frame: frame))
    }
    func byte(_ channel: Channel) -> UInt8 { color?.byte(channel) ?? 0 }
    return (byte(.red), byte(.green), byte(.blue))
  }

  /// Returns the position of an eye that looks in a direction.
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

  /// Returns the colour of the static parts of the world.
  func still(
    _ direction: SkyDirection, _ chart: SphereChart, from origin: SIMD3<Double>
  ) -> RGB {
    var color = chart.drawn(over: Self.ground(direction.ray, from: origin))
    for ball in Self.staticBalls {
      color = ball.painted(over: color, from: origin, direction.ray)
    }
    return color
  }

  private static let haze = RGB(190, 176, 184)

  /// Returns the colour of the sky or the floor.
  private static func ground(_ ray: SIMD3<Double>, from origin: SIMD3<Double>) -> RGB {
    guard ray.y > 1e-6 else {
      let height = min(1, -ray.y * 1.4)
      return haze.mixed(with: RGB(52, 78, 146), height * (2 - height))
    }
    let depth = (eyeHeight - origin.y) / ray.y
    let (x, z) = (origin.x + ray.x * depth, origin.z + ray.z * depth)
    let square = x * x + z * z
    let away = square.squareRoot()
    // Width of a soft edge on the floor along the line of sight, in metres.
    let blur = softness * (square + eyeHeight * eyeHeight) / eyeHeight
    // A single tile below the viewer, where all directions meet.
    let inner = softEdge(away - 0.45, blur)
    let checks = tile(x, blur) * tile(z, blur) * inner
    let color = RGB(98, 84, 100).mixed(with: RGB(170, 150, 150), 0.5 + 0.5 * checks)
    let near = max(0, 1 - away / 14)
    return haze.mixed(with: color, near * near)
  }

  /// Alternates between -1 and 1 every metre, with soft edges of width `blur` in metres.
  private static func tile(_ position: Double, _ blur: Double) -> Double {
    let within = position - 2 * (position / 2).rounded(.down)
    let inside = within < 1 ? min(within, 1 - within) : -min(within - 1, 2 - within)
    return min(1, max(-1, 2 * inside / blur))
  }
}

extension SphereWorld {
  /// A ball with four quarters in two colours, which meet at its apparent centre.
  public struct Ball: Sendable {
    /// A name for messages.
    public let name: String
    /// Degrees to the right of straight ahead and upwards, seen from midway between the eyes.
    public let longitude, latitude: Double
    /// Distance of the centre from midway between the eyes, in metres.
    public let distance: Double
    /// In metres.
    public let radius: Double

    /// In metres, relative to the point midway between the eyes.
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

    /// Returns `color` with the ball drawn over it.
    fileprivate func painted(over color: RGB, from origin: SIMD3<Double>, _ ray: SIMD3<Double>)
      -> RGB
    {
      let coverage = coverage(from: origin, ray)
      guard coverage > 0 else { return color }
      return color.mixed(with: self.color(from: origin, ray), coverage)
    }

    /// Returns the opacity of the ball along a ray, from 0 to 1.
    func coverage(from origin: SIMD3<Double>, _ ray: SIMD3<Double>) -> Double {
      let middle = centre - origin
      let along = dot(middle, ray)
      let reach = radius + distance * SphereWorld.softness
      let square = dot(middle, middle) - along * along
      guard along > 0, square < reach * reach else { return 0 }
      return softEdge(radius - max(0, square).squareRoot(), distance * SphereWorld.softness)
    }

    /// Returns the colour of the ball where a ray meets it or passes closest to its centre.
    func color(from origin: SIMD3<Double>, _ ray: SIMD3<Double>) -> RGB {
      let middle = centre - origin
      let along = dot(middle, ray)
      let square = max(0, dot(middle, middle) - along * along)
      // The closest point of the ray relative to the centre, in radii: the quarters face each eye.
      let beside = (ray * along - middle) / max(radius, square.squareRoot())
      let normal = beside - ray * max(0, 1 - square / (radius * radius)).squareRoot()
      func halves(_ axis: SIMD3<Double>) -> Double { min(1, max(-1, dot(beside, axis) * 12)) }
      let quarter = colors.0.mixed(with: colors.1, 0.5 + 0.5 * halves(right) * halves(up))
      let light = max(0, dot(normal, SIMD3(0.37, -0.82, -0.43)))
      return quarter.scaled(Int(150 + 106 * light))
    }
  }

  /// The static balls, farthest first.
  private static let staticBalls = [
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

  /// Returns the ball that moves from side to side ahead, nearer than all others.
  static func movingBall(frame: Int) -> Ball {
    func wave(_ period: Int) -> Double {
      Double(Wave.sine(frame, period: period, phase: 0)) / Double(Wave.unit)
    }
    return Ball(
      "moving ball", longitude: 50 * wave(240), latitude: 24 + 5 * wave(90), distance: 1.5,
      radius: 0.12, RGB(255, 112, 32), RGB(255, 250, 205))
  }
}

/// The static parts of one eye's picture.
struct SphereBackdrop: Sendable {
  private let width: Int
  /// Indexed by `Channel`.
  private var planes: [[UInt8]]

  init(width: Int, height: Int) {
    self.width = width
    let subsampled = (width: (width + 1) / 2, height: (height + 1) / 2)
    // Pixels without a direction are black.
    planes = Channel.allCases.map { channel in
      [UInt8](
        repeating: RGB(0, 0, 0).byte(channel),
        count: channel.isSubsampled ? subsampled.width * subsampled.height : width * height)
    }
  }

  mutating func set(_ x: Int, _ y: Int, _ color: RGB) {
    for channel in Channel.allCases {
      if !channel.isSubsampled {
        planes[channel.rawValue][y * width + x] = color.byte(channel)
      } else if x & 1 == 0, y & 1 == 0 {
        planes[channel.rawValue][y / 2 * ((width + 1) / 2) + x / 2] = color.byte(channel)
      }
    }
  }

  func draw<Sample>(on canvas: Canvas<Sample>, channel: Channel) {
    planes[channel.rawValue].withUnsafeBufferPointer { plane in
      guard let base = plane.baseAddress else { return }
      for row in 0..<canvas.height { canvas.copyRow(row, from: base + row * canvas.width) }
    }
  }
}

/// A square of pixels, and a cone around all directions that they show.
struct SphereBlock: Sendable {
  static let size = 16

  /// Position of the upper left pixel.
  let x, y: Int
  private let axis: SIMD3<Double>
  private let cosine, sine: Double

  /// Creates a block; nil if its pixels show nothing.
  init?(x: Int, y: Int, rays: [SIMD3<Double>]) {
    guard let first = rays.first else { return nil }
    let sum = rays.reduce(SIMD3(0, 0, 0), +)
    let length = dot(sum, sum).squareRoot()
    // If the directions cover the whole sphere, any axis is suitable.
    let axis = length > 1e-9 ? sum / length : first
    (self.x, self.y, self.axis) = (x, y, axis)
    cosine = rays.reduce(1) { min($0, dot($1, axis)) }
    sine = max(0, 1 - cosine * cosine).squareRoot()
  }

  /// Whether the cone may intersect one around `middle` whose half angle has this sine and is less
  /// than 90 degrees.
  func meets(_ middle: SIMD3<Double>, sine other: Double) -> Bool {
    let reach = cosine * max(0, 1 - other * other).squareRoot() - sine * other
    // Cones with a total angle of more than half a turn always intersect.
    return cosine < 0 || dot(axis, middle) >= reach - 1e-9
  }
}
