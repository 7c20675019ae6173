// SPDX-License-Identifier: MPL-2.0

import GStreamer

/// The pads of one source of a `StereoMixer`.
enum MixerPads {
  case eyes(left: AggregatorPad, right: AggregatorPad)
  /// One picture for both eyes.
  case mono(AggregatorPad)

  /// What a pad is for, by what its name begins with; the number of its source is behind.
  enum Kind: String, CaseIterable {
    case left = "left_"
    case right = "right_"
    case mono = "mono_"
  }

  var all: [AggregatorPad] {
    switch self {
    case .eyes(let left, let right): [left, right]
    case .mono(let pad): [pad]
    }
  }

  /// What a pad is for, and the number of its source; nil for a name of no template.
  static func parse(_ name: String) -> (kind: Kind, number: Int)? {
    for kind in Kind.allCases where name.hasPrefix(kind.rawValue) {
      return UInt32(name.dropFirst(kind.rawValue.count)).map { (kind, Int($0)) }
    }
    return nil
  }

  /// The sources that pads are of, in the order of their numbers. Throws where a source lacks an eye.
  static func sources(_ pads: [AggregatorPad]) throws -> [(number: Int, pads: MixerPads)] {
    var known: [Int: [Kind: AggregatorPad]] = [:]
    for pad in pads {
      guard let name = parse(pad.name) else { continue }
      known[name.number, default: [:]][name.kind] = pad
    }
    return try known.sorted { $0.key < $1.key }.map { number, pads in
      if let mono = pads[.mono] { return (number, .mono(mono)) }
      guard let left = pads[.left], let right = pads[.right] else {
        throw ElementError(
          .pad,
          "Source \(number) has one eye; link both, left_\(number) and right_\(number), or "
            + "mono_\(number).")
      }
      return (number, .eyes(left: left, right: right))
    }
  }
}
