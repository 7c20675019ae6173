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
