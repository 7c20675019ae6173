// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import StereoVideo

/// The memory layout of a picture's pixels, by its GStreamer name: any format that `gst-inspect-1.0
/// videoconvert` lists.
public struct PixelFormat: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The GStreamer name, such as `I420`.
  public let rawValue: String

  /// Creates a format from its GStreamer name, which is not checked.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a format from its GStreamer name, which is not checked.
  public init(stringLiteral name: String) { rawValue = name }

  /// Three planes, Y, Cb and Cr, 4:2:0, 8 bits: the output of most decoders.
  public static let i420: PixelFormat = "I420"
  /// The same with 10 bits in 16-bit little-endian words.
  public static let i420With10Bits: PixelFormat = "I420_10LE"
  /// Two planes, Y and interleaved Cb and Cr, 4:2:0, 8 bits.
  public static let nv12: PixelFormat = "NV12"
  /// One plane: red, green, blue, alpha, 8 bits each.
  public static let rgba: PixelFormat = "RGBA"
  /// One plane: blue, green, red, alpha, 8 bits each.
  public static let bgra: PixelFormat = "BGRA"
  /// One plane: red, green, blue, 8 bits each.
  public static let rgb: PixelFormat = "RGB"
  /// One plane of luma, 8 bits.
  public static let gray8: PixelFormat = "GRAY8"
}

extension PixelFormat {
  /// Throws if GStreamer does not know the format.
  func check() throws(StereoMediaError) {
    guard VideoFormat(name: rawValue).hasPlanes else {
      throw StereoMediaError(
        .unsupportedFormat, "there is no pixel format '\(rawValue)'",
        hint: "gst-inspect-1.0 videoconvert lists them")
    }
  }
}

/// A requested picture size, in pixels.
public struct PictureSize: Hashable, Sendable {
  let width: Int?
  let height: Int?
  let keepsShape: Bool

  /// Returns a size of exactly `width` x `height` square pixels, regardless of the picture's aspect
  /// ratio.
  public static func exact(width: Int, height: Int) -> PictureSize {
    PictureSize(width: width, height: height, keepsShape: false)
  }

  /// Returns the largest size that fits, with the aspect ratio of the picture; never larger than
  /// the stored picture.
  public static func fit(width: Int? = nil, height: Int? = nil) -> PictureSize {
    PictureSize(width: width, height: height, keepsShape: true)
  }

  /// Returns the size of a picture that is stored in another one.
  ///
  /// - Parameter shape: pixel aspect ratio of the stored picture, width divided by height.
  /// - Throws: ``StereoMediaError/Code/unsupportedFormat`` for a size that is not possible.
  func applied(
    toWidth stored: Int, height storedHeight: Int, shape: Double
  ) throws(StereoMediaError) -> (width: Int, height: Int) {
    for side in [width, height] {
      guard let side else { continue }
      guard (1...Self.limit).contains(side) else {
        throw StereoMediaError(
          .unsupportedFormat,
          "a picture is 1 to \(Self.limit) pixels wide and high, not \(side)")
      }
    }
    guard keepsShape else { return (width ?? stored, height ?? storedHeight) }
    // In square pixels; one side is as stored, the other is reduced.
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

/// The properties that all pictures of a movie share.
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

  /// A description for messages.
  var description: String {
    "\(width)x\(height) \(pixels.rawValue) with colour code points \(colour.primaries)"
      + "/\(colour.transferCharacteristics)/\(colour.matrixCoefficients)"
      + (pixelShape == 1 ? "" : " and pixel aspect ratio \(pixelShape)")
  }
}
