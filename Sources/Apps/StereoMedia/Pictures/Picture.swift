// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import SpatialElements
public import StereoVideo

/// One picture: it never changes, can be shared between tasks, and is not copied on the way from the
/// decoder.
///
/// A picture that a decoder made holds memory of the decoder's own. Decoders in hardware have little
/// of that and stop when a program holds all of it: keep ``copied()`` pictures there.
///
/// ```swift
/// try picture.withPlane(0) { bytes, layout in
///   for row in 0..<layout.rows {
///     use(bytes.extracting(row * layout.stride..<row * layout.stride + layout.rowBytes))
///   }
/// }
/// ```
public final class Picture: Sendable {
  let buffer: Buffer
  let info: VideoInfo

  init(_ buffer: Buffer, _ info: VideoInfo) {
    (self.buffer, self.info) = (buffer, info)
  }

  /// A picture of what was drawn, which cannot be changed any more.
  public init(_ drawn: consuming MutablePicture) {
    (buffer, info) = (drawn.buffer, drawn.info)
  }

  /// How its pixels lie in memory.
  public var format: PixelFormat { PixelFormat(rawValue: info.formatName) }
  /// In pixels.
  public var width: Int { info.width }
  /// In pixels.
  public var height: Int { info.height }
  /// How many planes its pixels lie in: 1 to 4.
  public var planeCount: Int { info.planeCount }
  /// How many times as wide as high its pixels are to be shown: 2 for eyes that were squeezed to half
  /// their width.
  public var pixelShape: Double {
    let ratio = info.pixelAspectRatio
    guard ratio.numerator > 0, ratio.denominator > 0 else { return 1 }
    return Double(ratio.numerator) / Double(ratio.denominator)
  }

  /// What the numbers stand for. A picture shown by other colours than these looks wrong.
  public var colour: ColourInformation {
    ColourInformation(info.colorimetry)
  }

  /// Calls `body` with the bytes of a plane, which must not outlive the call, and where the rows lie
  /// in them. Rows are often longer than what they show.
  ///
  /// - Parameters:
  ///   - index: from 0 to `planeCount` - 1.
  ///   - body: looks at them.
  /// - Throws: a ``StereoMediaError`` where there is no such plane or the memory cannot be read; what
  ///   `body` throws.
  public func withPlane<Result, Failure: Error>(
    _ index: Int, _ body: (RawSpan, PlaneLayout) throws(Failure) -> Result
  ) throws -> Result {
    let frame = try mapped()
    let (start, layout) = try frame.plane(index, of: info)
    return try withExtendedLifetime(frame) {
      try body(
        RawSpan(_unsafeStart: UnsafeRawPointer(start), byteCount: layout.byteCount), layout)
    }
  }

  /// A picture with memory of its own, rows one behind the other without much between them.
  ///
  /// - Throws: a ``StereoMediaError`` where there is no memory for it.
  public func copied() throws -> Picture {
    let copy = try MutablePicture(info)
    guard try VideoFrame(copy.buffer, info, writing: true).copyPixels(from: try mapped()) else {
      throw StereoMediaError(.outOfMemory, "a picture cannot be copied")
    }
    return Picture(copy)
  }

  /// The picture in another format, another size, or both. Its colours are converted as its
  /// ``colour`` says.
  ///
  /// - Throws: a ``StereoMediaError`` where there is no such format or size.
  public func converted(to format: PixelFormat, size: PictureSize? = nil) throws -> Picture {
    try format.check()
    let (width, height) =
      try size?.applied(toWidth: info.width, height: info.height, shape: pixelShape)
      ?? (info.width, info.height)
    let wanted = VideoFormat(name: format.rawValue)
    guard let output = info.converted(to: wanted, width: width, height: height)
    else {
      throw StereoMediaError(.unsupportedFormat, "there is no picture of \(width)x\(height) pixels")
    }
    do {
      let converter = try VideoConverter(from: info, to: output)
      let result = try MutablePicture(output)
      converter.convert(
        try mapped(), to: try VideoFrame(result.buffer, output, writing: true))
      return Picture(result)
    } catch let error as ElementError {
      throw StereoMediaError(.unsupportedFormat, error.message)
    }
  }

  func mapped() throws -> VideoFrame {
    do {
      return try VideoFrame(buffer, info)
    } catch let error as ElementError {
      throw StereoMediaError(.decodingFailed, error.message)
    }
  }
}

/// Where the rows of a plane lie in its bytes.
public struct PlaneLayout: Equatable, Sendable {
  /// Bytes from the beginning of a row to that of the next.
  public let stride: Int
  /// Bytes of a row that are pixels.
  public let rowBytes: Int
  /// How many rows there are.
  public let rows: Int

  /// From the first byte to behind the last one that is a pixel.
  var byteCount: Int { rows > 0 ? stride * (rows - 1) + rowBytes : 0 }
}

extension VideoFrame {
  /// The first byte of a plane, and its rows.
  func plane(
    _ index: Int, of info: VideoInfo
  ) throws(StereoMediaError) -> (start: UnsafeMutableRawPointer, PlaneLayout) {
    guard index >= 0, index < planeCount, let start = plane(index) else {
      throw StereoMediaError(
        .outOfRange, "\(info.formatName) has the planes 0 to \(planeCount - 1), not \(index)")
    }
    let size = info.planeSize(index)
    let stride = stride(index)
    // The pixels of some formats share bytes in ways of their own, but fill their rows.
    let row = info.isAddressable ? size.row : stride
    guard stride >= row, row > 0 else {
      throw StereoMediaError(
        .unsupportedFormat, "the rows of the picture lie upside down in memory")
    }
    return (start, PlaneLayout(stride: stride, rowBytes: row, rows: size.rows))
  }
}

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
