// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// One block of memory that is filled again as soon as nobody downstream holds it any more.
///
/// For buffers so large that `malloc` would have each mapped anew, page by page.
public final class RecycledMemory {
  private var block: UnsafeMutablePointer<GstMemory>?

  public init() {}

  deinit { release() }

  /// A buffer of `size` bytes of unset content: of the block where that is free and large enough,
  /// else of a new one, which takes its place. Nil if there is no such amount of memory.
  public func buffer(size: Int) -> Buffer? {
    guard size > 0 else { return nil }
    if let block, isFree, block.pointee.maxsize >= size {
      gst_memory_resize(block, -gssize(block.pointee.offset), gsize(size))
    } else {
      release()
      guard let bytes = g_try_malloc(gsize(size)) else { return nil }
      block = gst_memory_new_wrapped(
        GstMemoryFlags(rawValue: 0), bytes, gsize(size), 0, gsize(size), bytes, { g_free($0) })
    }
    let buffer = Buffer()
    gst_buffer_append_memory(buffer.pointer, gst_memory_ref(block))
    return buffer
  }

  /// Only this object makes references of the block, so none can come up meanwhile.
  private var isFree: Bool {
    block.map { g_atomic_int_get(&$0.pointee.mini_object.refcount) == 1 } ?? false
  }

  private func release() {
    if let block { gst_memory_unref(block) }
    block = nil
  }
}
