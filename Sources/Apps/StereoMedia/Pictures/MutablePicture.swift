// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import SpatialElements

/// A picture that is being drawn. It has one owner, and becomes a ``Picture`` when it is done.
///
/// ```swift
/// var picture = try pool.take()
/// try picture.withPlane(0) { bytes, layout in draw(into: &bytes, layout) }
/// try await writer.append(left: Picture(picture), right: other, at: time)
/// ```
public struct MutablePicture: ~Copyable, Sendable {
  let buffer: Buffer
  let info: VideoInfo

  init(_ buffer: Buffer, _ info: VideoInfo) {
    (self.buffer, self.info) = (buffer, info)
  }

  /// Its content is unset.
  init(_ info: VideoInfo) throws(StereoMediaError) {
    guard let buffer = Buffer(size: info.size) else {
      throw StereoMediaError(
        .outOfMemory, "there is no memory for a picture of \(info.width)x\(info.height) pixels")
    }
    self.init(buffer, info)
  }

  /// How its pixels lie in memory.
  public var format: PixelFormat { PixelFormat(rawValue: info.formatName) }
  /// In pixels.
  public var width: Int { info.width }
  /// In pixels.
  public var height: Int { info.height }
  /// How many planes its pixels lie in: 1 to 4.
  public var planeCount: Int { info.planeCount }

  /// Calls `body` with the bytes of a plane, which must not outlive the call, and where the rows lie
  /// in them.
  ///
  /// - Parameters:
  ///   - index: from 0 to `planeCount` - 1.
  ///   - body: draws.
  /// - Throws: a ``StereoMediaError`` where there is no such plane; what `body` throws.
  public mutating func withPlane<Result, Failure: Error>(
    _ index: Int, _ body: (inout MutableRawSpan, PlaneLayout) throws(Failure) -> Result
  ) throws -> Result {
    let frame = try VideoFrame(buffer, info, writing: true)
    let (start, layout) = try frame.plane(index, of: info)
    return try withExtendedLifetime(frame) {
      var bytes = MutableRawSpan(_unsafeStart: start, byteCount: layout.byteCount)
      return try body(&bytes, layout)
    }
  }
}

/// Pictures of one format and size whose memory is used again when nobody holds them any more.
public final class PicturePool: Sendable {
  private let pool: VideoBufferPool

  /// A pool of pictures.
  ///
  /// - Throws: a ``StereoMediaError`` where there is no such format or size.
  public init(
    format: PixelFormat, width: Int, height: Int, colour: ColourInformation? = nil
  ) throws {
    try Engine.require()
    try format.check()
    _ = try PictureSize.exact(width: width, height: height).applied(
      toWidth: 1, height: 1, shape: 1)
    guard let info = VideoInfo(VideoFormat(name: format.rawValue), width: width, height: height)
    else {
      throw StereoMediaError(.unsupportedFormat, "there is no picture of \(width)x\(height) pixels")
    }
    pool = try VideoBufferPool(colour.map { info.with(Colorimetry($0, unsaid: .unknown)) } ?? info)
  }

  /// A picture whose content is unset.
  ///
  /// - Throws: a ``StereoMediaError`` where there is no memory for it.
  public func take() throws -> MutablePicture {
    do {
      return MutablePicture(Buffer(try pool.acquire()), pool.info)
    } catch {
      throw StereoMediaError(.outOfMemory, "there is no memory for a picture")
    }
  }
}
