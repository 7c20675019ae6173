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

// What is known of high dynamic range, in the caps' words and in the model's.

extension MasteringDisplayColourVolume {
  /// The caps field `mastering-display-info`; nil where it is missing or no such thing.
  init?(_ caps: Caps) {
    guard let info = caps.masteringDisplayInfo else { return nil }
    func point(_ point: MasteringDisplayInfo.Coordinates) -> Chromaticity {
      Chromaticity(x: point.x, y: point.y)
    }
    self.init(
      green: point(info.green), blue: point(info.blue), red: point(info.red),
      whitePoint: point(info.whitePoint), maximumLuminance: info.maximumLuminance,
      minimumLuminance: info.minimumLuminance)
  }

  /// The caps with it.
  func adding(to caps: Caps) -> Caps {
    func point(_ point: Chromaticity) -> MasteringDisplayInfo.Coordinates {
      .init(x: point.x, y: point.y)
    }
    return caps.with(
      MasteringDisplayInfo(
        red: point(red), green: point(green), blue: point(blue), whitePoint: point(whitePoint),
        maximumLuminance: maximumLuminance, minimumLuminance: minimumLuminance))
  }
}

extension ContentLightLevel {
  /// The caps field `content-light-level`; nil where it is missing or no such thing.
  init?(_ caps: Caps) {
    guard let info = caps.contentLightLevel else { return nil }
    self.init(maximum: info.maximumContent, maximumFrameAverage: info.maximumFrameAverage)
  }

  /// The caps with it.
  func adding(to caps: Caps) -> Caps {
    caps.with(
      ContentLightLevelInfo(maximumContent: maximum, maximumFrameAverage: maximumFrameAverage))
  }
}
