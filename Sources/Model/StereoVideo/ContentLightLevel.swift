// SPDX-License-Identifier: MPL-2.0

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
