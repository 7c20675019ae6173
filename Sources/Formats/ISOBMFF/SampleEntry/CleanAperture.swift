// SPDX-License-Identifier: MPL-2.0

/// The part of a picture that is meant to be shown, in fractions of pixels: the `clap` box
/// (ISO/IEC 14496-12 12.1.4). The offsets go from the picture's centre to the aperture's.
public struct CleanAperture: Equatable, Sendable {
  public var widthNumerator, widthDenominator: UInt32
  public var heightNumerator, heightDenominator: UInt32
  public var horizontalOffsetNumerator: Int32
  public var horizontalOffsetDenominator: UInt32
  public var verticalOffsetNumerator: Int32
  public var verticalOffsetDenominator: UInt32

  public init(
    widthNumerator: UInt32, widthDenominator: UInt32 = 1, heightNumerator: UInt32,
    heightDenominator: UInt32 = 1, horizontalOffsetNumerator: Int32 = 0,
    horizontalOffsetDenominator: UInt32 = 1, verticalOffsetNumerator: Int32 = 0,
    verticalOffsetDenominator: UInt32 = 1
  ) {
    self.widthNumerator = widthNumerator
    self.widthDenominator = widthDenominator
    self.heightNumerator = heightNumerator
    self.heightDenominator = heightDenominator
    self.horizontalOffsetNumerator = horizontalOffsetNumerator
    self.horizontalOffsetDenominator = horizontalOffsetDenominator
    self.verticalOffsetNumerator = verticalOffsetNumerator
    self.verticalOffsetDenominator = verticalOffsetDenominator
  }

  func write(to writer: inout BoxWriter) {
    writer.box("clap") {
      $0.write(widthNumerator)
      $0.write(widthDenominator)
      $0.write(heightNumerator)
      $0.write(heightDenominator)
      $0.write(horizontalOffsetNumerator)
      $0.write(horizontalOffsetDenominator)
      $0.write(verticalOffsetNumerator)
      $0.write(verticalOffsetDenominator)
    }
  }
}
