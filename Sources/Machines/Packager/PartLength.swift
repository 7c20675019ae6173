// SPDX-License-Identifier: MPL-2.0

/// The length of a rendition's parts: whole frames, about as long as the settings say.
///
/// The maximum does not change after players have been told it: those of Apple give up where
/// `PART-HOLD-BACK` changes between two reloads, and no part may be longer than `PART-TARGET`.
struct PartLength: Sendable {
  /// The intended duration in nanoseconds; 0 for no parts.
  private let wanted: UInt64
  /// The target duration of segments, in nanoseconds.
  private let segmentTarget: UInt64
  private var frame: UInt64?
  /// The maximum duration that players were told, in nanoseconds; nil before that.
  private(set) var promised: UInt64?

  /// - Parameter rendition: Has the duration of frames; the parts of texts have any.
  init(_ settings: PackagerSettings, _ rendition: Rendition) {
    wanted = settings.partDuration
    segmentTarget = UInt64(clamping: settings.target)
    frame = rendition.subtitles == nil ? rendition.frameDuration : wanted
  }

  /// Number of samples per part; nil if segments have no parts.
  var sampleCount: Int? {
    guard wanted > 0 else { return nil }
    guard let frame, frame > 0 else { return 1 }
    // A frame duration rounded down must not add another frame.
    let count = (wanted + frame - frame / 100 - 1) / frame
    return Int(clamping: max(min(count, (promised ?? .max) / frame), 1))
  }

  private var duration: UInt64 { UInt64(sampleCount ?? 0) * (frame ?? wanted) }

  /// Maximum part duration, in nanoseconds. There is a margin, because pictures come some
  /// milliseconds late, and the clocks of sources differ. With a larger one, a part that lacks half
  /// a picture would not have the 85 % that each must have.
  var target: UInt64 {
    promised ?? min(duration &+ duration / 50, max(segmentTarget, duration))
  }

  /// Fixes the target, which players are told now.
  ///
  /// - Parameter maximum: The largest target that players of the presentation have been told.
  mutating func promise(atMost maximum: UInt64) {
    promised = promised ?? max(min(target, maximum), frame ?? 0)
  }

  /// Keeps what an earlier run has promised, in nanoseconds, if parts are not to be longer now.
  mutating func resume(_ earlier: UInt64) {
    if earlier >= target { promised = earlier }
  }

  /// Whether a part of a duration, in nanoseconds, may end although its segment continues: it has
  /// 85 % of the target, or there are no parts.
  func allows(_ duration: UInt64) -> Bool {
    wanted == 0 || duration >= target &- target / 100 &* 15
  }

  /// Whether a part of a duration, in nanoseconds, is longer than promised.
  func exceeds(_ duration: UInt64) -> Bool { wanted > 0 && duration > target }

  /// Notes that frames of another duration follow. Only those that are longer than a part change
  /// what is promised.
  mutating func change(frame: UInt64?) {
    self.frame = frame
    if let promised { self.promised = max(promised, frame ?? 0) }
  }

  /// Returns the duration of a part as it is listed, in nanoseconds. Where a source stops for a
  /// moment, the last frame lasts longer than a part may; if the duration of frames is not known,
  /// the target is raised instead.
  mutating func listed(_ duration: UInt64) -> UInt64 {
    if frame == nil, duration > target { promised = duration }
    return min(duration, target)
  }
}
