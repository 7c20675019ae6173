// SPDX-License-Identifier: MPL-2.0

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
