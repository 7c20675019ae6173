// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// Decides which frames of two eyes belong together, by their running times.
///
/// Cameras that are not locked to each other drift and jitter, so that the frames of a pair may lie
/// half a frame apart, now a little less and now a little more. A limit at half a frame would tear
/// such pairs apart again and again. So pairs that have been found may lie up to three quarters of a
/// frame apart; once a frame has been left out, the next pair has to lie within half a frame, which
/// one of two neighbours always does.
struct FramePairing {
  enum Decision: Equatable {
    case pair
    /// The frame of this eye comes before any that the other one still has.
    case drop(Eye)
  }

  /// Without a rate, frames of a pair lie at most this far apart.
  private static let usualTolerance = ClockTime.second / 1000

  /// Whether the frames before these were a pair, or these are the first.
  private var isPaired = true

  /// - Parameters:
  ///   - left: a running time in nanoseconds; nil where a frame has none, which then goes with
  ///     whatever the other eye has.
  ///   - right: the same of the right eye.
  ///   - frameDuration: in nanoseconds; nil where it is not known.
  mutating func decide(
    left: Int64?, right: Int64?, frameDuration: ClockTime?, _ settings: PairingSettings
  ) -> Decision {
    guard let left, let right else { return .pair }
    let moved = saturatingSum(right, settings.rightEyeOffset)
    let distance = saturatingDifference(left, moved).magnitude
    isPaired = distance <= limit(frameDuration, settings)
    return isPaired ? .pair : .drop(left < moved ? .left : .right)
  }

  private func limit(_ frameDuration: ClockTime?, _ settings: PairingSettings) -> ClockTime {
    let usual = frameDuration.map { $0 / 4 * 3 } ?? Self.usualTolerance
    let tolerance = settings.tolerance > 0 ? settings.tolerance : usual
    return isPaired ? tolerance : min(tolerance, frameDuration.map { $0 / 2 } ?? tolerance)
  }
}
