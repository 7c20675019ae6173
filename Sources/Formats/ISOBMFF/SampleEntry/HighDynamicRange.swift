// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension MasteringDisplayColourVolume {
  /// Reads an `mdcv` box (ISO/IEC 14496-12 12.1.7).
  init(_ box: inout BoxReader) throws(ISOBMFFError) {
    self.init(
      green: try Chromaticity(&box), blue: try Chromaticity(&box), red: try Chromaticity(&box),
      whitePoint: try Chromaticity(&box),
      maximumLuminance: try box.read("max_display_mastering_luminance"),
      minimumLuminance: try box.read("min_display_mastering_luminance"))
  }

  func write(to writer: inout BoxWriter) {
    writer.box("mdcv") {
      for point in [green, blue, red, whitePoint] {
        $0.write(point.x)
        $0.write(point.y)
      }
      $0.write(maximumLuminance)
      $0.write(minimumLuminance)
    }
  }
}

extension MasteringDisplayColourVolume.Chromaticity {
  fileprivate init(_ box: inout BoxReader) throws(ISOBMFFError) {
    self.init(x: try box.read("x"), y: try box.read("y"))
  }
}

extension ContentLightLevel {
  /// Reads a `clli` box (ISO/IEC 14496-12 12.1.6).
  init(_ box: inout BoxReader) throws(ISOBMFFError) {
    self.init(
      maximum: try box.read("max_content_light_level"),
      maximumFrameAverage: try box.read("max_pic_average_light_level"))
  }

  func write(to writer: inout BoxWriter) {
    writer.box("clli") {
      $0.write(maximum)
      $0.write(maximumFrameAverage)
    }
  }
}
