// SPDX-License-Identifier: MPL-2.0

/// The part of a picture to display, in fractions of pixels: the `clap` box (ISO/IEC 14496-12
/// 12.1.4). Offsets are from the picture's centre to the aperture's.
public struct CleanAperture: Equatable, Sendable {
  public var widthNumerator, widthDenominator: UInt32
  public var heightNumerator, heightDenominator: UInt32
  /// Horizontal offset of the aperture's centre, in fractions of a pixel.
  public var horizontalOffsetNumerator: Int32
  /// Denominator of the horizontal offset.
  public var horizontalOffsetDenominator: UInt32
  /// Vertical offset of the aperture's centre, in fractions of a pixel.
  public var verticalOffsetNumerator: Int32
  /// Denominator of the vertical offset.
  public var verticalOffsetDenominator: UInt32

  /// Creates an aperture; whole pixels and centred by default.
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

/// The aspect ratio of a pixel: the `pasp` box (ISO/IEC 14496-12 12.1.4).
public struct PixelAspectRatio: Equatable, Sendable {
  /// Width of a pixel relative to `verticalSpacing`.
  public var horizontalSpacing: UInt32
  /// Height of a pixel relative to `horizontalSpacing`.
  public var verticalSpacing: UInt32

  /// Creates the ratio `horizontalSpacing`:`verticalSpacing`.
  public init(horizontalSpacing: UInt32, verticalSpacing: UInt32) {
    self.horizontalSpacing = horizontalSpacing
    self.verticalSpacing = verticalSpacing
  }

  static let square = PixelAspectRatio(horizontalSpacing: 1, verticalSpacing: 1)

  /// Returns the ratio multiplied by a fraction, in lowest terms; nil if it is 0, infinite or does
  /// not fit.
  func scaled(by numerator: UInt32, over denominator: UInt32) -> PixelAspectRatio? {
    let width = UInt64(horizontalSpacing) * UInt64(numerator)
    let height = UInt64(verticalSpacing) * UInt64(denominator)
    guard width > 0, height > 0 else { return nil }
    var (divisor, rest) = (width, height)
    while rest > 0 { (divisor, rest) = (rest, divisor % rest) }
    guard let horizontal = UInt32(exactly: width / divisor),
      let vertical = UInt32(exactly: height / divisor)
    else { return nil }
    return PixelAspectRatio(horizontalSpacing: horizontal, verticalSpacing: vertical)
  }

  func write(to writer: inout BoxWriter) {
    writer.box("pasp") {
      $0.write(horizontalSpacing)
      $0.write(verticalSpacing)
    }
  }
}

/// The fields of a frame: the `fiel` box (QuickTime File Format, "Field handling").
public struct FieldInformation: Equatable, Sendable {
  /// 1 for progressive, 2 for interlaced.
  public var fieldCount: UInt8
  /// Order of the two fields (1, 6, 9 or 14); 0 if progressive or unknown.
  public var detail: UInt8

  /// Creates field information from the two values of the box.
  public init(fieldCount: UInt8, detail: UInt8) {
    self.fieldCount = fieldCount
    self.detail = detail
  }

  /// Progressive frames.
  public static let progressive = FieldInformation(fieldCount: 1, detail: 0)

  func write(to writer: inout BoxWriter) {
    writer.box("fiel") {
      $0.write(fieldCount)
      $0.write(detail)
    }
  }
}

/// A size in 16.16 fixed-point pixels.
public struct FixedPointSize: Equatable, Sendable {
  /// 65536 is one pixel.
  public var width, height: UInt32

  /// Creates a size from 16.16 fixed-point numbers.
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
  /// Size of the coded picture.
  var encodedSize: FixedPointSize {
    FixedPointSize(width: UInt32(width) << 16, height: UInt32(height) << 16)
  }

  /// Size of the coded picture, converted to square pixels.
  var productionSize: FixedPointSize {
    withSquarePixels(encodedSize)
  }

  /// Size of the clean aperture, converted to square pixels: the display size.
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
