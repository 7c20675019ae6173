// SPDX-License-Identifier: MPL-2.0

import GStreamer
package import StereoVideo

/// The relation of the clocks of two eyes' sources.
///
/// A camera that begins again alone has times that the other one's never meet, or meet only after
/// hours. Its frames are paired with those that come at the same moment, until the clocks of both
/// agree again.
package struct EyeClocks {
  /// Something for each eye.
  private struct Both<Value> {
    var left: Value
    var right: Value

    subscript(eye: Eye) -> Value {
      get { eye == .left ? left : right }
      set { if eye == .left { left = newValue } else { right = newValue } }
    }
  }

  /// Times that go back by less are those of a frame that comes late; clocks that are apart by less
  /// are the same one.
  static let limit = RunningTime(clamping: .second)

  /// Added to the running times of an eye's frames.
  private var shifts = Both<RunningTime>(left: 0, right: 0)
  /// Running time of the frame of each eye that was examined last, without the offset.
  private var last = Both<RunningTime?>(left: nil, right: nil)
  private var jumps = Both(left: 0, right: 0)
  private var pace = WarningPace()
  private var warning: ElementError?

  package init() {}

  /// Notes the running times of the next frames of both eyes.
  ///
  /// - Parameters:
  ///   - left: nil if the frame has none.
  ///   - right: the same for the right eye.
  ///   - offset: added to the right eye's times before they are compared.
  ///   - isEarly: whether an eye's frame of a time has come long before that time, as none of a
  ///     live source can. Where times go ahead otherwise, frames are missing.
  package mutating func note(
    left: RunningTime?, right: RunningTime?, offset: RunningTime,
    isEarly: (_ eye: Eye, _ time: RunningTime) -> Bool = { _, _ in false }
  ) {
    guard let left, let right else { return }
    let told = Both(left: left, right: right + offset)
    defer { (last.left, last.right) = (left, right) }
    let steps = Both(
      left: last.left.map { left - $0 } ?? 0, right: last.right.map { right - $0 } ?? 0)
    let back = Eye.allCases.first { steps[$0] <= 0 - Self.limit }
    let ahead = Eye.allCases.filter {
      steps[$0] >= Self.limit && isEarly($0, told[$0] + shifts[$0])
    }
    let jumped = back ?? ahead.max { steps[$0] < steps[$1] }
    guard jumped != nil || shifts.left != 0 || shifts.right != 0 else { return }
    if (told.left - told.right).magnitude < ClockTime(clamping: Self.limit) {
      // The other one has begun again, too, or this one has its own times again.
      (shifts.left, shifts.right) = (0, 0)
    } else if let eye = jumped {
      let other = told[eye.other] + shifts[eye.other]
      shifts[eye] = other - told[eye]
      jumps[eye] += 1
      guard pace.allows(at: other) else { return }
      warning = ElementError(
        .failedStream,
        "The timestamps of the \(eye) eye's frames jumped \(back == nil ? "ahead" : "back"), and "
          + "those of the \(eye.other) eye's did not (\(jumps[eye]) times so far); frames that "
          + "come at the same moment are paired.")
    }
  }

  /// Returns the time that is added to the running times of an eye's frames.
  package func shift(of eye: Eye) -> RunningTime { shifts[eye] }

  /// Returns the warning about the last jump, once.
  mutating func takeWarning() -> ElementError? { warning.take() }
}
