// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Where things stand: the horizon, the floor's disparity row by row, the camera's sway.
///
/// A floor seen from above has a disparity that is linear in the picture's row, and so is its
/// motion when the camera moves sideways. Everything that stands on the floor follows from its
/// row.
struct SceneGeometry: Sendable {
  let width: Int
  let height: Int
  /// The first row of the floor.
  let horizon: Int
  /// The disparity of the sky and of the horizon; behind the screen.
  let farDisparity: Int
  /// The disparity that the floor would have one row below the picture; in front of the screen.
  let nearDisparity: Int
  /// Columns of landscape that must exist on either side of the picture.
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

  /// The length that objects are measured in: the height, unless the picture is very narrow.
  var unit: Int { max(8, min(height, width * 9 / 16)) }

  func disparity(row: Int) -> Int {
    let fall = (nearDisparity - farDisparity) * (clampedRow(row) - horizon)
    return farDisparity + fall / (height - horizon)
  }

  /// The floor's row at which things have this disparity.
  func floorRow(disparity: Int) -> Int {
    let span = farDisparity - nearDisparity
    guard span > 0 else { return height * 4 / 5 }
    return horizon + (height - horizon) * (farDisparity - disparity) / span
  }

  /// How far an eye sees a thing from where both eyes together see it.
  func eyeShift(disparity: Int, eye: Eye) -> Int {
    let left = -(disparity >> 1)
    return eye == .left ? left : left + disparity
  }

  /// How far the camera's sway moves things of this disparity: the nearer, the farther.
  func sway(disparity: Int, frame: Int) -> Int {
    let span = farDisparity - nearDisparity
    let nearness = span > 0 ? (farDisparity - disparity) * Wave.unit / span : 0
    let amplitude = farSway * Wave.unit + (nearSway - farSway) * nearness
    return amplitude * Wave.sine(frame, period: Self.swayPeriod, phase: 0)
      / (Wave.unit * Wave.unit)
  }

  /// The sway of one row of the landscape. Computed from the row, not from its whole-pixel
  /// disparity, so that neighbouring rows move smoothly against each other.
  func sway(row: Int, frame: Int) -> Int {
    let nearness = (clampedRow(row) - horizon) * Wave.unit / (height - horizon)
    let amplitude = farSway * Wave.unit + (nearSway - farSway) * nearness
    return amplitude * Wave.sine(frame, period: Self.swayPeriod, phase: 0)
      / (Wave.unit * Wave.unit)
  }

  private func clampedRow(_ row: Int) -> Int { min(max(row, horizon), height) }
}

/// Periodic motion in whole numbers.
enum Wave {
  /// What stands for 1 in the results.
  static let unit = 1 << 12

  /// From -unit to unit, once back and forth in `period` frames; two parabolas in place of a sine.
  static func sine(_ frame: Int, period: Int, phase: Int) -> Int {
    let half = hop(frame, period: period, phase: phase, hops: 2)
    return half.isSecond ? -half.height : half.height
  }

  /// From 0 to unit and back to 0 in `period` frames, as a ball thrown up.
  static func bounce(_ frame: Int, period: Int, phase: Int) -> Int {
    hop(frame, period: period, phase: phase, hops: 1).height
  }

  private static func hop(
    _ frame: Int, period: Int, phase: Int, hops: Int
  ) -> (height: Int, isSecond: Bool) {
    // Reduced first, so that no frame number overflows.
    let reduced = frame % period
    let time = (((reduced + phase) % period) + period) % period
    let step = time * hops * unit / period
    let within = step % unit
    return (4 * within * (unit - within) / unit, step >= unit)
  }
}
