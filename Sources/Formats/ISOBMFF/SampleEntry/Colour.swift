// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension ColourInformation {
  /// Writes `colr`. QuickTime's own variant cannot state the range, so full range is written as
  /// `nclx` there too.
  func write(to writer: inout BoxWriter, container: MovieContainer) {
    let statesRange = container == .mp4 || fullRange == true
    writer.box("colr") {
      $0.write(statesRange ? "nclx" as FourCC : "nclc")
      $0.write(primaries)
      $0.write(transferCharacteristics)
      $0.write(matrixCoefficients)
      if statesRange {
        $0.write(fullRange == true ? 0x80 : 0 as UInt8)
      }
    }
  }
}

extension MasteringDisplayColourVolume {
  /// Parses an `mdcv` box (ISO/IEC 14496-12 12.1.7).
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
  /// Parses a `clli` box (ISO/IEC 14496-12 12.1.6).
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

/// The position of chroma samples: the `chrm` box, with the values of H.265
/// chroma_sample_loc_type_top_field and chroma_sample_loc_type_bottom_field.
public struct ChromaLocation: Equatable, Sendable {
  /// Location type of the top field, or of frames, 0 to 5.
  public var topField: UInt8
  /// Location type of the bottom field, 0 to 5.
  public var bottomField: UInt8

  /// Creates a location from H.265's location types.
  public init(topField: UInt8, bottomField: UInt8) {
    self.topField = topField
    self.bottomField = bottomField
  }

  func write(to writer: inout BoxWriter) {
    writer.box("chrm") {
      $0.write(topField)
      $0.write(bottomField)
    }
  }
}
