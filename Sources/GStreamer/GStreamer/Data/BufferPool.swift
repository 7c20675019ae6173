// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// Buffers of raw video that are used again and again.
public final class VideoBufferPool: @unchecked Sendable {
  private let pool: UnsafeMutablePointer<GstBufferPool>
  public let info: VideoInfo

  /// An active pool of frames laid out as `info` says.
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
        "No pool of \(info.width)x\(info.height) \(info.formatName) frames could be made.")
    }
  }

  deinit {
    gst_buffer_pool_set_active(pool, 0)
    gst_object_unref(pool)
  }

  /// A frame whose content is unset.
  public func acquire() throws(FlowReturn) -> UniqueBuffer {
    var buffer: UnsafeMutablePointer<GstBuffer>?
    try FlowReturn(gst_buffer_pool_acquire_buffer(pool, &buffer, nil)).check()
    guard let buffer else { throw .error }
    return UniqueBuffer(adopting: buffer)
  }
}

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
