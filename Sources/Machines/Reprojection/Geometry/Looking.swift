// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

extension SphereOrientation {
  /// The orientation, with some roll, in which a view sees `direction` where it has its own
  /// direction `ray`: what a hand that holds the picture there does. Where no pitch from -90 to 90
  /// degrees brings it there, the nearest one; nil where either points nowhere.
  public init?(seeing direction: Direction, at ray: Direction, roll: Double) {
    guard let direction = direction.normalized,
      let own = Rotation(view: SphereOrientation(roll: roll))(ray).normalized, own.z > 0
    else { return nil }
    // Pitch turns y and z: y cos p - z sin p has to become the direction's y.
    let reach = (own.y * own.y + own.z * own.z).squareRoot()
    let angle = acos(max(-1, min(1, direction.y / reach))) - atan2(own.z, own.y)
    let pitch = max(-.pi / 2, min(.pi / 2, angle))
    let depth = own.y * sin(pitch) + own.z * cos(pitch)
    let yaw = atan2(direction.x, direction.z) - atan2(own.x, depth)
    self.init(
      yaw: (yaw * 180 / .pi).remainder(dividingBy: 360), pitch: pitch * 180 / .pi, roll: roll)
  }
}
