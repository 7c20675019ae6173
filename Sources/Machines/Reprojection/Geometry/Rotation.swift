// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A rotation of directions, as a matrix.
public struct Rotation: Hashable, Sendable {
  /// The rotated axes x, y and z.
  var x, y, z: Direction

  /// No rotation.
  public static let identity = Rotation(
    x: Direction(x: 1, y: 0, z: 0), y: Direction(x: 0, y: 1, z: 0), z: Direction(x: 0, y: 0, z: 1))

  init(x: Direction, y: Direction, z: Direction) {
    (self.x, self.y, self.z) = (x, y, z)
  }

  /// Creates the rotation from a view's coordinates, with z along its line of sight, to those of
  /// the surroundings. An orientation that is not finite is replaced by
  /// ``SphereOrientation/front``.
  public init(view: SphereOrientation) {
    guard view.isFinite else {
      self = .identity
      return
    }
    func sine(_ degrees: Double) -> (Double, Double) {
      // Whole turns are removed in degrees, because large angles in radians are inexact.
      let radians = degrees.remainder(dividingBy: 360) * .pi / 180
      return (sin(radians), cos(radians))
    }
    let ((sy, cy), (sp, cp), (sr, cr)) = (sine(view.yaw), sine(view.pitch), sine(view.roll))
    x = Direction(x: cy * cr + sy * sp * sr, y: cp * sr, z: -sy * cr + cy * sp * sr)
    y = Direction(x: -cy * sr + sy * sp * cr, y: cp * cr, z: sy * sr + cy * sp * cr)
    z = Direction(x: sy * cp, y: -sp, z: cy * cp)
  }

  /// Creates the rotation from the surroundings to a picture with the pose `pose` (`prhd` of
  /// Spherical Video V2, with counter-clockwise yaw).
  public init(toPose pose: SphereOrientation) {
    self =
      Rotation(
        view: SphereOrientation(yaw: -pose.yaw, pitch: pose.pitch, roll: pose.roll)
      ).inverse
  }

  /// Creates a rotation from the vector part of a unit quaternion. A vector longer than 1 is
  /// normalized; one that is not finite gives no rotation.
  init(quaternionX i: Double, _ j: Double, _ k: Double) {
    let square = i * i + j * j + k * k
    guard square.isFinite else {
      self = .identity
      return
    }
    let scale = square > 1 ? 1 / square.squareRoot() : 1
    let (i, j, k, w) = (i * scale, j * scale, k * scale, max(0, 1 - square).squareRoot())
    x = Direction(x: 1 - 2 * (j * j + k * k), y: 2 * (i * j + k * w), z: 2 * (i * k - j * w))
    y = Direction(x: 2 * (i * j - k * w), y: 1 - 2 * (i * i + k * k), z: 2 * (j * k + i * w))
    z = Direction(x: 2 * (i * k + j * w), y: 2 * (j * k - i * w), z: 1 - 2 * (i * i + j * j))
  }

  /// The opposite rotation.
  public var inverse: Rotation {
    Rotation(
      x: Direction(x: x.x, y: y.x, z: z.x), y: Direction(x: x.y, y: y.y, z: z.y),
      z: Direction(x: x.z, y: y.z, z: z.z))
  }

  /// Returns the rotated direction.
  public func callAsFunction(_ direction: Direction) -> Direction {
    let (a, b, c) = (direction.x, direction.y, direction.z)
    return Direction(
      x: x.x * a + y.x * b + z.x * c, y: x.y * a + y.y * b + z.y * c,
      z: x.z * a + y.z * b + z.z * c)
  }

  /// Returns the rotation by `right`, then by `left`.
  public static func * (left: Rotation, right: Rotation) -> Rotation {
    Rotation(x: left(right.x), y: left(right.y), z: left(right.z))
  }
}

/// A direction from the viewer: x to the right, y down, z ahead, of any length above 0.
public struct Direction: Hashable, Sendable {
  /// The components; the length does not matter.
  public var x, y, z: Double

  /// Creates a direction from its components.
  public init(x: Double, y: Double, z: Double) {
    (self.x, self.y, self.z) = (x, y, z)
  }

  /// The direction with length 1; nil if it has no length or is not finite.
  public var normalized: Direction? {
    let largest = max(abs(x), abs(y), abs(z))
    guard largest > 0, largest.isFinite else { return nil }
    let (x, y, z) = (x / largest, y / largest, z / largest)
    let length = (x * x + y * y + z * z).squareRoot()
    return Direction(x: x / length, y: y / length, z: z / length)
  }
}

/// A position in a picture in pixels; the centre of the upper left pixel is (0, 0).
public struct PicturePosition: Hashable, Sendable {
  /// Pixels to the right and down.
  public var x, y: Double

  /// Creates a position.
  public init(x: Double, y: Double) {
    (self.x, self.y) = (x, y)
  }
}

extension SphereOrientation {
  /// Creates the orientation, with the given roll, in which a view shows `direction` at its own
  /// direction `ray`, as when dragging the picture there. If no pitch from -90 to 90 degrees
  /// achieves that, the nearest pitch is used; nil if either direction has no length.
  public init?(seeing direction: Direction, at ray: Direction, roll: Double) {
    guard let direction = direction.normalized,
      let own = Rotation(view: SphereOrientation(roll: roll))(ray).normalized, own.z > 0
    else { return nil }
    // Pitch rotates y and z: y cos p - z sin p must equal the direction's y.
    let reach = (own.y * own.y + own.z * own.z).squareRoot()
    let angle = acos(max(-1, min(1, direction.y / reach))) - atan2(own.z, own.y)
    let pitch = max(-.pi / 2, min(.pi / 2, angle))
    let depth = own.y * sin(pitch) + own.z * cos(pitch)
    let yaw = atan2(direction.x, direction.z) - atan2(own.x, depth)
    self.init(
      yaw: (yaw * 180 / .pi).remainder(dividingBy: 360), pitch: pitch * 180 / .pi, roll: roll)
  }
}
