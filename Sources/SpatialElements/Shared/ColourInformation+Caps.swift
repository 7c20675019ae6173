// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

extension Colorimetry {
  /// What a movie says; what it does not say of the range is the usual one.
  init(_ colour: ColourInformation) {
    self.init(
      primaries: UInt8(clamping: colour.primaries),
      transferCharacteristics: UInt8(clamping: colour.transferCharacteristics),
      matrixCoefficients: UInt8(clamping: colour.matrixCoefficients),
      range: colour.fullRange == true ? .full : .limited)
  }
}

extension ColourInformation {
  /// The caps field `colorimetry`; nil where it is missing or no such thing.
  init?(_ caps: Caps) {
    guard let colour = caps.first?.string("colorimetry").flatMap({ Colorimetry($0) }) else {
      return nil
    }
    self.init(
      primaries: UInt16(colour.primaries),
      transferCharacteristics: UInt16(colour.transferCharacteristics),
      matrixCoefficients: UInt16(colour.matrixCoefficients), fullRange: colour.range == .full)
  }
}
