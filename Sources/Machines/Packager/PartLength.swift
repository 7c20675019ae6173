// SPDX-License-Identifier: MPL-2.0

/// The length of a rendition's parts: whole frames, about as long as the settings say.
struct PartLength: Sendable {
  /// The intended duration in nanoseconds; 0 for no parts.
  private let wanted: UInt64
  /// The target duration of segments, in nanoseconds.
  private let segmentTarget: UInt64
  private var frame: UInt64?
  /// Longest part so far, or that can follow, in nanoseconds.
  private var longest: UInt64 = 0

  init(_ settings: PackagerSettings, frame: UInt64?) {
    wanted = settings.partDuration
    segmentTarget = UInt64(clamping: settings.target)
    self.frame = frame
    note(duration)
  }

  /// Number of samples per part; nil if segments have no parts.
  var sampleCount: Int? {
    guard wanted > 0 else { return nil }
    guard let frame, frame > 0 else { return 1 }
    // A frame duration rounded down must not add another frame.
    let count = (wanted + frame - frame / 100 - 1) / frame
    return Int(clamping: max(count, 1))
  }

  private var duration: UInt64 { UInt64(sampleCount ?? 0) * (frame ?? wanted) }

  /// Maximum part duration so far and from now on, in nanoseconds. There is a margin, because
  /// pictures come some milliseconds late, and the clocks of sources differ. With a larger one, a
  /// part that lacks half a picture would not have the 85 % that each must have.
  var target: UInt64 {
    max(longest, min(duration &+ duration / 50, max(segmentTarget, duration)))
  }

  /// Whether a part of a duration, in nanoseconds, may end although its segment continues: it has
  /// 85 % of the target, or there are no parts.
  func allows(_ duration: UInt64) -> Bool {
    wanted == 0 || duration >= target &- target / 100 &* 15
  }

  /// Notes that frames of another duration follow.
  mutating func change(frame: UInt64?) {
    self.frame = frame
    note(duration)
  }

  /// Notes that there is a part of a duration.
  mutating func note(_ duration: UInt64) { longest = max(longest, duration) }
}
