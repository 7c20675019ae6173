// SPDX-License-Identifier: MPL-2.0

/// What colours the samples of a picture stand for, as code points of ITU-T H.273, which H.265 and
/// the `colr` box of movies use: its `nclc` (QuickTime) or `nclx` form (ISO/IEC 14496-12 12.1.5).
public struct ColourInformation: Equatable, Sendable {
  /// H.273 8.1: 1 BT.709, 9 BT.2020, 12 P3 and so on; 2 is not known.
  public var primaries: UInt16
  /// H.273 8.2: 1 BT.709, 16 PQ, 18 HLG and so on; 2 is not known.
  public var transferCharacteristics: UInt16
  /// H.273 8.3: 1 BT.709, 9 BT.2020 and so on; 2 is not known.
  public var matrixCoefficients: UInt16
  /// Whether samples use the whole range of their bits; nil where that is not known, as a box of
  /// the form `nclc` cannot say it: the stream itself does then.
  public var fullRange: Bool?

  public init(
    primaries: UInt16, transferCharacteristics: UInt16, matrixCoefficients: UInt16,
    fullRange: Bool? = nil
  ) {
    self.primaries = primaries
    self.transferCharacteristics = transferCharacteristics
    self.matrixCoefficients = matrixCoefficients
    self.fullRange = fullRange
  }

  /// Colours of which nothing is known.
  public static let unknown = ColourInformation(
    primaries: 2, transferCharacteristics: 2, matrixCoefficients: 2)
}

/// How bright a video gets, in candela per square metre; 0 is not known. CTA-861.3, H.265 (D.2.35),
/// `clli` boxes (ISO/IEC 14496-12 12.1.6).
public struct ContentLightLevel: Hashable, Sendable {
  /// The largest light level of any pixel (MaxCLL, `max_content_light_level`).
  public var maximum: UInt16
  /// The largest average light level of any frame (MaxFALL, `max_pic_average_light_level`).
  public var maximumFrameAverage: UInt16

  public init(maximum: UInt16, maximumFrameAverage: UInt16) {
    self.maximum = maximum
    self.maximumFrameAverage = maximumFrameAverage
  }
}

/// The display a video was graded on: SMPTE ST 2086, in the units of H.265 (D.2.28), which `mdcv`
/// boxes (ISO/IEC 14496-12 12.1.7) share.
public struct MasteringDisplayColourVolume: Hashable, Sendable {
  /// A CIE 1931 chromaticity, in units of 0.00002.
  public struct Chromaticity: Hashable, Sendable {
    /// From 0 to 50,000.
    public var x, y: UInt16

    public init(x: UInt16, y: UInt16) {
      self.x = x
      self.y = y
    }
  }

  /// The display's primaries and white.
  public var green, blue, red, whitePoint: Chromaticity
  /// In units of 0.0001 candela per square metre.
  public var maximumLuminance: UInt32
  /// In units of 0.0001 candela per square metre.
  public var minimumLuminance: UInt32

  public init(
    green: Chromaticity, blue: Chromaticity, red: Chromaticity, whitePoint: Chromaticity,
    maximumLuminance: UInt32, minimumLuminance: UInt32
  ) {
    self.green = green
    self.blue = blue
    self.red = red
    self.whitePoint = whitePoint
    self.maximumLuminance = maximumLuminance
    self.minimumLuminance = minimumLuminance
  }
}
