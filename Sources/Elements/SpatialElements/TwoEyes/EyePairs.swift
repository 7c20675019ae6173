// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// The frames that wait at the pads of two eyes, taken in pairs.
///
/// GstAggregator calls its element when each pad has a frame, is at its end, or has been waited for
/// long enough: a frame whose partner is not there then has none, and is dropped and counted, so
/// that the eyes never slip against each other.
struct EyePairs {
  /// How many frames wait at a pad, at most: below a live source, GstAggregator takes a second one
  /// while the first waits for its partner.
  static let waitingCount = 2

  /// A frame that has been taken from its pad.
  struct Frame {
    let buffer: Buffer
    /// The segment that the frame lies in.
    let segment: Segment

    /// In nanoseconds; nil where the frame has no timestamp.
    var runningTime: Int64? { buffer.pts.flatMap { segment.signedRunningTime($0) } }
  }

  /// Frames of both eyes that show one instant.
  struct Pair {
    let left: Frame
    let right: Frame

    subscript(eye: Eye) -> Frame { eye == .left ? left : right }
  }

  /// What became of the frames that were next.
  enum Step {
    case pair(Pair)
    /// Nothing came, or what came had no partner.
    case nothing
    /// The eyes have ended: both, or one while the other is not waited for any more.
    case end

    var isEnd: Bool { if case .end = self { true } else { false } }
  }

  var settings: PairingSettings
  private let counts: Locked<PairingCounts>
  private var pairing = FramePairing()
  /// How many dropped frames the application need not be told of any more.
  private var reported: UInt64
  private var hasWarned = false

  /// - Parameter counts: where an element's properties find what has been counted.
  init(_ settings: PairingSettings, counts: Locked<PairingCounts>) {
    self.settings = settings
    self.counts = counts
    reported = counts.current.dropped
  }

  /// Takes what is next at the two pads.
  ///
  /// - Parameters:
  ///   - frameDuration: in nanoseconds; nil where it is not known.
  ///   - isExact: throws in place of dropping a frame that the other eye has no partner for, because
  ///     others may refer to it.
  mutating func next(
    _ left: AggregatorPad, _ right: AggregatorPad, frameDuration: ClockTime?, isExact: Bool = false
  ) throws -> Step {
    let gaps = [left, right].filter { $0.dropGap() }
    guard gaps.isEmpty else { return .nothing }
    switch (left.peek(), right.peek()) {
    case (nil, nil): return left.isAtEnd || right.isAtEnd ? .end : .nothing
    case (.some, nil): drop(left, of: .left)
    case (nil, .some): drop(right, of: .right)
    case (.some(let one), .some(let other)):
      let times = (left: left.runningTime(one), right: right.runningTime(other))
      let decision = pairing.decide(
        left: times.left, right: times.right, frameDuration: frameDuration ?? one.duration, settings
      )
      switch decision {
      case .drop(let eye):
        if isExact { throw Self.mismatch(times) }
        drop(eye == .left ? left : right, of: eye)
      case .pair:
        let pair = Pair(
          left: Frame(buffer: one, segment: left.segment),
          right: Frame(buffer: other, segment: right.segment))
        _ = (left.pop(), right.pop())
        counts.withLock { $0.pairs &+= 1 }
        return .pair(pair)
      }
    }
    return .nothing
  }

  private func drop(_ pad: AggregatorPad, of eye: Eye) {
    _ = pad.pop()
    counts.withLock { if eye == .left { $0.left &+= 1 } else { $0.right &+= 1 } }
  }

  /// Counts the last pair as one that comes too late.
  func dropLate() {
    counts.withLock {
      $0.pairs &-= 1
      $0.late &+= 1
    }
  }

  /// Counts the frames of the last pair as ones without a partner.
  func dropPair() {
    counts.withLock {
      $0.pairs &-= 1
      $0.left &+= 1
      $0.right &+= 1
    }
  }

  /// What the application is to be told of frames that were dropped: when the first one is, and at
  /// the end if there were more; else nil.
  mutating func warning(isFinal: Bool = false) -> ElementError? {
    let counted = counts.current
    guard counted.dropped > reported, !hasWarned || isFinal else { return nil }
    reported = counted.dropped
    hasWarned = true
    return counted.warning
  }

  private static func mismatch(_ times: (left: Int64?, right: Int64?)) -> ElementError {
    func seconds(_ time: Int64?) -> Double { Double(time ?? 0) / 1e9 }
    return ElementError(
      .mux,
      "The coded pictures of the two eyes do not go together: the left eye has one of "
        + "\(seconds(times.left)) s where the right eye has one of \(seconds(times.right)) s. Either "
        + "a picture is missing, or the eyes are coded in different orders; streams are woven only "
        + "picture by picture. x265enc gives both eyes one order with "
        + "option-string=b-adapt=0:scenecut=0:open-gop=0 and one key-int-max.")
  }
}

extension AggregatorPad {
  /// The running time of a buffer in nanoseconds; nil where it has no timestamp.
  func runningTime(_ buffer: Buffer) -> Int64? {
    (buffer.pts ?? buffer.dts).flatMap { segment.signedRunningTime($0) }
  }
}

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
