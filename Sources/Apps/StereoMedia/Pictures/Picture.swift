// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import SpatialElements
public import StereoVideo

/// An immutable picture. It can be shared between tasks and is not copied on its way from the
/// decoder.
///
/// A decoded picture holds a buffer of the decoder's. Hardware decoders have few of these and stall
/// when the program holds them all: keep ``copied()`` pictures with such decoders.
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

  /// Makes a drawn picture immutable.
  public init(_ drawn: consuming MutablePicture) {
    (buffer, info) = (drawn.buffer, drawn.info)
  }

  /// The pixel format.
  public var format: PixelFormat { PixelFormat(rawValue: info.formatName) }
  /// Width in pixels.
  public var width: Int { info.width }
  /// Height in pixels.
  public var height: Int { info.height }
  /// Number of planes: 1 to 4.
  public var planeCount: Int { info.planeCount }
  /// Pixel aspect ratio, width divided by height: 2 for eyes that were squeezed to half their
  /// width.
  public var pixelShape: Double {
    let ratio = info.pixelAspectRatio
    guard ratio.numerator > 0, ratio.denominator > 0 else { return 1 }
    return Double(ratio.numerator) / Double(ratio.denominator)
  }

  /// The colour space of the pixel values.
  public var colour: ColourInformation {
    ColourInformation(info.colorimetry)
  }

  /// Calls `body` with the bytes of a plane, which must not outlive the call, and with their
  /// layout. The stride may be larger than the pixels of a row.
  ///
  /// - Parameters:
  /// - Parameters:
  ///   - index: the plane, from 0 to `planeCount` - 1.
  ///   - body: reads the bytes.
  /// - Throws: a ``StereoMediaError`` if there is no such plane or the memory cannot be read; any
  ///   error that `body` throws.
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

  /// Returns a copy in memory of its own, with its rows close together.
  ///
  /// - Throws: a ``StereoMediaError`` if there is not enough memory.
  public func copied() throws -> Picture {
    let copy = try MutablePicture(info)
    guard try VideoFrame(copy.buffer, info, writing: true).copyPixels(from: try mapped()) else {
      throw StereoMediaError(.outOfMemory, "a picture cannot be copied")
    }
    return Picture(copy)
  }

  /// Returns the picture in another format, another size or both. Colours are converted according
  /// to ``colour``.
  ///
  /// - Throws: a ``StereoMediaError`` if the format is unknown or the size is not possible.
  public func converted(to format: PixelFormat, size: PictureSize? = nil) throws -> Picture {
    try format.check()
    let (width, height) =
      try size?.applied(toWidth: info.width, height: info.height, shape: pixelShape)
      ?? (info.width, info.height)
    let wanted = VideoFormat(name: format.rawValue)
    guard let output = info.converted(to: wanted, width: width, height: height)
    else {
      throw StereoMediaError(.unsupportedFormat, "a picture cannot have \(width)x\(height) pixels")
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

/// The layout of a plane's rows in its bytes.
public struct PlaneLayout: Equatable, Sendable {
  /// Distance between the starts of two rows, in bytes.
  public let stride: Int
  /// Bytes of a row that are pixels, at most ``stride``.
  public let rowBytes: Int
  /// Number of rows.
  public let rows: Int

  /// Size in bytes, up to the last pixel of the last row.
  var byteCount: Int { rows > 0 ? stride * (rows - 1) + rowBytes : 0 }
}

extension VideoFrame {
  /// Returns the address of a plane's first byte, and the layout of its rows.
  func plane(
    _ index: Int, of info: VideoInfo
  ) throws(StereoMediaError) -> (start: UnsafeMutableRawPointer, PlaneLayout) {
    guard index >= 0, index < planeCount, let start = plane(index) else {
      throw StereoMediaError(
        .outOfRange, "\(info.formatName) has planes 0 to \(planeCount - 1), not \(index)")
    }
    let size = info.planeSize(index)
    let stride = stride(index)
    // The pixels of some formats are packed in groups of several, which fill their rows.
    let row = info.isAddressable ? size.row : stride
    guard stride >= row, row > 0 else {
      throw StereoMediaError(
        .unsupportedFormat, "the rows of the picture are stored bottom up")
    }
    return (start, PlaneLayout(stride: stride, rowBytes: row, rows: size.rows))
  }
}

/// A picture that is being drawn. It has a single owner, which turns it into a ``Picture``.
///
/// ```swift
/// var picture = try MutablePicture(format: .rgba, width: 640, height: 360)
/// try picture.withPlane(0) { bytes, layout in draw(into: &bytes, layout) }
/// try await writer.append(left: Picture(picture), right: other, at: time)
/// ```
///
/// A ``PicturePool`` provides many pictures of one size.
public struct MutablePicture: ~Copyable, Sendable {
  let buffer: Buffer
  let info: VideoInfo

  init(_ buffer: Buffer, _ info: VideoInfo) {
    (self.buffer, self.info) = (buffer, info)
  }

  /// Creates a picture with undefined content.
  ///
  /// - Parameters:
  ///   - format: the pixel format.
  ///   - width: width in pixels: 1 to 32,767.
  ///   - height: height in pixels: 1 to 32,767.
  ///   - colour: the colour space; nil if it is unknown.
  /// - Throws: a ``StereoMediaError`` if the format is unknown, the size is not possible, or there
  ///   is not enough memory.
  public init(
    format: PixelFormat, width: Int, height: Int, colour: ColourInformation? = nil
  ) throws {
    try self.init(VideoInfo(ofPictures: format, width: width, height: height, colour: colour))
  }

  /// Creates a picture with undefined content.
  init(_ info: VideoInfo) throws(StereoMediaError) {
    guard let buffer = Buffer(size: info.size) else {
      throw StereoMediaError(
        .outOfMemory, "not enough memory for a picture of \(info.width)x\(info.height) pixels")
    }
    self.init(buffer, info)
  }

  /// The pixel format.
  public var format: PixelFormat { PixelFormat(rawValue: info.formatName) }
  /// Width in pixels.
  public var width: Int { info.width }
  /// Height in pixels.
  public var height: Int { info.height }
  /// Number of planes: 1 to 4.
  public var planeCount: Int { info.planeCount }

  /// Calls `body` with the bytes of a plane, which must not outlive the call, and with their
  /// layout.
  ///
  /// - Parameters:
  ///   - index: the plane, from 0 to `planeCount` - 1.
  ///   - body: draws into the bytes.
  /// - Throws: a ``StereoMediaError`` if there is no such plane; any error that `body` throws.
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

/// A pool of pictures of one format and size, whose memory is reused after the last reference to a
/// picture is released.
public final class PicturePool: Sendable {
  private let pool: VideoBufferPool

  /// Creates a pool.
  ///
  /// - Parameters:
  ///   - format: the pixel format.
  ///   - width: width in pixels: 1 to 32,767.
  ///   - height: height in pixels: 1 to 32,767.
  ///   - colour: the colour space of the pictures; nil if it is unknown.
  /// - Throws: a ``StereoMediaError`` if the format is unknown or the size is not possible.
  public init(
    format: PixelFormat, width: Int, height: Int, colour: ColourInformation? = nil
  ) throws {
    pool = try VideoBufferPool(
      VideoInfo(ofPictures: format, width: width, height: height, colour: colour))
  }

  /// Returns a picture with undefined content.
  ///
  /// - Throws: a ``StereoMediaError`` if there is not enough memory.
  public func take() throws -> MutablePicture {
    do {
      return MutablePicture(Buffer(try pool.acquire()), pool.info)
    } catch {
      throw StereoMediaError(.outOfMemory, "not enough memory for a picture")
    }
  }
}

extension VideoInfo {
  /// Describes pictures that the program draws.
  fileprivate init(
    ofPictures format: PixelFormat, width: Int, height: Int, colour: ColourInformation?
  ) throws {
    try Engine.require()
    try format.check()
    _ = try PictureSize.exact(width: width, height: height).applied(
      toWidth: 1, height: 1, shape: 1)
    guard let info = VideoInfo(VideoFormat(name: format.rawValue), width: width, height: height)
    else {
      throw StereoMediaError(.unsupportedFormat, "a picture cannot have \(width)x\(height) pixels")
    }
    self = colour.map { info.with(Colorimetry($0, unsaid: .unknown)) } ?? info
  }
}
