// SPDX-License-Identifier: MPL-2.0

package import GStreamer
package import StereoVideo

extension Colorimetry {
  /// Converts a movie's or application's colour description.
  ///
  /// - Parameter unsaid: the range to use if it is not specified.
  package init(_ colour: ColourInformation, unsaid: Range) {
    self.init(
      primaries: UInt8(clamping: colour.primaries),
      transferCharacteristics: UInt8(clamping: colour.transferCharacteristics),
      matrixCoefficients: UInt8(clamping: colour.matrixCoefficients),
      range: colour.fullRange.map { $0 ? .full : .limited } ?? unsaid)
  }
}

extension ColourInformation {
  /// Converts GStreamer's colorimetry.
  package init(_ colour: Colorimetry) {
    self.init(
      primaries: UInt16(colour.primaries),
      transferCharacteristics: UInt16(colour.transferCharacteristics),
      matrixCoefficients: UInt16(colour.matrixCoefficients),
      fullRange: colour.range == .unknown ? nil : colour.range == .full)
  }

  /// Reads the caps field `colorimetry`; nil if it is missing or invalid.
  init?(_ caps: Caps) {
    guard let colour = caps.first?.string("colorimetry").flatMap({ Colorimetry($0) }) else {
      return nil
    }
    self.init(colour)
    // Caps with a colorimetry but no range mean the limited range.
    fullRange = fullRange ?? false
  }
}

// High dynamic range metadata: conversion between caps and the model.

extension MasteringDisplayColourVolume {
  /// Reads the caps field `mastering-display-info`; nil if it is missing or invalid.
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

  /// Returns the caps with this field.
  package func adding(to caps: Caps) -> Caps {
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
  /// Reads the caps field `content-light-level`; nil if it is missing or invalid.
  init?(_ caps: Caps) {
    guard let info = caps.contentLightLevel else { return nil }
    self.init(maximum: info.maximumContent, maximumFrameAverage: info.maximumFrameAverage)
  }

  /// Returns the caps with this field.
  package func adding(to caps: Caps) -> Caps {
    caps.with(
      ContentLightLevelInfo(maximumContent: maximum, maximumFrameAverage: maximumFrameAverage))
  }
}
