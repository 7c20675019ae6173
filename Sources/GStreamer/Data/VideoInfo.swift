public import CGStreamer

/// The layout of raw video: format, size, rate, colorimetry, planes; from caps.
public struct VideoInfo: @unchecked Sendable {
  public var info: GstVideoInfo

  /// nil where the caps are not fixed raw video in system memory.
  public init?(_ caps: Caps) {
    info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, caps.pointer) != 0 else { return nil }
  }

  /// The layout of `format` at a size, tightly packed as GStreamer packs it; nil if too large.
  public init?(_ format: GstVideoFormat, width: Int, height: Int) {
    info = GstVideoInfo()
    guard let width = UInt32(exactly: width), let height = UInt32(exactly: height),
      gst_video_info_set_format(&info, format, width, height) != 0
    else { return nil }
  }

  public var caps: Caps {
    var info = info
    return Caps(adopting: gst_video_info_to_caps(&info))
  }

  public var format: GstVideoFormat { info.finfo?.pointee.format ?? GST_VIDEO_FORMAT_UNKNOWN }
  public var formatName: String { String(cString: gst_video_format_to_string(format)) }
  public var width: Int { Int(info.width) }
  public var height: Int { Int(info.height) }
  /// The bytes of one frame.
  public var size: Int { Int(clamping: info.size) }
  /// Frames a second; 0/1 where it varies.
  public var frameRate: Fraction { Fraction(info.fps_n, info.fps_d) }
  public var pixelAspectRatio: Fraction { Fraction(info.par_n, info.par_d) }
  public var colorimetry: GstVideoColorimetry { info.colorimetry }
  public var isInterlaced: Bool { info.interlace_mode != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE }

  public var planeCount: Int { Int(info.finfo?.pointee.n_planes ?? 0) }
  /// Where each plane starts.
  public var offsets: [Int] {
    withUnsafeBytes(of: info.offset) {
      $0.bindMemory(to: gsize.self).prefix(planeCount).map { Int(clamping: $0) }
    }
  }
  /// The bytes from a row to the next, for each plane.
  public var strides: [Int] {
    withUnsafeBytes(of: info.stride) {
      $0.bindMemory(to: gint.self).prefix(planeCount).map { Int($0) }
    }
  }
  /// What the format is made of: components, planes, bits, subsampling.
  public var formatInfo: GstVideoFormatInfo? { info.finfo?.pointee }
}

/// How the planes of one buffer lie in its memory: `GstVideoMeta`.
public struct VideoLayout: Sendable {
  public var width: Int
  public var height: Int
  public var offsets: [Int]
  public var strides: [Int]

  public init(width: Int, height: Int, offsets: [Int], strides: [Int]) {
    self.width = width
    self.height = height
    self.offsets = offsets
    self.strides = strides
  }

  /// The layout that caps alone imply.
  public init(_ info: VideoInfo) {
    self.init(
      width: info.width, height: info.height, offsets: info.offsets, strides: info.strides)
  }
}

extension Buffer {
  /// What the buffer's GstVideoMeta says, or nil where it has none.
  public var videoLayout: VideoLayout? {
    guard let meta = gst_buffer_get_video_meta(pointer) else { return nil }
    let count = min(Int(meta.pointee.n_planes), 4)
    let offsets = withUnsafeBytes(of: meta.pointee.offset) {
      $0.bindMemory(to: gsize.self).prefix(count).map { Int(clamping: $0) }
    }
    let strides = withUnsafeBytes(of: meta.pointee.stride) {
      $0.bindMemory(to: gint.self).prefix(count).map { Int($0) }
    }
    return VideoLayout(
      width: Int(meta.pointee.width), height: Int(meta.pointee.height), offsets: offsets,
      strides: strides)
  }

  /// Describes the planes by a GstVideoMeta, in place of one that is there.
  public func setVideoLayout(_ layout: VideoLayout, format: GstVideoFormat) {
    if let old = gst_buffer_get_video_meta(pointer) {
      gst_buffer_remove_meta(pointer, cast(old))
    }
    var offsets = layout.offsets.map { gsize(clamping: $0) } + [gsize](repeating: 0, count: 4)
    var strides = layout.strides.map { gint(clamping: $0) } + [gint](repeating: 0, count: 4)
    gst_buffer_add_video_meta_full(
      pointer, GST_VIDEO_FRAME_FLAG_NONE, format, UInt32(clamping: layout.width),
      UInt32(clamping: layout.height), UInt32(clamping: layout.offsets.count), &offsets, &strides)
  }
}
