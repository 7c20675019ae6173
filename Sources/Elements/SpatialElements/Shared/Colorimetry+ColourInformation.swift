// SPDX-License-Identifier: MPL-2.0

package import GStreamer
package import StereoVideo

extension Colorimetry {
  /// What a movie or a program says.
  ///
  /// - Parameter unsaid: what the range is where that is not said.
  package init(_ colour: ColourInformation, unsaid: Range) {
    self.init(
      primaries: UInt8(clamping: colour.primaries),
      transferCharacteristics: UInt8(clamping: colour.transferCharacteristics),
      matrixCoefficients: UInt8(clamping: colour.matrixCoefficients),
      range: colour.fullRange.map { $0 ? .full : .limited } ?? unsaid)
  }
}

extension ColourInformation {
  /// What GStreamer says.
  package init(_ colour: Colorimetry) {
    self.init(
      primaries: UInt16(colour.primaries),
      transferCharacteristics: UInt16(colour.transferCharacteristics),
      matrixCoefficients: UInt16(colour.matrixCoefficients),
      fullRange: colour.range == .unknown ? nil : colour.range == .full)
  }

  /// The caps field `colorimetry`; nil where it is missing or no such thing.
  init?(_ caps: Caps) {
    guard let colour = caps.first?.string("colorimetry").flatMap({ Colorimetry($0) }) else {
      return nil
    }
    self.init(colour)
    // Caps that say anything of colours mean the usual range where they do not say which.
    fullRange = fullRange ?? false
  }
}
