// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// A ``Buffer`` or a ``UniqueBuffer``. Functions that modify the buffer may be called only if it
/// has no other owner.
public protocol BufferAccess: ~Copyable {
  /// The address of the GstBuffer.
  var reference: BufferReference { get }
}

/// The address of a GstBuffer.
public struct BufferReference {
  package let pointer: UnsafeMutablePointer<GstBuffer>

  package init(pointer: UnsafeMutablePointer<GstBuffer>) {
    self.pointer = pointer
  }
}

extension BufferAccess where Self: ~Copyable {
  package var pointer: UnsafeMutablePointer<GstBuffer> { reference.pointer }

  /// Total size of all memories, in bytes.
  public var size: Int { Int(clamping: gst_buffer_get_size(pointer)) }

  /// Number of memories.
  public var memoryCount: Int { Int(gst_buffer_n_memory(pointer)) }

  /// Presentation timestamp; nil if there is none.
  public var pts: ClockTime? {
    get { ClockTime(cValue: pointer.pointee.pts) }
    nonmutating set { pointer.pointee.pts = newValue.cValue }
  }

  /// Decode timestamp; nil if there is none.
  public var dts: ClockTime? {
    get { ClockTime(cValue: pointer.pointee.dts) }
    nonmutating set { pointer.pointee.dts = newValue.cValue }
  }

  /// Duration; nil if there is none.
  public var duration: ClockTime? {
    get { ClockTime(cValue: pointer.pointee.duration) }
    nonmutating set { pointer.pointee.duration = newValue.cValue }
  }

  /// `GST_BUFFER_OFFSET`; `UInt64.max` if there is none.
  public var offset: UInt64 {
    get { UInt64(pointer.pointee.offset) }
    nonmutating set { pointer.pointee.offset = guint64(newValue) }
  }

  /// The flags of the buffer.
  public var flags: BufferFlags {
    get { BufferFlags(rawValue: pointer.pointee.mini_object.flags) }
    nonmutating set { pointer.pointee.mini_object.flags = newValue.rawValue }
  }

  /// Returns a buffer that refers to a range of the memory, with metas and, from offset 0, with
  /// timestamps; nil if the range is invalid.
  public func region(offset: Int, size: Int) -> UniqueBuffer? {
    guard offset >= 0, size >= 0, offset <= self.size, size <= self.size - offset else {
      return nil
    }
    let what = GstBufferCopyFlags(
      GST_BUFFER_COPY_FLAGS.rawValue | GST_BUFFER_COPY_META.rawValue
        | GST_BUFFER_COPY_TIMESTAMPS.rawValue | GST_BUFFER_COPY_MEMORY.rawValue)
    return gst_buffer_copy_region(pointer, what, gsize(offset), gsize(size)).map {
      UniqueBuffer(adopting: $0)
    }
  }

  /// Copies flags, timestamps and, optionally, metas of another buffer.
  public func copyHeader(from other: borrowing some BufferAccess & ~Copyable, metas: Bool) {
    var what = GST_BUFFER_COPY_FLAGS.rawValue | GST_BUFFER_COPY_TIMESTAMPS.rawValue
    if metas { what |= GST_BUFFER_COPY_META.rawValue }
    gst_buffer_copy_into(pointer, other.pointer, GstBufferCopyFlags(what), 0, .max)
  }

  /// Removes metas that describe sizes or positions in the picture, after it has been cropped.
  public func removeMetasOfSize() {
    gst_buffer_foreach_meta(
      pointer,
      { _, meta, _ in
        guard let meta, let current = meta.pointee else { return 1 }
        let size = g_quark_from_static_string(GST_META_TAG_VIDEO_SIZE_STR)
        if gst_meta_api_type_has_tag(current.pointee.info.pointee.api, size) != 0 {
          meta.pointee = nil
        }
        return 1
      }, nil)
  }

  /// Appends a range of another buffer's memory without copying it.
  public func append(_ other: borrowing some BufferAccess & ~Copyable, offset: Int, size: Int) {
    guard offset >= 0, size > 0, offset <= other.size, size <= other.size - offset else { return }
    gst_buffer_copy_into(
      pointer, other.pointer, GST_BUFFER_COPY_MEMORY, gsize(offset), gsize(size))
  }

