// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// A part of a stream: memory, timestamps, flags and metas.
public final class Buffer: MiniObject, @unchecked Sendable {
  package var pointer: UnsafeMutablePointer<GstBuffer> { cast(raw) }

  /// Takes over the caller's reference.
  package init(adopting pointer: UnsafeMutablePointer<GstBuffer>) {
    super.init(adopting: cast(pointer))
  }

  /// Adds a reference.
  package convenience init(retaining pointer: UnsafeMutablePointer<GstBuffer>) {
    self.init(adopting: gst_buffer_ref(pointer))
  }

  /// A buffer with no memory yet.
  public convenience init() {
    self.init(adopting: gst_buffer_new())
  }

  /// A buffer of `size` bytes, which `fill` writes, or else of unset content; nil if there is no such
  /// amount of memory.
  public convenience init?(
    size: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void = { _ in }
  ) {
    guard size >= 0 else { return nil }
    guard size > 0 else {
      self.init()
      return
    }
    // GStreamer's own allocator ends the process where there is no memory.
    guard let memory = g_try_malloc(gsize(size)) else { return nil }
    fill(UnsafeMutableRawBufferPointer(start: memory, count: size))
    self.init(adopting: gst_buffer_new_wrapped(memory, gsize(size)))
  }

  /// A buffer with a copy of these bytes.
  public convenience init(_ bytes: [UInt8]) {
    self.init(
      adopting: bytes.isEmpty
        ? gst_buffer_new() : gst_buffer_new_memdup(bytes, gsize(bytes.count)))
  }

  /// The bytes of all memories together.
  public var size: Int { Int(clamping: gst_buffer_get_size(pointer)) }

  public var memoryCount: Int { Int(gst_buffer_n_memory(pointer)) }

  /// nil where the buffer has none.
  public var pts: ClockTime? {
    get { ClockTime(cValue: pointer.pointee.pts) }
    set { pointer.pointee.pts = newValue.cValue }
  }

  /// nil where the buffer has none.
  public var dts: ClockTime? {
    get { ClockTime(cValue: pointer.pointee.dts) }
    set { pointer.pointee.dts = newValue.cValue }
  }

  /// nil where the buffer has none.
  public var duration: ClockTime? {
    get { ClockTime(cValue: pointer.pointee.duration) }
    set { pointer.pointee.duration = newValue.cValue }
  }

  /// `GST_BUFFER_OFFSET`; `UInt64.max` where the buffer has none.
  public var offset: UInt64 {
    get { UInt64(pointer.pointee.offset) }
    set { pointer.pointee.offset = guint64(newValue) }
  }

  public var flags: BufferFlags {
    get { BufferFlags(rawValue: pointer.pointee.mini_object.flags) }
    set { pointer.pointee.mini_object.flags = newValue.rawValue }
  }

  /// A buffer that refers to the same memory from `offset` on, with metas and, from offset 0,
  /// timestamps; nil outside the buffer.
  public func region(offset: Int, size: Int) -> Buffer? {
    guard offset >= 0, size >= 0, offset <= self.size, size <= self.size - offset else {
      return nil
    }
    let what = GstBufferCopyFlags(
      GST_BUFFER_COPY_FLAGS.rawValue | GST_BUFFER_COPY_META.rawValue
        | GST_BUFFER_COPY_TIMESTAMPS.rawValue | GST_BUFFER_COPY_MEMORY.rawValue)
    return gst_buffer_copy_region(pointer, what, gsize(offset), gsize(size)).map {
      Buffer(adopting: $0)
    }
  }

  /// Takes flags, timestamps and, if asked, metas of another buffer.
  public func copyHeader(from other: Buffer, metas: Bool) {
    var what = GST_BUFFER_COPY_FLAGS.rawValue | GST_BUFFER_COPY_TIMESTAMPS.rawValue
    if metas { what |= GST_BUFFER_COPY_META.rawValue }
    gst_buffer_copy_into(pointer, other.pointer, GstBufferCopyFlags(what), 0, .max)
  }

  /// Removes metas that describe the picture's size or place, after it has been cut.
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

  /// Adds references to bytes of another buffer behind this one's memory, without copying them.
  public func append(_ other: Buffer, offset: Int, size: Int) {
    guard offset >= 0, size > 0, offset <= other.size, size <= other.size - offset else { return }
    gst_buffer_copy_into(
      pointer, other.pointer, GST_BUFFER_COPY_MEMORY, gsize(offset), gsize(size))
  }

