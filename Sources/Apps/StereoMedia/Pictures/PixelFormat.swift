// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import StereoVideo

/// How the pixels of a picture lie in memory, by the name that GStreamer gives it: any of
/// `gst-inspect-1.0 videoconvert`.
public struct PixelFormat: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  public init(stringLiteral name: String) { rawValue = name }

  /// Three planes, Y, Cb and Cr, chroma of half the width and height; 8 bits. What decoders of most
  /// movies give.
  public static let i420: PixelFormat = "I420"
  /// The same with 10 bits in 16, least significant byte first.
  public static let i420With10Bits: PixelFormat = "I420_10LE"
  /// Two planes, Y and Cb with Cr between; 8 bits.
  public static let nv12: PixelFormat = "NV12"
  /// One plane; red, green, blue, alpha; 8 bits each.
  public static let rgba: PixelFormat = "RGBA"
  /// One plane; blue, green, red, alpha; 8 bits each.
  public static let bgra: PixelFormat = "BGRA"
  /// One plane; red, green, blue; 8 bits each.
  public static let rgb: PixelFormat = "RGB"
  /// One plane of brightness; 8 bits.
  public static let gray8: PixelFormat = "GRAY8"
}

extension PixelFormat {
  /// Throws where GStreamer knows no such format.
  func check() throws(StereoMediaError) {
    guard VideoFormat(name: rawValue).hasPlanes else {
      throw StereoMediaError(
        .unsupportedFormat, "there is no pixel format '\(rawValue)'",
        hint: "gst-inspect-1.0 videoconvert lists them")
    }
  }
}

/// How large pictures are to be, in pixels.
public struct PictureSize: Hashable, Sendable {
  let width: Int?
  let height: Int?
  let keepsShape: Bool

  /// Exactly so large, in square pixels, whatever that does to the picture's shape.
  public static func exact(width: Int, height: Int) -> PictureSize {
    PictureSize(width: width, height: height, keepsShape: false)
  }

  /// As large as fits, in the shape that the picture has; never larger than it is stored.
  public static func fit(width: Int? = nil, height: Int? = nil) -> PictureSize {
    PictureSize(width: width, height: height, keepsShape: true)
  }

  /// For a picture of a size, in pixels that are `shape` times as wide as high.
  ///
  /// - Throws: ``StereoMediaError/Code/unsupportedFormat`` for sizes that no picture has.
  func applied(
    toWidth stored: Int, height storedHeight: Int, shape: Double
  ) throws(StereoMediaError) -> (width: Int, height: Int) {
    for side in [width, height] {
      guard let side else { continue }
      guard (1...Self.limit).contains(side) else {
        throw StereoMediaError(
          .unsupportedFormat,
          "a picture is from 1 to \(Self.limit) pixels wide and high, not \(side)")
      }
    }
    guard keepsShape else { return (width ?? stored, height ?? storedHeight) }
    // In square pixels, the smaller side as stored.
    let shown =
      shape >= 1
      ? (Double(stored), Double(storedHeight) / shape)
      : (Double(stored) * shape, Double(storedHeight))
    let scale = min(
      1, width.map { Double($0) / shown.0 } ?? 1, height.map { Double($0) / shown.1 } ?? 1)
    return (max(1, Int((shown.0 * scale).rounded())), max(1, Int((shown.1 * scale).rounded())))
  }

  private static let limit = 32_767
}

/// What all pictures of a movie have in common.
struct PictureFormat: Equatable, CustomStringConvertible {
  let pixels: PixelFormat
  let width: Int
  let height: Int
  let pixelShape: Double
  let colour: ColourInformation

  init(_ picture: Picture) {
    (pixels, width, height) = (picture.format, picture.width, picture.height)
    (pixelShape, colour) = (picture.pixelShape, picture.colour)
  }

  /// For messages.
  var description: String {
    "\(width)x\(height) \(pixels.rawValue) of colours \(colour.primaries)"
      + "/\(colour.transferCharacteristics)/\(colour.matrixCoefficients)"
      + (pixelShape == 1 ? "" : " in pixels \(pixelShape) times as wide as high")
  }
}