  /// Appends a copy of these bytes.
  public func append(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    let copy = UniqueBuffer(bytes)
    append(copy, offset: 0, size: copy.size)
  }

  /// Returns a new buffer with all bytes in a single memory, without timestamps, flags and metas.
  public func merged() -> UniqueBuffer? {
    let what = GST_BUFFER_COPY_MEMORY.rawValue | GST_BUFFER_COPY_MERGE.rawValue
    return gst_buffer_copy_region(pointer, GstBufferCopyFlags(what), 0, .max)
      .map { UniqueBuffer(adopting: $0) }
  }

  /// Keeps `parent` alive, and so out of its pool, during the lifetime of this buffer.
  public func keepAlive(_ parent: borrowing some BufferAccess & ~Copyable) {
    gst_buffer_add_parent_buffer_meta(pointer, parent.pointer)
  }

  /// Calls `body` with the buffer's bytes, which are valid only during the call; throws if they
  /// cannot be mapped.
  public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result
  {
    var map = GstMapInfo()
    guard gst_buffer_map(pointer, &map, GST_MAP_READ) != 0 else {
      throw ElementError(.read, "A buffer could not be mapped.")
    }
    defer { gst_buffer_unmap(pointer, &map) }
    return try body(UnsafeRawBufferPointer(start: map.data, count: Int(clamping: map.size)))
  }

  /// Calls `body` with the buffer's bytes for writing. The buffer must have no other owner.
  public func withMutableBytes<Result>(
    _ body: (UnsafeMutableRawBufferPointer) throws -> Result
  ) throws -> Result {
    var map = GstMapInfo()
    guard gst_buffer_map(pointer, &map, GST_MAP_WRITE) != 0 else {
      throw ElementError(
        .write, "A buffer could not be mapped for writing.")
    }
    defer { gst_buffer_unmap(pointer, &map) }
    return try body(UnsafeMutableRawBufferPointer(start: map.data, count: Int(clamping: map.size)))
  }

  /// Copies as many of the buffer's bytes as fit to the start of `target`; returns their number.
  public func copyBytes(to target: UnsafeMutableRawBufferPointer) -> Int {
    Int(clamping: gst_buffer_extract(pointer, 0, target.baseAddress, gsize(target.count)))
  }

  /// A copy of the buffer's bytes.
  public var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: size)
    let copied = gst_buffer_extract(pointer, 0, &bytes, gsize(bytes.count))
    return copied == gsize(bytes.count) ? bytes : Array(bytes.prefix(Int(clamping: copied)))
  }
}

extension BufferAccess where Self: ~Copyable {
  /// Copies those metas of another buffer that still apply to what was made from its picture, like
  /// GstVideoEncoder and GstVideoDecoder: time codes, captions, reference timestamps, custom metas,
  /// and all others that do not describe the memory.
  ///
  /// - Parameters:
  ///   - other: The buffer to copy from.
  ///   - isResized: Whether to omit metas that describe sizes and positions in the picture.
  public func copyMetas(
    from other: borrowing some BufferAccess & ~Copyable, isResized: Bool = false
  ) {
    let copying = g_quark_from_string("gst-copy")
    var whole = GstMetaTransformCopy(region: 0, offset: 0, size: .max)
    var state: gpointer?
    while let meta = gst_buffer_iterate_meta(other.pointer, &state) {
      guard let info = meta.pointee.info, let transform = info.pointee.transform_func,
        holds(info.pointee.api, isResized: isResized)
      else { continue }
      _ = transform(pointer, meta, other.pointer, copying, &whole)
    }
  }
}

/// Whether all tags of a meta API still apply.
private func holds(_ api: GType, isResized: Bool) -> Bool {
  guard var tag = gst_meta_api_type_get_tags(api) else { return true }
  while let name = tag.pointee {
    guard
      g_strcmp0(name, GST_META_TAG_VIDEO_STR) == 0
        || g_strcmp0(name, GST_META_TAG_VIDEO_ORIENTATION_STR) == 0
        || !isResized && g_strcmp0(name, GST_META_TAG_VIDEO_SIZE_STR) == 0
    else { return false }
    tag += 1
  }
  return true
}

