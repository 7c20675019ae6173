// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Where a camera in the middle of the surroundings looks, and how much it shows.
public struct CameraView: Hashable, Sendable {
  public var orientation: SphereOrientation
  /// What the picture's width covers, in degrees.
  public var fieldOfView: Double

  public init(_ orientation: SphereOrientation = .front, fieldOfView: Double = 90) {
    (self.orientation, self.fieldOfView) = (orientation, fieldOfView)
  }

  /// Yaws and rolls that are taken, in degrees: turns are counted.
  public static let turns = -360_000.0...360_000
  /// Pitches that are taken, in degrees.
  public static let pitches = -90.0...90
  /// Fields of view that are taken, in degrees.
  public static let fieldsOfView = 10.0...150
}
