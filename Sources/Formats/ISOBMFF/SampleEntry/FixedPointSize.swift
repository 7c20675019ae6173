// SPDX-License-Identifier: MPL-2.0

/// A size in 16.16 fixed-point pixels.
public struct FixedPointSize: Equatable, Sendable {
  /// 65536 is one pixel.
  public var width, height: UInt32

  public init(width: UInt32, height: UInt32) {
    self.width = width
    self.height = height
  }

  func write(to writer: inout BoxWriter) {
    writer.write(width)
    writer.write(height)
  }
}

extension VisualSampleEntry {
  /// The size of the coded picture.
  var encodedSize: FixedPointSize {
    FixedPointSize(width: UInt32(width) << 16, height: UInt32(height) << 16)
  }

  /// That size with square pixels.
  var productionSize: FixedPointSize {
    withSquarePixels(encodedSize)
  }

  /// The size of the clean aperture with square pixels: what is shown.
  var displaySize: FixedPointSize {
    guard let clap = cleanAperture, clap.widthDenominator > 0, clap.heightDenominator > 0 else {
      return productionSize
    }
    let width = UInt64(clap.widthNumerator) << 16 / UInt64(clap.widthDenominator)
    let height = UInt64(clap.heightNumerator) << 16 / UInt64(clap.heightDenominator)
    return withSquarePixels(
      FixedPointSize(width: UInt32(clamping: width), height: UInt32(clamping: height)))
  }

  private func withSquarePixels(_ size: FixedPointSize) -> FixedPointSize {
    guard let pasp = pixelAspectRatio, pasp.horizontalSpacing > 0, pasp.verticalSpacing > 0 else {
      return size
    }
    let width = UInt64(size.width) * UInt64(pasp.horizontalSpacing) / UInt64(pasp.verticalSpacing)
    return FixedPointSize(width: UInt32(clamping: width), height: size.height)
  }
}
