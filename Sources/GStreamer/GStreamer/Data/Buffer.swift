// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// A part of a stream: memory, timestamps, flags and metas, with any number of references
/// (`GstBuffer`). It may be modified only if it has a single one: see `isWritable`.
public final class Buffer: MiniObject, BufferAccess, @unchecked Sendable {
  /// The address of the GstBuffer.
  public var reference: BufferReference { BufferReference(pointer: cast(raw)) }

  /// Takes over the caller's reference.
  package init(adopting pointer: UnsafeMutablePointer<GstBuffer>) {
    super.init(adopting: cast(pointer))
  }

  /// Adds a reference.
  package convenience init(retaining pointer: UnsafeMutablePointer<GstBuffer>) {
    self.init(adopting: gst_buffer_ref(pointer))
  }

  /// Creates a buffer without memory.
  public convenience init() {
    self.init(UniqueBuffer())
  }

  /// Turns a buffer with a single owner into one that can be shared.
  public convenience init(_ buffer: consuming UniqueBuffer) {
    self.init(adopting: buffer.take())
  }

  /// Creates a buffer of `size` bytes, filled by `fill`, or uninitialized without it; nil if that
  /// much memory is not available.
  public convenience init?(
    size: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void = { _ in }
  ) {
    guard let buffer = UniqueBuffer(size: size, fill) else { return nil }
    self.init(buffer)
  }

  /// Creates a buffer with a copy of these bytes.
  public convenience init(_ bytes: [UInt8]) {
    self.init(UniqueBuffer(bytes))
  }

  /// Returns this buffer if it has no other references, otherwise a copy that shares its memory.
  public func writable() -> Buffer {
    isWritable ? self : copied()
  }

  /// Returns a copy that shares the memory.
  public func copied() -> Buffer { Buffer(adopting: gst_buffer_copy(pointer)) }
}

/// A buffer with a single owner, which may therefore be modified: it was just created, or a base
/// class lends it for that. It is no object and so adds no cost.
public struct UniqueBuffer: ~Copyable, BufferAccess, @unchecked Sendable {
  /// The address of the GstBuffer.
  public let reference: BufferReference

  /// Takes over the caller's reference, which is the only one.
  package init(adopting pointer: UnsafeMutablePointer<GstBuffer>) {
    reference = BufferReference(pointer: pointer)
  }

  deinit { gst_buffer_unref(reference.pointer) }

  /// Creates a buffer without memory.
  public init() {
    self.init(adopting: gst_buffer_new())
  }

  /// Creates a buffer of `size` bytes, filled by `fill`, or uninitialized without it; nil if that
  /// much memory is not available.
  public init?(size: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void = { _ in }) {
    guard size >= 0 else { return nil }
    guard size > 0 else {
      self.init()
      return
    }
    // GStreamer's own allocator aborts when memory is exhausted.
    guard let memory = g_try_malloc(gsize(size)) else { return nil }
    fill(UnsafeMutableRawBufferPointer(start: memory, count: size))
    self.init(adopting: gst_buffer_new_wrapped(memory, gsize(size)))
  }

  /// Creates a buffer with a copy of these bytes.
  public init(_ bytes: [UInt8]) {
    self.init(
      adopting: bytes.isEmpty
        ? gst_buffer_new() : gst_buffer_new_memdup(bytes, gsize(bytes.count)))
  }

  /// Returns the reference, for a C function that takes it over.
  package consuming func take() -> UnsafeMutablePointer<GstBuffer> {
    let pointer = reference.pointer
    discard self
    return pointer
  }
}

/// A buffer that is mapped for reading during the lifetime of this object, so that its bytes keep
/// their address.
public final class MappedBuffer: @unchecked Sendable {
  /// The mapped buffer.
  public let buffer: Buffer
  /// The bytes of the buffer.
  public let bytes: UnsafeRawBufferPointer
  private var map = GstMapInfo()

  /// Maps a buffer.
  ///
  /// - Throws: An ``ElementError`` if the buffer cannot be mapped.
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
  /// Appends bytes to the buffer's memory without copying them. `owner` must keep them valid and
  /// unchanged during its lifetime.
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
  /// The bits, as in `GstBufferFlags`.
  public let rawValue: UInt32

  /// Creates flags from their bits.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Discontinuity in timestamps or data.
  public static let discont = BufferFlags(rawValue: GST_BUFFER_FLAG_DISCONT.rawValue)
  /// Parameter sets, or the header of a file.
  public static let header = BufferFlags(rawValue: GST_BUFFER_FLAG_HEADER.rawValue)
  /// Bytes are missing or wrong.
  public static let corrupted = BufferFlags(rawValue: GST_BUFFER_FLAG_CORRUPTED.rawValue)
  /// Filler for missing data.
  public static let gap = BufferFlags(rawValue: GST_BUFFER_FLAG_GAP.rawValue)
  /// No other buffer depends on this one.
  public static let droppable = BufferFlags(rawValue: GST_BUFFER_FLAG_DROPPABLE.rawValue)
  /// Not a keyframe.
  public static let deltaUnit = BufferFlags(rawValue: GST_BUFFER_FLAG_DELTA_UNIT.rawValue)
  /// To be decoded as a reference, but not shown.
  public static let decodeOnly = BufferFlags(rawValue: GST_BUFFER_FLAG_DECODE_ONLY.rawValue)
  /// The last buffer of an access unit.
  public static let marker = BufferFlags(rawValue: GST_BUFFER_FLAG_MARKER.rawValue)
  /// The data must be synced to disk before any following data.
  public static let syncAfter = BufferFlags(rawValue: GST_BUFFER_FLAG_SYNC_AFTER.rawValue)
  /// `GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW`: the frame contains several views, or is one of several.
  public static let multipleView = BufferFlags(
    rawValue: GST_VIDEO_BUFFER_FLAG_MULTIPLE_VIEW.rawValue)
  /// `GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE`: the first of the frames for one instant.
  public static let firstInBundle = BufferFlags(
    rawValue: GST_VIDEO_BUFFER_FLAG_FIRST_IN_BUNDLE.rawValue)
  /// The flags that describe the views in a frame.
  public static let views: BufferFlags = [.multipleView, .firstInBundle]
}
