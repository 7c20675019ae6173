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
