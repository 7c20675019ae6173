// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

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
