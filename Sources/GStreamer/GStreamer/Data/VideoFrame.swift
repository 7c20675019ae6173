// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A raw video frame that is mapped into memory during the lifetime of this value.
public struct VideoFrame: ~Copyable, @unchecked Sendable {
  private let frame: GstVideoFrame

  /// Maps a buffer according to `info` and its GstVideoMeta; throws if these contradict each other
  /// or describe more than the buffer contains.
  public init(
    _ buffer: borrowing some BufferAccess & ~Copyable, _ info: VideoInfo, writing: Bool = false
  ) throws {
    let layout = try info.layout(of: buffer)
    var cInfo = info.info
    var mapped = GstVideoFrame()
    let mode = writing ? GST_MAP_WRITE : GST_MAP_READ
    guard buffer.videoFormat == nil || info.isContiguous(layout, in: buffer),
      gst_video_frame_map(&mapped, &cInfo, buffer.pointer, mode) != 0
    else {
      throw ElementError(
        .failedStream, "A video frame cannot be mapped.",
        debug: "\(buffer.size) bytes for \(info.width)x\(info.height) \(info.formatName)")
    }
    frame = mapped
  }

  deinit {
    var frame = frame
    gst_video_frame_unmap(&frame)
  }

  /// Number of planes.
  public var planeCount: Int { Int(frame.info.finfo?.pointee.n_planes ?? 0) }

  /// Returns a pointer to the first byte of a plane; nil if there is no such plane.
  public func plane(_ index: Int) -> UnsafeMutableRawPointer? {
    withUnsafeBytes(of: frame.data) {
      let planes = $0.bindMemory(to: UnsafeMutableRawPointer?.self)
      return planes.indices.contains(index) ? planes[index] : nil
    }
  }

  /// Returns the stride of a plane, in bytes.
  public func stride(_ index: Int) -> Int {
    withUnsafeBytes(of: frame.info.stride) {
      let strides = $0.bindMemory(to: gint.self)
      return strides.indices.contains(index) ? Int(strides[index]) : 0
    }
  }

  /// Copies all pixels of another frame of the same format and size; returns whether that
  /// succeeded.
  public func copyPixels(from other: borrowing VideoFrame) -> Bool {
    var (target, source) = (frame, other.frame)
    return gst_video_frame_copy(&target, &source) != 0
  }

  /// Calls `body` with the C structure, which is valid only during the call.
  fileprivate func withFrame(_ body: (UnsafeMutablePointer<GstVideoFrame>) -> Void) {
    var frame = frame
    body(&frame)
  }
}

/// A number for each plane of a picture, at most four, stored inline.
public struct PlaneValues: RandomAccessCollection, MutableCollection, Equatable, Sendable,
  ExpressibleByArrayLiteral
{
  private var values = SIMD4<Int>()
  /// Number of planes, 0 to 4.
  public let endIndex: Int
  /// The first plane.
  public var startIndex: Int { 0 }

  /// - Parameter count: 0 to 4; more are ignored.
  init(count: Int, _ value: (Int) -> Int) {
    endIndex = Swift.min(Swift.max(count, 0), 4)
    for plane in 0..<endIndex { values[plane] = value(plane) }
  }

  /// Creates values from at most four elements; more are ignored.
  public init(arrayLiteral elements: Int...) {
    self.init(count: elements.count) { elements[$0] }
  }

  /// The value of a plane.
  public subscript(plane: Int) -> Int {
    get { values[plane] }
    set { values[plane] = newValue }
  }

  /// Whether both have the same values for the same planes.
  public static func == (a: PlaneValues, b: PlaneValues) -> Bool {
    a.count == b.count && a.elementsEqual(b)
  }
}

/// Converts pictures between formats and sizes: `GstVideoConverter`. Not for simultaneous use by
/// several threads.
public final class VideoConverter: @unchecked Sendable {
  private let converter: OpaquePointer
  /// The format and size of the output.
  public let output: VideoInfo

  /// Creates a converter.
  ///
  /// - Throws: An ``ElementError`` if the conversion is not supported.
  public init(from input: VideoInfo, to output: VideoInfo) throws {
    var (from, to) = (input.info, output.info)
    guard let converter = gst_video_converter_new(&from, &to, nil) else {
      throw ElementError(
        .format, "\(input.formatName) cannot be converted to \(output.formatName).")
    }
    (self.converter, self.output) = (converter, output)
  }

  deinit {
    gst_video_converter_free(converter)
  }

  /// Converts a whole picture.
  public func convert(_ input: borrowing VideoFrame, to output: borrowing VideoFrame) {
    input.withFrame { from in
      output.withFrame { to in gst_video_converter_frame(converter, from, to) }
    }
  }
}

extension VideoInfo {
  /// Returns the layout of the same pictures in another format and size; nil if the size is
  /// invalid.
  ///
  /// The colorimetry stays the same, but for matrix and range if only one of the formats is RGB.
  public func converted(to format: VideoFormat, width: Int, height: Int) -> VideoInfo? {
    guard var result = VideoInfo(format, width: width, height: height) else { return nil }
    result.info.fps_n = info.fps_n
    result.info.fps_d = info.fps_d
    let isRGB = { (info: GstVideoInfo) in
      (info.finfo?.pointee.flags.rawValue ?? 0) & GST_VIDEO_FORMAT_FLAG_RGB.rawValue != 0
    }
    result.info.colorimetry.primaries = info.colorimetry.primaries
    result.info.colorimetry.transfer = info.colorimetry.transfer
    if isRGB(info) == isRGB(result.info) {
      result.info.colorimetry = info.colorimetry
      result.info.chroma_site = info.chroma_site
    }
    return result
  }

  /// Returns the same layout with another colorimetry.
  public func with(_ colorimetry: Colorimetry) -> VideoInfo {
    guard let name = colorimetry.name else { return self }
    var result = self
    gst_video_colorimetry_from_string(&result.info.colorimetry, name)
    return result
  }
}
