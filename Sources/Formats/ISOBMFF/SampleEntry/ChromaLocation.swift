// SPDX-License-Identifier: MPL-2.0

/// Where chroma samples lie: the `chrm` box, with the values of H.265
/// chroma_sample_loc_type_top_field and chroma_sample_loc_type_bottom_field.
public struct ChromaLocation: Equatable, Sendable {
  public var topField: UInt8
  public var bottomField: UInt8

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