  /// Adds a copy of these bytes behind this buffer's memory.
  public func append(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    let copy = Buffer(bytes)
    append(copy, offset: 0, size: copy.size)
  }

  /// A new buffer that refers to bytes of this one, without timestamps, flags and metas; nil
  /// where they lie outside.
  public func memory(offset: Int, size: Int) -> Buffer? {
    guard offset >= 0, size >= 0, offset <= self.size, size <= self.size - offset else {
      return nil
    }
    return gst_buffer_copy_region(pointer, GST_BUFFER_COPY_MEMORY, gsize(offset), gsize(size))
      .map { Buffer(adopting: $0) }
  }

  /// A new buffer with all bytes of this one in one memory, without timestamps, flags and metas.
  public func merged() -> Buffer? {
    let what = GST_BUFFER_COPY_MEMORY.rawValue | GST_BUFFER_COPY_MERGE.rawValue
    return gst_buffer_copy_region(pointer, GstBufferCopyFlags(what), 0, .max)
      .map { Buffer(adopting: $0) }
  }

  /// This buffer if nobody else holds it, else a copy that shares its memory.
  public func writable() -> Buffer {
    isWritable ? self : copied()
  }

  /// A copy that shares the memory.
  public func copied() -> Buffer { Buffer(adopting: gst_buffer_copy(pointer)) }

  /// Keeps `parent` alive, and out of its pool, for as long as this buffer lives.
  public func keepAlive(_ parent: Buffer) {
    gst_buffer_add_parent_buffer_meta(pointer, parent.pointer)
  }

  /// Calls `body` with the buffer's bytes, which must not be kept; throws if they cannot be mapped.
  public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result
  {
    var map = GstMapInfo()
    guard gst_buffer_map(pointer, &map, GST_MAP_READ) != 0 else {
      throw ElementError(.read, "A buffer could not be mapped.")
    }
    defer { gst_buffer_unmap(pointer, &map) }
    return try body(UnsafeRawBufferPointer(start: map.data, count: Int(clamping: map.size)))
  }

  /// The same for writing. Only for buffers that nobody else holds.
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

  /// A copy of the buffer's bytes.
  public var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: size)
    let copied = gst_buffer_extract(pointer, 0, &bytes, gsize(bytes.count))
    return copied == gsize(bytes.count) ? bytes : Array(bytes.prefix(Int(clamping: copied)))
  }

  /// One reference more, for a C function that takes it over.
  func retainedPointer() -> UnsafeMutablePointer<GstBuffer> { gst_buffer_ref(pointer) }
}

/// `GstBufferFlags` and `GstVideoBufferFlags`.
public struct BufferFlags: OptionSet, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Timestamps or data jump here.
  public static let discont = BufferFlags(rawValue: GST_BUFFER_FLAG_DISCONT.rawValue)
  /// Parameter sets or a file header.
  public static let header = BufferFlags(rawValue: GST_BUFFER_FLAG_HEADER.rawValue)
  /// Made up where data is missing.
  public static let gap = BufferFlags(rawValue: GST_BUFFER_FLAG_GAP.rawValue)
  /// Nothing else needs this buffer.
  public static let droppable = BufferFlags(rawValue: GST_BUFFER_FLAG_DROPPABLE.rawValue)
  /// Not a sync point.
  public static let deltaUnit = BufferFlags(rawValue: GST_BUFFER_FLAG_DELTA_UNIT.rawValue)
  /// To be decoded for what follows, but not shown.
  public static let decodeOnly = BufferFlags(rawValue: GST_BUFFER_FLAG_DECODE_ONLY.rawValue)
  /// The last buffer of an access unit.
  public static let marker = BufferFlags(rawValue: GST_BUFFER_FLAG_MARKER.rawValue)
  /// What writes it to a disk sees to it that it is there before anything follows.
  public static let syncAfter = BufferFlags(rawValue: GST_BUFFER_FLAG_SYNC_AFTER.rawValue)
  /// `GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW`: the frame holds, or is one of, several views.
  public static let multipleView = BufferFlags(
    rawValue: GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW.rawValue)
  /// `GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE`: the first frame of one instant.
  public static let firstInBundle = BufferFlags(
    rawValue: GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE.rawValue)
  /// What says which views a frame holds.
  public static let views: BufferFlags = [.multipleView, .firstInBundle]
}
