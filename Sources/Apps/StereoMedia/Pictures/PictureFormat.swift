// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

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
