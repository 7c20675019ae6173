// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A raw video frame mapped into memory for as long as this value lives.
public struct VideoFrame: ~Copyable, @unchecked Sendable {
  private let frame: GstVideoFrame

  /// Maps `buffer` as `info` and the buffer's GstVideoMeta say; throws where they do not fit, or say
  /// more than the buffer holds.
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

  public var planeCount: Int { Int(frame.info.finfo?.pointee.n_planes ?? 0) }

  /// The first byte of a plane.
  public func plane(_ index: Int) -> UnsafeMutableRawPointer? {
    withUnsafeBytes(of: frame.data) {
      let planes = $0.bindMemory(to: UnsafeMutableRawPointer?.self)
      return planes.indices.contains(index) ? planes[index] : nil
    }
  }

  /// The bytes from a row of a plane to the next.
  public func stride(_ index: Int) -> Int {
    withUnsafeBytes(of: frame.info.stride) {
      let strides = $0.bindMemory(to: gint.self)
      return strides.indices.contains(index) ? Int(strides[index]) : 0
    }
  }

  /// Copies all pixels of another frame of the same format and size.
  public func copyPixels(from other: borrowing VideoFrame) -> Bool {
    var (target, source) = (frame, other.frame)
    return gst_video_frame_copy(&target, &source) != 0
  }

  /// Lends the frame to C.
  func withFrame(_ body: (UnsafeMutablePointer<GstVideoFrame>) -> Void) {
    var frame = frame
    body(&frame)
  }
}

/// A number for each plane of a picture, of which there are at most four: no memory of its own.
public struct PlaneValues: RandomAccessCollection, MutableCollection, Equatable, Sendable,
  ExpressibleByArrayLiteral
{
  private var values = SIMD4<Int>()
  public let endIndex: Int
  public var startIndex: Int { 0 }

  /// - Parameter count: 0 to 4; what is above 4 is left out.
  init(count: Int, _ value: (Int) -> Int) {
    endIndex = Swift.min(Swift.max(count, 0), 4)
    for plane in 0..<endIndex { values[plane] = value(plane) }
  }

  /// What is behind the fourth is left out.
  public init(arrayLiteral elements: Int...) {
    self.init(count: elements.count) { elements[$0] }
  }

  public subscript(plane: Int) -> Int {
    get { values[plane] }
    set { values[plane] = newValue }
  }

  public static func == (a: PlaneValues, b: PlaneValues) -> Bool {
    a.count == b.count && a.elementsEqual(b)
  }
}

/// Converts pictures between formats and sizes: `GstVideoConverter`. For one thread at a time.
public final class VideoConverter: @unchecked Sendable {
  private let converter: OpaquePointer
  public let output: VideoInfo

  /// - Throws: an ``ElementError`` where there is no such conversion.
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

  /// Converts all of a picture.
  public func convert(_ input: borrowing VideoFrame, to output: borrowing VideoFrame) {
    input.withFrame { from in
      output.withFrame { to in gst_video_converter_frame(converter, from, to) }
    }
  }
}

extension VideoInfo {
  /// The layout of the same pictures in another format and size; nil where there is no such size.
  ///
  /// The colours stay those of this one, but for the matrix and the range where only one of the two
  /// formats is RGB.
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

  /// The same pictures as caps that say their colours and shape.
  public func with(_ colorimetry: Colorimetry) -> VideoInfo {
    guard let name = colorimetry.name else { return self }
    var result = self
    gst_video_colorimetry_from_string(&result.info.colorimetry, name)
    return result
  }
}
