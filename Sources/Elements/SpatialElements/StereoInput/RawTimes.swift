// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// The running times at which raw frames are encoded: each is after the one before.
///
/// Where times go back by a second or more, a source has begun again: its frames continue without a
/// break, or where they would be by now if it is live and gave nothing for a while, until its own
/// times are after the last frame's again. So they do if a live source's times go far ahead of the
/// clock. A frame without a time follows the one before it.
struct RawTimes {
  /// Added to the frames' own times.
  private(set) var shift: RunningTime = 0
  /// Running time of the last frame encoded.
  private var last: RunningTime?
  /// When the last frame came, by the clock; nil if there is none.
  private var arrival: RunningTime?
  private var jumps = 0
  private var missing = MissingTimes()
  private var jumpPace = WarningPace()
  private var warnings: [ElementError] = []

  /// Times that go back by less are those of a frame that comes late.
  private static let smallestJump: RunningTime = RunningTime(clamping: .second)

  /// Whether a frame of this time that comes now has jumped ahead, so that nothing is to wait until
  /// then.
  func isAhead(_ time: RunningTime, _ now: Arrival) -> Bool {
    guard let last, time > last + TimestampMender.farthest else { return false }
    return now.isEarly(time)
  }

  /// Returns the running time for a frame of this one, or of none; nil if the frame comes too late.
  func placed(
    _ time: RunningTime?, frameDuration: ClockTime?, _ now: Arrival
  ) -> RunningTime? {
    guard let last else { return time ?? 0 }
    guard let time else { return following(last, frameDuration) }
    let shifted = time + shift
    guard time <= last else {
      guard isAhead(time, now) else { return time }
      let continues = shifted > last && !isAhead(shifted, now)
      return continues ? shifted : following(last, frameDuration, now.silence(since: arrival))
    }
    guard shifted <= last else { return shifted }
    guard last - shifted >= Self.smallestJump else { return nil }
    return following(last, frameDuration, now.silence(since: arrival))
  }

  /// Returns the running time of a frame after the last one; nil at the end of time, where sums
  /// stay where they are.
  private func following(
    _ last: RunningTime, _ frameDuration: ClockTime?, _ silence: RunningTime = 0
  ) -> RunningTime? {
    let step = RunningTime(clamping: frameDuration ?? 33 * .millisecond)
    let next = last + max(step, silence)
    return next > last ? next : nil
  }

  /// Returns the running time for the next frame; nil if it comes too late.
  ///
  /// - Parameters:
  ///   - time: nil if the frame has none. The first such frame begins the stream.
  ///   - now: when the frame comes.
  /// - Throws: an ``ElementError`` if neither times nor the frame rate say when frames are shown.
  mutating func next(
    _ time: RunningTime?, frameDuration: ClockTime?, _ now: Arrival
  ) throws(ElementError) -> RunningTime? {
    defer { arrival = now.time }
    guard let time else { return try derive(frameDuration) }
    guard let placed = placed(time, frameDuration: frameDuration, now) else { return nil }
    let shift = placed - time
    if shift > self.shift || shift < min(self.shift, 0) {
      note(jump: self.shift - shift, at: placed)
    }
    (self.shift, last) = (shift, placed)
    return placed
  }

  private mutating func derive(
    _ frameDuration: ClockTime?
  ) throws(ElementError) -> RunningTime? {
    guard last != nil || frameDuration != nil else { throw MissingTimes.unknown }
    guard let placed = last.map({ following($0, frameDuration) }) ?? 0 else { return nil }
    last = placed
    if let warning = missing.note(at: placed) { warnings.append(warning) }
    return placed
  }

  private mutating func note(jump: RunningTime, at time: RunningTime) {
    jumps += 1
    guard jumpPace.allows(at: time) else { return }
    let tenths = jump.magnitude.seconds * 10
    warnings.append(
      ElementError(
        .failedStream,
        "The timestamps of the frames jumped \(jump < 0 ? "back" : "ahead") by "
          + "\(tenths.rounded() / 10) s (\(jumps) times so far); the stream continues without a "
          + "break."))
  }

  /// Returns the warnings since the last call.
  mutating func takeWarnings() -> [ElementError] {
    defer { warnings = [] }
    return warnings
  }
}
