// SPDX-License-Identifier: MPL-2.0

public import Reprojection
public import StereoVideo

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Pictures of a ``SphereWorld`` in one projection. Each pixel has the colour of the direction of
/// its centre.
///
/// The static parts are drawn once, in `init`; a frame takes row copies, the boards, and the blocks
/// of pixels that the moving ball touches, without allocations. Pixels come from floating-point
/// arithmetic: they are equal on machines with the same math library.
///
/// ```swift
/// let scene = SphereScene(.equirectangular(.full), width: 2048, height: 1024)
/// try scene?.render(eye: .left, frame: 0, into: .packed(pixels, .rgbx))
/// ```
public struct SphereScene: Sendable {
  /// The directions of the pixels.
  public let geometry: PictureGeometry
  /// The world that is drawn.
  public let world: SphereWorld

  private var backdrops: [SphereBackdrop] = []
  private var blocks: [SphereBlock] = []
  private var boards: [BoardPixel] = []

  private struct BoardPixel: Sendable {
    let x, y: Int
    let place: SphereLabel.Place
  }

  /// Draws the static parts for both eyes; nil if a size is not in
  /// `StereoTestScene.supportedSizes`, or if the projection cannot be computed.
  ///
  /// Time and memory (9 bytes per pixel) are proportional to the picture size. Pictures that cover
  /// 360 degrees use omnidirectional stereo; in others, the eyes look ahead.
  public init?(_ projection: Projection, width: Int, height: Int) {
    let sizes = StereoTestScene.supportedSizes
    guard sizes.contains(width), sizes.contains(height),
      let geometry = try? PictureGeometry(projection, width: width, height: height)
    else { return nil }
    self.geometry = geometry
    world = SphereWorld(Self.eyes(projection))
    drawStatic()
  }

  private static func eyes(_ projection: Projection) -> SphereWorld.Eyes {
    switch projection {
    case .equirectangular(let bounds):
      bounds.left == 0 && bounds.right == 0 ? .omnidirectional : .ahead
    case .cubemap: .omnidirectional
    case .rectilinear, .fisheye, .parametric: .ahead
    }
  }

  private mutating func drawStatic() {
    let (width, height) = (geometry.width, geometry.height)
    var backdrops = Eye.allCases.map { _ in SphereBackdrop(width: width, height: height) }
    var rays: [SIMD3<Double>] = []
    rays.reserveCapacity(SphereBlock.size * SphereBlock.size)
    for top in stride(from: 0, to: height, by: SphereBlock.size) {
      for left in stride(from: 0, to: width, by: SphereBlock.size) {
        rays.removeAll(keepingCapacity: true)
        for y in top..<min(height, top + SphereBlock.size) {
          for x in left..<min(width, left + SphereBlock.size) {
            guard let direction = direction(x, y) else { continue }
            rays.append(direction.ray)
            if let place = SphereLabel.Place(direction) {
              boards.append(BoardPixel(x: x, y: y, place: place))
              continue
            }
            let chart = SphereChart(direction)
            for (index, eye) in Eye.allCases.enumerated() {
              let origin = world.origin(eye, direction)
              backdrops[index].set(x, y, world.still(direction, chart, from: origin))
            }
          }
        }
        if let block = SphereBlock(x: left, y: top, rays: rays) { blocks.append(block) }
      }
    }
    self.backdrops = backdrops
  }

  private func direction(_ x: Int, _ y: Int) -> SkyDirection? {
    geometry.direction(of: PicturePosition(x: Double(x), y: Double(y))).flatMap(SkyDirection.init)
  }

  /// Draws one eye of one frame.
  ///
  /// - Parameter frame: any integer; the boards show its last six digits.
  /// - Throws: `DestinationError` if a plane is too small for the picture; nothing is drawn then.
  public func render(
    eye: Eye, frame: Int, into destination: StereoTestScene.Destination
  ) throws(StereoTestScene.DestinationError) {
    try destination.check(width: geometry.width, height: geometry.height)
    let ball = SphereWorld.movingBall(frame: frame)
    let label = SphereLabel(eye: eye, frame: frame)
    destination.forEachComponent(width: geometry.width, height: geometry.height) { component in
      switch component {
      case .eightBit(let canvas, let channel): draw(eye, ball, label, channel, on: canvas)
      case .tenBit(let canvas, let channel): draw(eye, ball, label, channel, on: canvas)
      }
    }
  }