/// A SMPTE time code, which numbers frames in hours, minutes, seconds and frames.
public struct TimeCode: Equatable, Sendable {
  /// Frames per second.
  public let frameRate: Fraction
  /// Whether some numbers are skipped to stay close to real time.
  public let isDropFrame: Bool
  /// Frames since midnight.
  public let frame: UInt64
}

extension BufferAccess where Self: ~Copyable {
  /// The frame's time code, from its GstVideoTimeCodeMeta; nil if it has no valid one.
  public var timeCode: TimeCode? {
    guard let meta = gst_buffer_get_meta(pointer, gst_video_time_code_meta_api_get_type()) else {
      return nil
    }
    return UnsafeMutableRawPointer(meta).withMemoryRebound(
      to: GstVideoTimeCodeMeta.self, capacity: 1
    ) { meta in
      let config = meta.pointee.tc.config
      guard config.fps_n > 0, config.fps_d > 0, gst_video_time_code_is_valid(&meta.pointee.tc) != 0
      else { return nil }
      return TimeCode(
        frameRate: Fraction(Int32(clamping: config.fps_n), Int32(clamping: config.fps_d)),
        isDropFrame: config.flags.rawValue & GST_VIDEO_TIME_CODE_FLAGS_DROP_FRAME.rawValue != 0,
        frame: UInt64(gst_video_time_code_frames_since_daily_jam(&meta.pointee.tc)))
    }
  }
}

extension BufferAccess where Self: ~Copyable {
  /// The frame's closed captions (CEA-608 and CEA-708) from its GstVideoCaptionMetas, as the
  /// triplets `cc_data_pkt` of CTA-708: three bytes each. Empty if there are none.
  public var captions: [UInt8] {
    let api = gst_video_caption_meta_api_get_type()
    var triplets: [UInt8] = []
    var state: gpointer?
    while let meta = gst_buffer_iterate_meta_filtered(pointer, &state, api) {
      UnsafeMutableRawPointer(meta).withMemoryRebound(
        to: GstVideoCaptionMeta.self, capacity: 1
      ) { meta in
        // A frame has at most 31 triplets; nothing justifies more memory than that of a packet.
        guard let data = meta.pointee.data, meta.pointee.size <= 256 else { return }
        let bytes = Array(UnsafeBufferPointer(start: data, count: Int(meta.pointee.size)))
        triplets += captionTriplets(bytes, meta.pointee.caption_type)
      }
    }
    return triplets
  }
}

/// Returns the triplets in captions of a type.
private func captionTriplets(_ bytes: [UInt8], _ type: GstVideoCaptionType) -> [UInt8] {
  switch type {
  case GST_VIDEO_CAPTION_TYPE_CEA708_RAW: return Array(bytes.prefix(bytes.count / 3 * 3))
  case GST_VIDEO_CAPTION_TYPE_CEA608_RAW:
    return stride(from: 0, to: bytes.count - 1, by: 2).flatMap { [0xFC, bytes[$0], bytes[$0 + 1]] }
  case GST_VIDEO_CAPTION_TYPE_CEA608_S334_1A:
    // The first bit is set for the first field.
    return stride(from: 0, to: bytes.count - 2, by: 3).flatMap { index -> [UInt8] in
      let type: UInt8 = bytes[index] & 0x80 != 0 ? 0xFC : 0xFD
      return [type, bytes[index + 1], bytes[index + 2]]
    }
  case GST_VIDEO_CAPTION_TYPE_CEA708_CDP:
    // `cdp_header` of SMPTE ST 334-2, then perhaps a time code, then `ccdata_section`.
    guard bytes.count > 8 else { return [] }
    let start = bytes[4] & 0x80 != 0 ? 12 : 7
    guard bytes.count > start + 1, bytes[start] == 0x72 else { return [] }
    let count = Int(bytes[start + 1] & 0x1F) * 3
    return Array(bytes.dropFirst(start + 2).prefix(count))
  default: return []
  }
}
