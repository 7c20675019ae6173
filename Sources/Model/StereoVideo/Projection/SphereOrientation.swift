// SPDX-License-Identifier: MPL-2.0

/// A rotation by yaw about the vertical, then pitch about the axis to the right, then roll about
/// the line of sight, in degrees: of a view, positive yaw looks to the right, positive pitch up,
/// and positive roll turns the camera clockwise.
public struct SphereOrientation: Hashable, Sendable {
  public var yaw, pitch, roll: Double

  public init(yaw: Double = 0, pitch: Double = 0, roll: Double = 0) {
    (self.yaw, self.pitch, self.roll) = (yaw, pitch, roll)
  }

  /// Straight ahead.
  public static let front = SphereOrientation()

  public var isFinite: Bool { yaw.isFinite && pitch.isFinite && roll.isFinite }
}
