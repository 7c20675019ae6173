// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// How the planes of one buffer lie in its memory: `GstVideoMeta`.
public struct VideoLayout: Sendable {
  public var width: Int
  public var height: Int
  public var offsets: PlaneValues
  public var strides: PlaneValues

  public init(width: Int, height: Int, offsets: PlaneValues, strides: PlaneValues) {
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

extension BufferAccess where Self: ~Copyable {
  /// What the buffer's GstVideoMeta says, or nil where it has none.
  public var videoLayout: VideoLayout? {
    guard let meta = gst_buffer_get_video_meta(pointer) else { return nil }
    let count = min(Int(meta.pointee.n_planes), 4)
    let offsets = withUnsafeBytes(of: meta.pointee.offset) { offsets in
      PlaneValues(count: count) { Int(clamping: offsets.bindMemory(to: gsize.self)[$0]) }
    }
    let strides = withUnsafeBytes(of: meta.pointee.stride) { strides in
      PlaneValues(count: count) { Int(strides.bindMemory(to: gint.self)[$0]) }
    }
    return VideoLayout(
      width: Int(meta.pointee.width), height: Int(meta.pointee.height), offsets: offsets,
      strides: strides)
  }

  /// The format that the buffer's GstVideoMeta says, or nil where it has none.
  var videoFormat: VideoFormat? {
    gst_buffer_get_video_meta(pointer).map { VideoFormat($0.pointee.format) }
  }

  /// Describes the planes by a GstVideoMeta, in place of one that is there.
  public func setVideoLayout(_ layout: VideoLayout, format: VideoFormat) {
    if let old = gst_buffer_get_video_meta(pointer) {
      gst_buffer_remove_meta(pointer, cast(old))
    }
    var offsets = SIMD4<UInt>()
    var strides = SIMD4<Int32>()
    for (plane, offset) in layout.offsets.enumerated() { offsets[plane] = UInt(clamping: offset) }
    for (plane, stride) in layout.strides.enumerated() { strides[plane] = Int32(clamping: stride) }
    withUnsafeMutableBytes(of: &offsets) { offsets in
      withUnsafeMutableBytes(of: &strides) { strides in
        _ = gst_buffer_add_video_meta_full(
          pointer, GST_VIDEO_FRAME_FLAG_NONE, format.cValue, UInt32(clamping: layout.width),
          UInt32(clamping: layout.height), UInt32(clamping: layout.offsets.count),
          offsets.bindMemory(to: gsize.self).baseAddress,
          strides.bindMemory(to: gint.self).baseAddress)
      }
    }
  }
}

extension VideoInfo {
  /// How a frame lies in a buffer: as its GstVideoMeta says, or else as the caps imply. Throws where
  /// the buffer is smaller than that, or where the meta is of other video.
  public func layout(of buffer: borrowing some BufferAccess & ~Copyable) throws -> VideoLayout {
    let layout = buffer.videoLayout ?? VideoLayout(self)
    guard layout.offsets.count == planeCount else {
      throw ElementError(
        .format,
        "A frame's GstVideoMeta has \(layout.offsets.count) planes; its caps say \(planeCount).")
    }
    guard layout.width >= width, layout.height >= height,
      buffer.videoFormat.map({ $0 == format }) ?? true
    else {
      throw ElementError(
        .format, "A frame's GstVideoMeta is of other video than its caps.",
        debug: "\(layout.width)x\(layout.height), not \(width)x\(height) \(formatName)")
    }
    let size = buffer.size
    guard allExtents(of: layout, { $0.upperBound <= size }) else {
      throw ElementError(
        .failedStream, "A video frame is smaller than its caps say.",
        debug: "\(size) bytes for \(width)x\(height) \(formatName)")
    }
    return layout
  }

  /// Whether something holds for the bytes that each plane takes; false where one begins before its
  /// buffer.
  private func allExtents(of layout: VideoLayout, _ holds: (Range<Int>) -> Bool) -> Bool {
    guard isAddressable else {
      // How the pixels lie in their rows is the format's secret: they lie as GStreamer packs them.
      return layout.offsets == offsets && layout.strides == strides && holds(0..<size)
    }
    for (plane, (offset, stride)) in zip(layout.offsets, layout.strides).enumerated() {
      let (row, rows) = planeSize(plane)
      let last = stride * (rows - 1)
      let end = offset.addingReportingOverflow(max(last, 0) + row)
      guard !end.overflow, offset >= 0, offset + min(last, 0) >= 0,
        holds(offset + min(last, 0)..<end.partialValue)
      else { return false }
    }
    return true
  }

  /// The bytes of one row of a plane without what fills it up, and how many rows there are.
  public func planeSize(_ plane: Int) -> (row: Int, rows: Int) {
    guard let format = formatInfo else { return (0, 0) }
    var (row, rows) = (0, 0)
    for index in 0..<min(Int(format.n_components), 4) {
      func entry<Tuple, Element: BinaryInteger>(_ tuple: Tuple, _: Element.Type) -> Int {
        withUnsafeBytes(of: tuple) { Int($0.bindMemory(to: Element.self)[index]) }
      }
      guard entry(format.plane, guint.self) == plane else { continue }
      func scaled(_ length: Int, _ shift: Int) -> Int { (length + (1 << shift) - 1) >> shift }
      let samples = scaled(width, entry(format.w_sub, guint.self))
      let bits = entry(format.depth, guint.self) + entry(format.shift, guint.self)
      row = max(
        row,
        entry(format.poffset, guint.self) + (samples - 1) * entry(format.pixel_stride, gint.self)
          + (bits + 7) / 8)
      rows = max(rows, scaled(height, entry(format.h_sub, guint.self)))
    }
    return (row, rows)
  }

  /// A frame whose planes lie in one memory each, as whoever maps a frame with a GstVideoMeta takes for
  /// granted: the buffer itself where they do, else a copy of its memory with the same layout.
  public func contiguous(_ buffer: Buffer, _ layout: VideoLayout) throws -> Buffer {
    guard !isContiguous(layout, in: buffer) else { return buffer }
    guard let merged = buffer.merged() else {
      throw ElementError(.failedStream, "A frame could not be copied.")
    }
    merged.setVideoLayout(layout, format: format)
    return Buffer(merged)
  }

  /// Whether each plane of a frame lies in one of the buffer's memories, as whoever maps a frame with
  /// a GstVideoMeta takes for granted.
  public func isContiguous(
    _ layout: VideoLayout, in buffer: borrowing some BufferAccess & ~Copyable
  ) -> Bool {
    guard buffer.memoryCount > 1 else { return true }
    return allExtents(of: layout) { extent in
      var (first, count, skip): (guint, guint, gsize) = (0, 0, 0)
      let isFound = gst_buffer_find_memory(
        buffer.pointer, gsize(extent.lowerBound), gsize(extent.count), &first, &count, &skip)
      return isFound != 0 && count == 1
    }
  }
}
