// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// The running times at which raw frames are encoded: each is after the one before.
///
/// Where times go back by a second or more, a source has begun again: its frames continue without a
/// break, until its own times are after the last frame's again.
struct RawTimes {
  /// Added to the frames' own times.
  private(set) var shift: RunningTime = 0
  /// Running time of the last frame encoded.
  private var last: RunningTime?
  private var jumps = 0
  private var pace = WarningPace()
  private var warning: ElementError?

  /// Times that go back by less are those of a frame that comes late.
  private static let smallestJump: RunningTime = RunningTime(clamping: .second)

  /// Returns the running time for a frame of this one; nil if the frame comes too late.
  func placed(_ time: RunningTime, frameDuration: ClockTime?) -> RunningTime? {
    guard let last, time <= last else { return time }
    let shifted = time + shift
    guard shifted <= last else { return shifted }
    guard last - shifted >= Self.smallestJump else { return nil }
    let next = last + RunningTime(clamping: frameDuration ?? 33 * .millisecond)
    // At the end of time, sums stay where they are.
    return next > last ? next : nil
  }

  /// Returns the running time for the next frame; nil if it comes too late.
  mutating func next(_ time: RunningTime, frameDuration: ClockTime?) -> RunningTime? {
    guard let placed = placed(time, frameDuration: frameDuration) else { return nil }
    let shift = placed - time
    if shift > self.shift { note(jump: self.shift - shift, at: placed) }
    (self.shift, last) = (shift, placed)
    return placed
  }

  private mutating func note(jump: RunningTime, at time: RunningTime) {
    jumps += 1
    guard pace.allows(at: time) else { return }
    warning = ElementError(
      .failedStream,
      "The timestamps of the frames jumped back by \(jump.magnitude.seconds) s (\(jumps) times so "
        + "far); the stream continues without a break.")
  }

  /// Returns the warning about the last jump, once.
  mutating func takeWarning() -> ElementError? {
    defer { warning = nil }
    return warning
  }
}
