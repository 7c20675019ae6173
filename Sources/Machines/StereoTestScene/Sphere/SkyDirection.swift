// SPDX-License-Identifier: MPL-2.0

internal import Reprojection

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A direction as a chart of the sky has it.
struct SkyDirection {
  /// Of length 1: x to the right, y down, z ahead.
  let ray: SIMD3<Double>
  /// In degrees, from straight ahead: -180 to 180, to the right.
  let longitude: Double
  /// In degrees, from the horizon: -90 to 90, up.
  let latitude: Double

  /// Nil for a direction that points nowhere.
  init?(_ direction: Direction) {
    guard let unit = direction.normalized else { return nil }
    self.init(ray: SIMD3(unit.x, unit.y, unit.z))
  }

  private init(ray: SIMD3<Double>) {
    self.ray = ray
    longitude = atan2(ray.x, ray.z) * 180 / .pi
    latitude = -asin(max(-1, min(1, ray.y))) * 180 / .pi
  }

  /// - Parameters:
  ///   - longitude: in degrees, to the right.
  ///   - latitude: in degrees, up.
  init(longitude: Double, latitude: Double) {
    let (azimuth, height) = (longitude * .pi / 180, latitude * .pi / 180)
    ray = SIMD3(sin(azimuth) * cos(height), -sin(height), cos(azimuth) * cos(height))
    (self.longitude, self.latitude) = (longitude, latitude)
  }

  /// The nearest of ahead, right, back and left, counted from 0, and the degrees to the right of it.
  var side: (index: Int, longitude: Double) {
    let quarter = (longitude / 90).rounded()
    return (Int(quarter) & 3, longitude - quarter * 90)
  }
}

func dot(_ one: SIMD3<Double>, _ other: SIMD3<Double>) -> Double {
  one.x * other.x + one.y * other.y + one.z * other.z
}

/// How much of something is seen at a distance inside its edge, from 0 to 1: half of it at the edge.
///
/// - Parameter softness: the width of the edge, of the distance's unit.
func softEdge(_ distance: Double, _ softness: Double) -> Double {
  min(1, max(0, distance / softness + 0.5))
}

extension RGB {
  /// This colour at `amount` 0, the other at `amount` 1.
  func mixed(with other: RGB, _ amount: Double) -> RGB {
    mixed(with: other, Int(amount * 256))
  }
}
