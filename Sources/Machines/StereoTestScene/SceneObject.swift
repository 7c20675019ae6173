// SPDX-License-Identifier: MPL-2.0

extension StereoTestScene {
  /// An object that moves through the scene at a constant depth.
  public struct Object: Sendable, Equatable {
    /// The outline of an object.
    public enum Shape: Sendable, Equatable {
      case disc
      case box
    }

    /// A name for messages: `balloon`, `front ball`.
    public let name: String
    /// The outline, which fills `width` by `height`.
    public let shape: Shape
    /// x in the right eye minus x in the left eye, in pixels; positive is behind the screen.
    public let disparity: Int
    /// Width in pixels, the same in both eyes.
    public let width: Int
    /// Height in pixels.
    public let height: Int

    let motion: Motion
    let surface: Surface
  }
}

extension StereoTestScene.Object {
  /// The path of an object's centre, without the camera's sway and the eye's offset.
  struct Motion: Sendable, Equatable {
    var x: Int
    var y: Int
    /// Amplitude of the horizontal motion to either side, in pixels.
    var swing = 0
    /// Period of the horizontal motion in frames.
    var swingPeriod = 1
    var phase = 0
    /// Height of the vertical motion, in pixels.
    var hop = 0
    var hopPeriod = 1
    /// Row of its shadow; nil for objects in the sky.
    var floorRow: Int?

    func x(at frame: Int) -> Int {
      x + swing * Wave.sine(frame, period: swingPeriod, phase: phase) / Wave.unit
    }

    func y(at frame: Int) -> Int {
      y - hop * Wave.bounce(frame, period: hopPeriod, phase: phase) / Wave.unit
    }
  }

  /// The pattern of an object's surface.
  enum Surface: Sendable, Equatable {
    /// Emits light, also in a ring around it.
    case sun(RGB)
    /// Vertical panels of two colours, as on a balloon.
    case panels(RGB, RGB)
    /// Squares of two colours between meridians and parallels.
    case checks(RGB, RGB)
    /// Boards in a frame.
    case crate(RGB)
    /// A tile with a raised edge and a round mark.
    case tile(RGB, RGB)
  }

  /// Returns the objects of a scene of this size, farthest first.
  static func cast(in geometry: SceneGeometry) -> [Self] {
    let (width, height, unit) = (geometry.width, geometry.height, geometry.unit)
    let (far, near) = (geometry.farDisparity, geometry.nearDisparity)

    func onFloor(
      _ name: String, _ shape: StereoTestScene.Object.Shape, disparity: Int, size: Int, x: Int,
      swing: Int, swingPeriod: Int, phase: Int, hop: Int, hopPeriod: Int, surface: Surface
    ) -> Self {
      let floorRow = geometry.floorRow(disparity: disparity)
      return Self(
        name: name, shape: shape, disparity: disparity, width: size, height: size,
        motion: Motion(
          x: x, y: floorRow - size + size / 2, swing: swing, swingPeriod: swingPeriod,
          phase: phase, hop: hop, hopPeriod: hopPeriod, floorRow: floorRow),
        surface: surface)
    }

    let sunSize = unit * 26 / 100
    let balloonSize = unit * 19 / 100
    return [
      Self(
        name: "sun", shape: .disc, disparity: far, width: sunSize, height: sunSize,
        motion: Motion(x: width * 71 / 100, y: height * 30 / 100),
        surface: .sun(RGB(255, 226, 160))),
      Self(
        name: "balloon", shape: .disc, disparity: far * 2 / 3, width: balloonSize,
        height: balloonSize,
        motion: Motion(
          x: width * 41 / 100, y: height * 27 / 100, swing: width * 9 / 100, swingPeriod: 720,
          phase: 40, hop: height * 5 / 100, hopPeriod: 300),
        surface: .panels(RGB(238, 92, 92), RGB(255, 236, 205))),
      onFloor(
        "far ball", .disc, disparity: far / 3, size: unit * 13 / 100, x: width * 74 / 100,
        swing: width * 10 / 100, swingPeriod: 360, phase: 20, hop: height * 15 / 100,
        hopPeriod: 54, surface: .panels(RGB(255, 196, 61), RGB(54, 120, 196))),
      onFloor(
        "crate", .box, disparity: 0, size: unit * 19 / 100, x: width * 20 / 100,
        swing: width * 5 / 100, swingPeriod: 420, phase: 100, hop: 0, hopPeriod: 1,
        surface: .crate(RGB(205, 140, 78))),
      onFloor(
        "tile", .box, disparity: near * 2 / 5, size: unit * 18 / 100, x: width * 86 / 100,
        swing: width * 4 / 100, swingPeriod: 300, phase: 140, hop: height * 7 / 100,
        hopPeriod: 120, surface: .tile(RGB(38, 166, 154), RGB(255, 224, 130))),
      onFloor(
        "front ball", .disc, disparity: near * 7 / 10, size: unit * 32 / 100,
        x: width * 47 / 100, swing: width * 17 / 100, swingPeriod: 480, phase: 14,
        hop: height * 24 / 100, hopPeriod: 72,
        surface: .checks(RGB(226, 52, 62), RGB(250, 246, 238))
      ),
    ]
  }
}

