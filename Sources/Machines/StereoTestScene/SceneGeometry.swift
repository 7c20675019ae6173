// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The positions of things in the scene: the horizon, the floor's disparity in each row, and the
/// camera's sway.
///
/// A floor seen from above has a disparity that is linear in the picture's row, and so is its
/// motion when the camera moves sideways. Everything on the floor follows from its row.
struct SceneGeometry: Sendable {
  let width: Int
  let height: Int
  /// First row of the floor.
  let horizon: Int
  /// Disparity of the sky and the horizon, behind the screen.
  let farDisparity: Int
  /// Disparity of the floor one row below the picture, in front of the screen.
  let nearDisparity: Int
  /// Number of landscape columns needed on each side of the picture.
  let margin: Int

  private let farSway: Int
  private let nearSway: Int
  private static let swayPeriod = 600

  init(width: Int, height: Int) {
    self.width = width
    self.height = height
    horizon = height * 54 / 100
    farDisparity = width * 36 / 1920
    nearDisparity = -(width * 52 / 1920)
    farSway = width / 96
    nearSway = width / 12
    margin = nearSway + farDisparity - nearDisparity + 2
  }

  /// The unit for object sizes: the height, unless the picture is very narrow.
  var unit: Int { max(8, min(height, width * 9 / 16)) }

  func disparity(row: Int) -> Int {
    let fall = (nearDisparity - farDisparity) * (clampedRow(row) - horizon)
    return farDisparity + fall / (height - horizon)
  }

  /// Returns the floor row with this disparity.
  func floorRow(disparity: Int) -> Int {
    let span = farDisparity - nearDisparity
    guard span > 0 else { return height * 4 / 5 }
    return horizon + (height - horizon) * (farDisparity - disparity) / span
  }

  /// Returns the horizontal offset of a thing in one eye's picture from its position between both
  /// eyes.
  func eyeShift(disparity: Int, eye: Eye) -> Int {
    let left = -(disparity >> 1)
    return eye == .left ? left : left + disparity
  }

  /// Returns how far the camera's sway moves things with this disparity: nearer things move
  /// farther.
  func sway(disparity: Int, frame: Int) -> Int {
    let span = farDisparity - nearDisparity
    let nearness = span > 0 ? (farDisparity - disparity) * Wave.unit / span : 0
    let amplitude = farSway * Wave.unit + (nearSway - farSway) * nearness
    return amplitude * Wave.sine(frame, period: Self.swayPeriod, phase: 0)
      / (Wave.unit * Wave.unit)
  }

  /// Returns the sway of one row of the landscape. It is computed from the row instead of its
  /// disparity, which is in whole pixels, so that neighbouring rows move smoothly.
  func sway(row: Int, frame: Int) -> Int {
    let nearness = (clampedRow(row) - horizon) * Wave.unit / (height - horizon)
    let amplitude = farSway * Wave.unit + (nearSway - farSway) * nearness
    return amplitude * Wave.sine(frame, period: Self.swayPeriod, phase: 0)
      / (Wave.unit * Wave.unit)
  }

  private func clampedRow(_ row: Int) -> Int { min(max(row, horizon), height) }
}

/// Periodic motion in integers.
enum Wave {
  /// The value that represents 1 in results.
  static let unit = 1 << 12

  /// Returns -unit to unit, one oscillation per `period` frames; two parabolas approximate the
  /// sine.
  static func sine(_ frame: Int, period: Int, phase: Int) -> Int {
    let half = hop(frame, period: period, phase: phase, hops: 2)
    return half.isSecond ? -half.height : half.height
  }

  /// Returns 0 to unit and back to 0 in `period` frames, like a ball thrown up.
  static func bounce(_ frame: Int, period: Int, phase: Int) -> Int {
    hop(frame, period: period, phase: phase, hops: 1).height
  }

  private static func hop(
    _ frame: Int, period: Int, phase: Int, hops: Int
  ) -> (height: Int, isSecond: Bool) {
    // Reduced first, so that no frame number can overflow.
    let reduced = frame % period
    let time = (((reduced + phase) % period) + period) % period
    let step = time * hops * unit / period
    let within = step % unit
    return (4 * within * (unit - within) / unit, step >= unit)
  }
}
