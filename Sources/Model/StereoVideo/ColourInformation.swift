// SPDX-License-Identifier: MPL-2.0

/// Colour description with the code points of ITU-T H.273, as used by H.265 and by the `colr` box
/// in its `nclc` (QuickTime) or `nclx` form (ISO/IEC 14496-12 12.1.5).
public struct ColourInformation: Equatable, Sendable {
  /// H.273 8.1: 1 BT.709, 9 BT.2020, 12 P3 and so on; 2 is unspecified.
  public var primaries: UInt16
  /// H.273 8.2: 1 BT.709, 16 PQ, 18 HLG and so on; 2 is unspecified.
  public var transferCharacteristics: UInt16
  /// H.273 8.3: 1 BT.709, 9 BT.2020 and so on; 2 is unspecified.
  public var matrixCoefficients: UInt16
  /// Whether samples use the full range; nil if unknown, as in an `nclc` box, which does not signal
  /// it; the coded stream does.
  public var fullRange: Bool?

  /// Creates a colour description from its code points.
  public init(
    primaries: UInt16, transferCharacteristics: UInt16, matrixCoefficients: UInt16,
    fullRange: Bool? = nil
  ) {
    self.primaries = primaries
    self.transferCharacteristics = transferCharacteristics
    self.matrixCoefficients = matrixCoefficients
    self.fullRange = fullRange
  }

  /// All code points unspecified.
  public static let unknown = ColourInformation(
    primaries: 2, transferCharacteristics: 2, matrixCoefficients: 2)
  /// Rec. ITU-R BT.709, limited range: HD video.
  public static let rec709 = ColourInformation(
    primaries: 1, transferCharacteristics: 1, matrixCoefficients: 1, fullRange: false)
  /// IEC 61966-2-1 (sRGB) as R'G'B', full range: computer graphics.
  public static let sRGB = ColourInformation(
    primaries: 1, transferCharacteristics: 13, matrixCoefficients: 0, fullRange: true)
  /// Primaries of P3 and the white of D65, with the transfer characteristics and matrix of BT.709,
  /// limited range: phones.
  public static let p3D65 = ColourInformation(
    primaries: 12, transferCharacteristics: 1, matrixCoefficients: 1, fullRange: false)
  /// Rec. ITU-R BT.2020 with the transfer characteristics of SMPTE ST 2084 (PQ), limited range:
  /// HDR10.
  public static let rec2020PQ = ColourInformation(
    primaries: 9, transferCharacteristics: 16, matrixCoefficients: 9, fullRange: false)
  /// Rec. ITU-R BT.2020 with hybrid log-gamma (Rec. ITU-R BT.2100), limited range.
  public static let rec2020HLG = ColourInformation(
    primaries: 9, transferCharacteristics: 18, matrixCoefficients: 9, fullRange: false)
}

/// Light levels of a video in candela per square metre; 0 is unknown. CTA-861.3, H.265 (D.2.35),
/// `clli` boxes (ISO/IEC 14496-12 12.1.6).
public struct ContentLightLevel: Hashable, Sendable {
  /// Maximum light level of any pixel (MaxCLL, `max_content_light_level`).
  public var maximum: UInt16
  /// Maximum frame-average light level (MaxFALL, `max_pic_average_light_level`).
  public var maximumFrameAverage: UInt16

  /// Creates light levels in candela per square metre.
  public init(maximum: UInt16, maximumFrameAverage: UInt16) {
    self.maximum = maximum
    self.maximumFrameAverage = maximumFrameAverage
  }
}

/// The mastering display of a video: SMPTE ST 2086, in the units of H.265 (D.2.28), which `mdcv`
/// boxes (ISO/IEC 14496-12 12.1.7) share.
public struct MasteringDisplayColourVolume: Hashable, Sendable {
  /// A CIE 1931 chromaticity, in units of 0.00002.
  public struct Chromaticity: Hashable, Sendable {
    /// 0 to 50,000.
    public var x, y: UInt16

    /// Creates a chromaticity in units of 0.00002.
    public init(x: UInt16, y: UInt16) {
      self.x = x
      self.y = y
    }
  }

  /// Primaries and white point of the display.
  public var green, blue, red, whitePoint: Chromaticity
  /// Maximum luminance in units of 0.0001 candela per square metre.
  public var maximumLuminance: UInt32
  /// Minimum luminance in units of 0.0001 candela per square metre.
  public var minimumLuminance: UInt32

  /// Creates the description of a display.
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
