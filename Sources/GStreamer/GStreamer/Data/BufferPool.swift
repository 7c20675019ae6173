// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A pool of raw video buffers.
public final class VideoBufferPool: @unchecked Sendable {
  private let pool: UnsafeMutablePointer<GstBufferPool>
  /// The format of the frames.
  public let info: VideoInfo

  /// Creates an active pool of frames with the layout of `info`.
  public init(_ info: VideoInfo) throws {
    self.info = info
    pool = gst_video_buffer_pool_new()
    let config = gst_buffer_pool_get_config(pool)
    withExtendedLifetime(info.caps) {
      gst_buffer_pool_config_set_params(config, $0.pointer, UInt32(clamping: info.size), 0, 0)
    }
    guard gst_buffer_pool_set_config(pool, config) != 0,
      gst_buffer_pool_set_active(pool, 1) != 0
    else {
      throw ElementError(
        .noSpaceLeft,
        "No pool of \(info.width)x\(info.height) \(info.formatName) frames can be created.")
    }
  }

  deinit {
    gst_buffer_pool_set_active(pool, 0)
    gst_object_unref(pool)
  }

  /// Returns an uninitialized frame.
  public func acquire() throws(FlowReturn) -> UniqueBuffer {
    var buffer: UnsafeMutablePointer<GstBuffer>?
    try FlowReturn(gst_buffer_pool_acquire_buffer(pool, &buffer, nil)).check()
    guard let buffer else { throw .error }
    return UniqueBuffer(adopting: buffer)
  }
}

/// A block of memory that is reused as soon as downstream has released it.
///
/// For buffers so large that `malloc` would map each one again, page by page.
public final class RecycledMemory {
  private var block: UnsafeMutablePointer<GstMemory>?

  /// Creates an object without memory.
  public init() {}

  deinit { release() }

  /// Returns an uninitialized buffer of `size` bytes, in the block if that is free and large
  /// enough, otherwise in a new block that replaces it. Nil if that much memory is not available.
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

  /// Only this object creates references to the block, so none can be added in the meantime.
  private var isFree: Bool {
    block.map { g_atomic_int_get(&$0.pointee.mini_object.refcount) == 1 } ?? false
  }

  private func release() {
    if let block { gst_memory_unref(block) }
    block = nil
  }
}
