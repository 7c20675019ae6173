// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

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
