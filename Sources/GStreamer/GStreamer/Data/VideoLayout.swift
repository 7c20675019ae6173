// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The arrangement of a frame's planes in its buffer: `GstVideoMeta`.
public struct VideoLayout: Sendable {
  /// Width in pixels.
  public var width: Int
  /// Height in pixels.
  public var height: Int
  /// Offset of each plane, in bytes.
  public var offsets: PlaneValues
  /// Stride of each plane, in bytes; negative for rows stored from bottom to top.
  public var strides: PlaneValues

  /// Creates a layout.
  public init(width: Int, height: Int, offsets: PlaneValues, strides: PlaneValues) {
    self.width = width
    self.height = height
    self.offsets = offsets
    self.strides = strides
  }

  /// Creates the layout that caps imply.
  public init(_ info: VideoInfo) {
    self.init(
      width: info.width, height: info.height, offsets: info.offsets, strides: info.strides)
  }
}

extension BufferAccess where Self: ~Copyable {
  /// The layout in the buffer's GstVideoMeta; nil if it has none.
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

  /// The format in the buffer's GstVideoMeta; nil if it has none.
  var videoFormat: VideoFormat? {
    gst_buffer_get_video_meta(pointer).map { VideoFormat($0.pointee.format) }
  }

  /// Sets the buffer's GstVideoMeta, replacing an existing one.
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
  /// Returns the layout of a frame in its buffer: from its GstVideoMeta, or else implied by the
  /// caps. Throws if the buffer is too small, or the meta contradicts the caps.
  public func layout(of buffer: borrowing some BufferAccess & ~Copyable) throws -> VideoLayout {
    let layout = buffer.videoLayout ?? VideoLayout(self)
    guard layout.offsets.count == planeCount else {
      throw ElementError(
        .format,
        "A frame's GstVideoMeta has \(layout.offsets.count) planes; its caps need \(planeCount).")
    }
    guard layout.width >= width, layout.height >= height,
      buffer.videoFormat.map({ $0 == format }) ?? true
    else {
      throw ElementError(
        .format, "A frame's GstVideoMeta does not match its caps.",
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

  /// Whether a condition is true for the byte range of each plane; false if a plane starts before
  /// the buffer.
  private func allExtents(of layout: VideoLayout, _ holds: (Range<Int>) -> Bool) -> Bool {
    guard isAddressable else {
      // The arrangement of pixels within rows is known only to GStreamer, so only its default
      // layout is accepted.
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

  /// Returns the size of a plane's row in bytes, without padding, and the number of rows.
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

  /// Returns a frame each of whose planes lies in a single memory, as is required for mapping with
  /// a GstVideoMeta: the buffer itself if that is so, otherwise a copy with the same layout.
  public func contiguous(_ buffer: Buffer, _ layout: VideoLayout) throws -> Buffer {
    guard !isContiguous(layout, in: buffer) else { return buffer }
    guard let merged = buffer.merged() else {
      throw ElementError(.failedStream, "A frame could not be copied.")
    }
    merged.setVideoLayout(layout, format: format)
    return Buffer(merged)
  }

  /// Whether each plane of a frame lies in a single memory of the buffer, as is required for
  /// mapping with a GstVideoMeta.
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
