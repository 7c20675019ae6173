// SPDX-License-Identifier: MPL-2.0

/// A kind of picture file.
public enum ImageFormat: Hashable, Sendable {
  /// Without loss.
  case png
  /// With a quality from 0 to 100; other numbers count as the nearest of these.
  case jpeg(Int = 90)

  /// The element that makes such files.
  var encoder: String {
    switch self {
    case .png: "pngenc"
    case .jpeg(let quality): "jpegenc quality=\(min(max(quality, 0), 100))"
    }
  }
}

extension Picture {
  /// The picture as a picture file.
  ///
  /// - Throws: a ``StereoMediaError`` where it cannot be encoded; `CancellationError` where the task
  ///   is cancelled.
  public func encoded(as format: ImageFormat = .png) async throws -> [UInt8] {
    try await PictureEncoder(format, packing: "side-by-side").encode([self])
  }
}

/// A picture file in memory, and what it shows.
public struct EncodedImage: Sendable {
  /// The file.
  public let bytes: [UInt8]
  /// What kind of file it is.
  public let format: ImageFormat
  /// The time that was asked for; nil where a frame was asked for by its index.
  public let requestedTime: Duration?
  /// When the frame begins that it shows.
  public let actualTime: Duration
  /// The position of that frame in the movie's ``FrameIndex``.
  public let index: Int
}
