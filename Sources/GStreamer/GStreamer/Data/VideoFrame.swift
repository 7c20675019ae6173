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
