// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

extension MasteringDisplayColourVolume {
  /// Reads the payload of a `mastering_display_colour_volume()` message, H.265 (D.2.28).
  public init(payload: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(payload, structure: "mastering_display_colour_volume")
    self.init(
      green: try Chromaticity(&reader, "display_primaries"),
      blue: try Chromaticity(&reader, "display_primaries"),
      red: try Chromaticity(&reader, "display_primaries"),
      whitePoint: try Chromaticity(&reader, "white_point"),
      maximumLuminance: UInt32(
        truncatingIfNeeded: try reader.u(32, "max_display_mastering_luminance")),
      minimumLuminance: UInt32(
        truncatingIfNeeded: try reader.u(32, "min_display_mastering_luminance")))
  }
}

extension MasteringDisplayColourVolume.Chromaticity {
  fileprivate init(_ reader: inout BitReader, _ element: StaticString) throws(SyntaxError) {
    self.init(
      x: UInt16(truncatingIfNeeded: try reader.u(16, element)),
      y: UInt16(truncatingIfNeeded: try reader.u(16, element)))
  }
}

extension ContentLightLevel {
  /// Reads the payload of a `content_light_level_info()` message, H.265 (D.2.35).
  public init(payload: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(payload, structure: "content_light_level_info")
    self.init(
      maximum: UInt16(truncatingIfNeeded: try reader.u(16, "max_content_light_level")),
      maximumFrameAverage: UInt16(
        truncatingIfNeeded: try reader.u(16, "max_pic_average_light_level")))
  }
}