  private func draw<Sample>(
    _ eye: Eye, _ ball: SphereWorld.Ball, _ label: SphereLabel, _ channel: Channel,
    on canvas: Canvas<Sample>
  ) {
    backdrops[eye == .left ? 0 : 1].draw(on: canvas, channel: channel)
    for pixel in boards where canvas.hasSample(x: pixel.x, y: pixel.y) {
      canvas.set(x: pixel.x, y: pixel.y, label.color(pixel.place).byte(channel))
    }
    let middle = ball.centre / ball.distance
    // Valid for any viewpoint between the eyes.
    let reach =
      (ball.radius + SphereWorld.baseline / 2) / ball.distance + SphereWorld.softness
    for block in blocks where block.meets(middle, sine: reach) {
      draw(block, eye, ball, label, channel, on: canvas)
    }
  }

  private func draw<Sample>(
    _ block: SphereBlock, _ eye: Eye, _ ball: SphereWorld.Ball, _ label: SphereLabel,
    _ channel: Channel, on canvas: Canvas<Sample>
  ) {
    for y in stride(
      from: block.y, to: min(geometry.height, block.y + SphereBlock.size), by: canvas.spacing)
    {
      for x in stride(
        from: block.x, to: min(geometry.width, block.x + SphereBlock.size), by: canvas.spacing)
      {
        guard let direction = direction(x, y) else { continue }
        let origin = world.origin(eye, direction)
        let coverage = ball.coverage(from: origin, direction.ray)
        guard coverage > 0 else { continue }
        let color =
          coverage < 1
          ? world.color(direction, eye, ball, label) : ball.color(from: origin, direction.ray)
        canvas.set(x: x, y: y, color.byte(channel))
      }
    }
  }
}

/// A direction in the coordinates of the sky chart.
struct SkyDirection {
  /// Unit vector: x to the right, y down, z ahead.
  let ray: SIMD3<Double>
  /// Degrees to the right of straight ahead, -180 to 180.
  let longitude: Double
  /// Degrees above the horizon, -90 to 90.
  let latitude: Double

  /// Creates the direction; nil if `direction` has no length.
  init?(_ direction: Direction) {
    guard let unit = direction.normalized else { return nil }
    self.init(ray: SIMD3(unit.x, unit.y, unit.z))
  }

  private init(ray: SIMD3<Double>) {
    self.ray = ray
    longitude = atan2(ray.x, ray.z) * 180 / .pi
    latitude = -asin(max(-1, min(1, ray.y))) * 180 / .pi
  }

  /// Creates a direction from angles.
  ///
  /// - Parameters:
  ///   - longitude: in degrees, to the right.
  ///   - latitude: in degrees, up.
  init(longitude: Double, latitude: Double) {
    let (azimuth, height) = (longitude * .pi / 180, latitude * .pi / 180)
    ray = SIMD3(sin(azimuth) * cos(height), -sin(height), cos(azimuth) * cos(height))
    (self.longitude, self.latitude) = (longitude, latitude)
  }

  /// The nearest of ahead (0), right (1), back (2) and left (3), and the longitude relative to it
  /// in degrees.
  var side: (index: Int, longitude: Double) {
    let quarter = (longitude / 90).rounded()
    return (Int(quarter) & 3, longitude - quarter * 90)
  }
}

func dot(_ one: SIMD3<Double>, _ other: SIMD3<Double>) -> Double {
  one.x * other.x + one.y * other.y + one.z * other.z
}

/// Returns the opacity at a distance inside an edge, from 0 to 1; it is one half at the edge.
///
/// - Parameter softness: the width of the edge, in the same unit as `distance`.
func softEdge(_ distance: Double, _ softness: Double) -> Double {
  min(1, max(0, distance / softness + 0.5))
}

extension RGB {
  /// Returns a mixture: this colour at `amount` 0, the other at `amount` 1.
  func mixed(with other: RGB, _ amount: Double) -> RGB {
    mixed(with: other, Int(amount * 256))
  }
}
