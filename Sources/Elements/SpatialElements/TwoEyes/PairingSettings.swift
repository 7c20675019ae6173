// SPDX-License-Identifier: MPL-2.0

import GStreamer
package import StereoVideo

/// Properties for waiting and pairing, common to all elements with two eyes.
package struct PairingSettings {
  /// 0 means three quarters of a frame.
  package var tolerance: ClockTime = 0
  package var rightEyeOffset: RunningTime = 0
  /// 0 means to wait without limit.
  var padTimeout: ClockTime = 2 * .second

  package init() {}

  /// Returns the properties of an element that stores these settings at `path`, and of its counts.
  static func properties<Owner: EyePairing>(
    at path: WritableKeyPath<Owner.Settings, PairingSettings>
  ) -> [Property<Owner>] {
    [
      .time(
        "pairing-tolerance", nick: "Pairing tolerance",
        blurb: "Maximum difference in running time between the frames of a pair, in nanoseconds "
          + "(0 = three quarters of a frame)",
        mutable: .playing, at: path.appending(path: \.tolerance)),
      .timeOffset(
        "right-eye-offset", nick: "Right eye's offset",
        blurb: "Offset added to the right eye's running times for pairing, in nanoseconds",
        mutable: .playing, at: path.appending(path: \.rightEyeOffset)),
      .time(
        "pad-timeout", nick: "Pad timeout",
        blurb: "In live pipelines, how long to wait for a pad without data, in nanoseconds "
          + "(0 = without limit)",
        default: 2 * .second, mutable: .playing, at: path.appending(path: \.padTimeout)),
      .count("pairs", nick: "Pairs", blurb: "Number of frame pairs found") {
        $0.pairing.counts.current.pairs
      },
      .count(
        "dropped-left", nick: "Dropped left",
        blurb: "Number of left eye frames dropped because they had no partner"
      ) { $0.pairing.counts.current.left },
      .count(
        "dropped-right", nick: "Dropped right",
        blurb: "Number of right eye frames dropped because they had no partner"
      ) { $0.pairing.counts.current.right },
      .count(
        "dropped-late", nick: "Dropped late",
        blurb: "Number of pairs dropped because they are not later than the previous pair"
      ) { $0.pairing.counts.current.late },
    ]
  }
}

/// Numbers of paired and dropped frames.
struct PairingCounts: Equatable, Sendable {
  var pairs: UInt64 = 0
  /// Frames of one eye without a partner at the same time.
  var left: UInt64 = 0
  var right: UInt64 = 0
  /// Pairs whose timestamp is not after that of the previous pair.
  var late: UInt64 = 0

  var dropped: UInt64 { left &+ right &+ late }

  /// Warning about the dropped frames.
  var warning: ElementError {
    var sentences: [String] = []
    if left > 0 || right > 0 {
      sentences.append(
        "Frames of one eye without a partner of the same time and format were dropped: "
          + "\(left) of the left, \(right) of the right eye so far.")
    }
    if late > 0 {
      sentences.append(
        "Pairs of frames whose timestamps are not after those of the previous pair were dropped: "
          + "\(late) so far.")
    }
    return ElementError(.failedStream, sentences.joined(separator: " "))
  }
}

/// The settings of an element that pairs the frames of two eyes.
protocol HasPairingSettings {
  var pairing: PairingSettings { get }
}

/// An element that pairs the frames of two eyes, from sink pads named `left` and `right`.
protocol EyePairing: AggregatorImplementation where Settings: HasPairingSettings {
  var pairing: PairingState { get }
}

/// State of the eyes that is shared with other threads, since the element started.
final class PairingState: Sendable {
  let counts = Locked(PairingCounts())
  let silentPads = SilentPads()

  /// Resets the state. Call it when the element starts.
  func forget() {
    counts.withLock { $0 = PairingCounts() }
    silentPads.forget()
  }
}

extension EyePairing {
  /// Adds the pads of both eyes as always pads. Call it at creation.
  func addEyePads() throws {
    for eye in Eye.allCases { try addAlwaysPad(eye.rawValue) }
  }

  /// Returns the always pads of both eyes.
  func eyePads() throws -> (left: AggregatorPad, right: AggregatorPad) {
    let pads = sinkPads
    guard let left = pads.first(where: { $0.name == Eye.left.rawValue }),
      let right = pads.first(where: { $0.name == Eye.right.rawValue })
    else { throw FlowReturn.error }
    return (left, right)
  }

  /// Posts a warning if the caps say that the frames are of the other eye.
  func warnIfOther(_ caps: Caps, than eye: Eye) {
    guard caps.first?.string("multiview-mode") == eye.other.rawValue else { return }
    postWarning(
      ElementError(
        .format,
        "The stream on the pad \(eye) is marked as the \(eye.other) eye (multiview-mode); if that "
          + "is correct, link the pads the other way round."))
  }

  /// Makes a new pairing from the properties.
  func makePairs() -> EyePairer { EyePairer(settings.current.pairing, counts: pairing.counts) }
}
