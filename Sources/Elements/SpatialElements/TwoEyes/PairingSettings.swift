// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// What properties say of how frames are waited for and paired, in every element that has two eyes.
struct PairingSettings {
  /// In nanoseconds; 0 for three quarters of a frame.
  var tolerance: ClockTime = 0
  /// In nanoseconds.
  var rightEyeOffset: Int64 = 0
  /// In nanoseconds; 0 for as long as it takes.
  var padTimeout: ClockTime = 2 * .second

  /// The properties of an element that keeps these settings at `path`, and its counts.
  static func properties<Owner: PairsEyes>(
    at path: WritableKeyPath<Owner.Settings, PairingSettings>
  ) -> [Property<Owner>] {
    [
      .time(
        "pairing-tolerance", nick: "Pairing tolerance",
        blurb: "How far apart in running time the frames of a pair may be, in nanoseconds "
          + "(0 = three quarters of a frame)",
        mutable: .playing, at: path.appending(path: \.tolerance)),
      .timeOffset(
        "right-eye-offset", nick: "Right eye's offset",
        blurb: "Added to the right eye's running times when frames are paired, in nanoseconds",
        mutable: .playing, at: path.appending(path: \.rightEyeOffset)),
      .time(
        "pad-timeout", nick: "Pad timeout",
        blurb: "In live pipelines, how long to wait for a pad that gives nothing, in nanoseconds "
          + "(0 = as long as it takes)",
        default: 2 * .second, mutable: .playing, at: path.appending(path: \.padTimeout)),
      .count("pairs", nick: "Pairs", blurb: "How many pairs of frames were found") {
        $0.pairing.counts.current.pairs
      },
      .count(
        "dropped-left", nick: "Dropped left",
        blurb: "How many frames of the left eye had no partner and were left out"
      ) { $0.pairing.counts.current.left },
      .count(
        "dropped-right", nick: "Dropped right",
        blurb: "How many frames of the right eye had no partner and were left out"
      ) { $0.pairing.counts.current.right },
      .count(
        "dropped-late", nick: "Dropped late",
        blurb: "How many pairs were left out because they do not come after the pair before"
      ) { $0.pairing.counts.current.late },
    ]
  }
}

/// How many pairs of frames were found, and how many frames could not be used.
struct PairingCounts: Equatable, Sendable {
  var pairs: UInt64 = 0
  /// Of one eye, without a partner of the same time.
  var left: UInt64 = 0
  var right: UInt64 = 0
  /// Pairs whose timestamp does not come after that of the pair before.
  var late: UInt64 = 0

  var dropped: UInt64 { left &+ right &+ late }

  /// Tells the application what is missing.
  var warning: ElementError {
    var sentences: [String] = []
    if left > 0 || right > 0 {
      sentences.append(
        "Frames of one eye without a partner of the same time and format were dropped: \(left) of the left, "
          + "\(right) of the right eye so far.")
    }
    if late > 0 {
      sentences.append(
        "Pairs of frames whose timestamps do not come after those of the pair before were dropped: "
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
protocol PairsEyes: AggregatorImplementation where Settings: HasPairingSettings {
  var pairing: PairingState { get }
}

/// What is known of the eyes outside the streaming thread, since the element started.
final class PairingState: Sendable {
  let counts = Locked(PairingCounts())
  let silentPads = SilentPads()

  /// Begins anew. Call it when the element starts.
  func forget() {
    counts.withLock { $0 = PairingCounts() }
    silentPads.forget()
  }
}

extension PairsEyes {
  /// Adds the pads of both eyes, where they are always there. Call it at creation.
  func addEyePads() throws {
    for eye in Eye.allCases { try addAlwaysPad(eye.rawValue) }
  }

  /// The pads of both eyes, where they are always there.
  func eyePads() throws -> (left: AggregatorPad, right: AggregatorPad) {
    let pads = sinkPads
    guard let left = pads.first(where: { $0.name == Eye.left.rawValue }),
      let right = pads.first(where: { $0.name == Eye.right.rawValue })
    else { throw FlowReturn.error }
    return (left, right)
  }

  /// Tells the application where caps say that the frames are of the other eye.
  func warnIfOther(_ caps: Caps, than eye: Eye) {
    guard caps.first?.string("multiview-mode") == eye.other.rawValue else { return }
    postWarning(
      ElementError(
        .format,
        "The stream at the pad \(eye) says that it is of the \(eye.other) eye (multiview-mode); if it "
          + "is, link the pads the other way round."))
  }

  /// Pairs as the properties say, with nothing found yet.
  func makePairs() -> EyePairs { EyePairs(settings.current.pairing, counts: pairing.counts) }
}
