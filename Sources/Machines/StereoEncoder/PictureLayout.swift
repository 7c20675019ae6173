// SPDX-License-Identifier: MPL-2.0

import StereoVideo

/// What the rows of a picture must hold, by the encoder's configuration.
struct PictureLayout {
  private let width: Int
  private let height: Int
  private let bytesPerSample: Int

  init(_ configuration: StereoEncoderConfiguration) {
    width = configuration.width
    height = configuration.height
    bytesPerSample = configuration.bitDepth > 8 ? 2 : 1
  }

  /// For copies of such pictures.
  func pool() -> PicturePool {
    PicturePool(width: width, height: height, bytesPerSample: bytesPerSample)
  }

  /// Throws `picture` where x265 would read beyond a row, or between two samples.
  func check(_ picture: Picture, eye: Eye) throws(StereoEncoderError) {
    try check(picture.luma, samples: width, name: "luma", eye: eye)
    try check(picture.cb, samples: width / 2, name: "Cb", eye: eye)
    try check(picture.cr, samples: width / 2, name: "Cr", eye: eye)
  }

  private func check(
    _ plane: Picture.Plane, samples: Int, name: String, eye: Eye
  ) throws(StereoEncoderError) {
    let row = samples * bytesPerSample
    guard plane.stride >= row, plane.stride <= Int(Int32.max) else {
      throw .picture(
        eye: eye,
        reason: "a row of \(name) needs \(row) bytes, and rows are \(plane.stride) bytes apart")
    }
    guard plane.stride.isMultiple(of: bytesPerSample),
      UInt(bitPattern: plane.address).isMultiple(of: UInt(bytesPerSample))
    else {
      throw .picture(
        eye: eye, reason: "\(name) does not lie on a multiple of \(bytesPerSample) bytes")
    }
  }
}
