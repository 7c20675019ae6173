// SPDX-License-Identifier: MPL-2.0

/// A circular picture, centred and as large as the picture's shorter side.
public struct FisheyeLens: Hashable, Sendable {
  /// How the distance from the centre grows with the angle from the axis.
  public enum Mapping: Hashable, Sendable {
    /// As the angle itself.
    case equidistant
    /// As the sine of half the angle: equal areas.
    case equisolid
    /// As the tangent of half the angle: circles stay circles.
    case stereographic
    /// As the sine of the angle; up to 180 degrees.
    case orthographic
    /// As a(1 + k1 a² + k2 a⁴ + k3 a⁶ + k4 a⁸), a being the angle in radians (Kannala and Brandt).
    case kannalaBrandt(k1: Double, k2: Double, k3: Double, k4: Double)
  }

  /// The angle across the circle, in degrees: above 0, up to 360.
  public var fieldOfView: Double
  public var mapping: Mapping

  public init(fieldOfView: Double = 180, mapping: Mapping = .equidistant) {
    self.fieldOfView = fieldOfView
    self.mapping = mapping
  }
}
