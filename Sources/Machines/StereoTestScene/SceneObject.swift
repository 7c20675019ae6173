// SPDX-License-Identifier: MPL-2.0

extension StereoTestScene {
  /// Something that moves through the scene at one depth.
  public struct Object: Sendable, Equatable {
    /// The outline of an object.
    public enum Shape: Sendable, Equatable {
      case disc
      case box
    }

    /// A word for messages: `balloon`, `front ball`.
    public let name: String
    /// The outline, which fills `width` by `height`.
    public let shape: Shape
    /// x in the right eye minus x in the left eye, in pixels: positive is behind the screen.
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
  /// The way of an object's middle, before the camera's sway and the eye.
  struct Motion: Sendable, Equatable {
    var x: Int
    var y: Int
    /// How far it moves to either side.
    var swing = 0
    /// Frames for once to and fro.
    var swingPeriod = 1
    var phase = 0
    /// How far it goes up.
    var hop = 0
    var hopPeriod = 1
    /// Where its shadow lies; nil for what hangs in the sky.
    var floorRow: Int?

    func x(at frame: Int) -> Int {
      x + swing * Wave.sine(frame, period: swingPeriod, phase: phase) / Wave.unit
    }

    func y(at frame: Int) -> Int {
      y - hop * Wave.bounce(frame, period: hopPeriod, phase: phase) / Wave.unit
    }
  }

  /// What an object is painted with.
  enum Surface: Sendable, Equatable {
    /// Shines by itself, and on a ring around it.
    case sun(RGB)
    /// Vertical panels of two colours, as of a balloon.
    case panels(RGB, RGB)
    /// Squares of two colours between meridians and parallels.
    case checks(RGB, RGB)
    /// Boards within a frame.
    case crate(RGB)
    /// A tile with a raised edge and a round mark.
    case tile(RGB, RGB)
  }

  /// The objects of a scene of this size, farthest first.
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