extension StereoTestScene.Object.Surface {
  var isEmissive: Bool {
    if case .sun = self { true } else { false }
  }

  /// Returns a point of a disc with radius 1024 around (0, 0), shaded as a ball.
  func disc(x: Int, y: Int) -> SpritePoint {
    let square = x * x + y * y
    let radius = 1024
    if case .sun(let color) = self {
      let distance = integerSquareRoot(square)
      guard distance > radius else {
        return SpritePoint(RGB(255, 244, 214).mixed(with: color, distance / 4))
      }
      let fade = max(0, 2 * radius - distance)
      return SpritePoint(color, alpha: 130 * fade / radius * fade / radius)
    }
    guard square <= radius * radius else { return .clear }
    let z = integerSquareRoot(radius * radius - square)
    return SpritePoint(Self.lit(ballColor(x, y, z), x, y, z))
  }

  /// Returns a point of a box with the corners (0, 0) and (1024, 1024).
  func box(x: Int, y: Int) -> SpritePoint {
    let edge = min(x, y, 1023 - x, 1023 - y)
    switch self {
    case .crate(let color):
      if edge < 130 || abs(x - y) < 92 {
        let outline = edge < 14 || (110..<130).contains(edge) || (74..<92).contains(abs(x - y))
        return SpritePoint(color.scaled(outline ? 150 : 286 - y / 12))
      }
      let board = (x - 130) * 5 / 764
      let gap = (x - 130) * 5 % 764 < 60
      return SpritePoint(color.scaled(gap ? 84 : 196 + (board * 37) % 32 - y / 16))
    case .tile(let color, let mark):
      if edge < 96 {
        let isLit = edge == y || edge == 1023 - x
        return SpritePoint(color.scaled(isLit ? 330 : 150))
      }
      let square = (x - 512) * (x - 512) + (y - 512) * (y - 512)
      if (150 * 150...290 * 290).contains(square) { return SpritePoint(mark) }
      return SpritePoint(color.scaled(276 - y / 14))
    case .sun(let color), .panels(let color, _), .checks(let color, _):
      return SpritePoint(color)
    }
  }

  private func ballColor(_ x: Int, _ y: Int, _ z: Int) -> RGB {
    // The ball's axis leans to the right and away, by angles of right triangles with integer sides.
    let (leanX, leanY) = ((12 * x - 5 * y) / 13, (5 * x + 12 * y) / 13)
    let (turnX, turnZ) = ((4 * leanX + 3 * z) / 5, (4 * z - 3 * leanX) / 5)
    switch self {
    case .panels(let one, let other):
      let meridian = Self.count(abs(turnX) * 1024, atLeast: [424, 2472], times: abs(turnZ))
      return meridian.isMultiple(of: 2) ? one : other
    case .checks(let one, let other):
      let meridian = Self.count(
        abs(turnX) * 1024, atLeast: [204, 684, 1533, 5148], times: abs(turnZ))
      let parallel = Self.count(abs(leanY), atLeast: [392, 724, 946], times: 1)
      return (meridian + parallel + (leanY < 0 ? 1 : 0)).isMultiple(of: 2) ? one : other
    case .sun(let color), .crate(let color), .tile(let color, _):
      return color
    }
  }

  /// Returns how many of the limits, tangents or sines in 1024ths, the value reaches.
  private static func count(_ value: Int, atLeast limits: [Int], times factor: Int) -> Int {
    var count = 0
    for limit in limits where value >= limit * factor { count += 1 }
    return count
  }

  /// Shades a colour with light from the upper right and a highlight; (x, y, z) has length 1024.
  private static func lit(_ color: RGB, _ x: Int, _ y: Int, _ z: Int) -> RGB {
    let diffuse = max(0, 410 * x - 614 * y + 707 * z) >> 10
    var highlight = max(0, 223 * x - 334 * y + 942 * z) >> 10
    for _ in 0..<5 { highlight = (highlight * highlight) >> 10 }
    let rim = 1024 - z
    let shade = color.scaled(96 + diffuse * 176 / 1024)
      .mixed(with: RGB(96, 70, 140), rim * rim / 12000)
    return shade.lightened(highlight * 150 / 1024)
  }
}
