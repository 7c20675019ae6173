// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// A part of a stream: memory, timestamps, flags and metas, which any number may hold. Only one that
/// nobody else holds may be changed: see `isWritable`.
public final class Buffer: MiniObject, BufferAccess, @unchecked Sendable {
  public var reference: BufferReference { BufferReference(pointer: cast(raw)) }

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
    self.init(UniqueBuffer())
  }

  /// The same buffer, which others may hold from now on.
  public convenience init(_ buffer: consuming UniqueBuffer) {
    self.init(adopting: buffer.take())
  }

  /// A buffer of `size` bytes, which `fill` writes, or else of unset content; nil if there is no such
  /// amount of memory.
  public convenience init?(
    size: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void = { _ in }
  ) {
    guard let buffer = UniqueBuffer(size: size, fill) else { return nil }
    self.init(buffer)
  }

  /// A buffer with a copy of these bytes.
  public convenience init(_ bytes: [UInt8]) {
    self.init(UniqueBuffer(bytes))
  }

  /// This buffer if nobody else holds it, else a copy that shares its memory.
  public func writable() -> Buffer {
    isWritable ? self : copied()
  }

  /// A copy that shares the memory.
  public func copied() -> Buffer { Buffer(adopting: gst_buffer_copy(pointer)) }
}

/// A buffer that nobody else holds, so that it may be changed: one that has just been made, or that
/// a base class lends for that. It is no object, and so costs nothing beside the buffer.
public struct UniqueBuffer: ~Copyable, BufferAccess, @unchecked Sendable {
  public let reference: BufferReference

  /// Takes over the caller's reference, which is the only one.
  package init(adopting pointer: UnsafeMutablePointer<GstBuffer>) {
    reference = BufferReference(pointer: pointer)
  }

  deinit { gst_buffer_unref(reference.pointer) }

  /// A buffer with no memory yet.
  public init() {
    self.init(adopting: gst_buffer_new())
  }

  /// A buffer of `size` bytes, which `fill` writes, or else of unset content; nil if there is no such
  /// amount of memory.
  public init?(size: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void = { _ in }) {
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
  public init(_ bytes: [UInt8]) {
    self.init(
      adopting: bytes.isEmpty
        ? gst_buffer_new() : gst_buffer_new_memdup(bytes, gsize(bytes.count)))
  }

  /// The reference, for a C function that takes it over.
  package consuming func take() -> UnsafeMutablePointer<GstBuffer> {
    let pointer = reference.pointer
    discard self
    return pointer
  }
}

/// A buffer that is mapped for reading as long as this object lives, so that its bytes stay where
/// they are.
public final class MappedBuffer: @unchecked Sendable {
  public let buffer: Buffer
  public let bytes: UnsafeRawBufferPointer
  private var map = GstMapInfo()

  /// - Throws: an ``ElementError`` where the buffer cannot be mapped.
  public init(_ buffer: Buffer) throws {
    self.buffer = buffer
    guard gst_buffer_map(buffer.pointer, &map, GST_MAP_READ) != 0 else {
      bytes = UnsafeRawBufferPointer(start: nil, count: 0)
      throw ElementError(.read, "A buffer could not be mapped.")
    }
    bytes = UnsafeRawBufferPointer(start: map.data, count: Int(clamping: map.size))
  }

  deinit {
    if map.memory != nil { gst_buffer_unmap(buffer.pointer, &map) }
  }
}

extension BufferAccess where Self: ~Copyable {
  /// Adds bytes behind this one's memory without copying them. `owner` keeps them where and as they
  /// are as long as it lives.
  public func append(_ bytes: UnsafeRawBufferPointer, keptBy owner: AnyObject) {
    guard let start = bytes.baseAddress, bytes.count > 0 else { return }
    let memory = gst_memory_new_wrapped(
      GST_MEMORY_FLAG_READONLY, UnsafeMutableRawPointer(mutating: start), gsize(bytes.count), 0,
      gsize(bytes.count), Unmanaged.passRetained(owner).toOpaque(), releaseCallback)
    gst_buffer_append_memory(pointer, memory)
  }
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
