// SPDX-License-Identifier: MPL-2.0

import GStreamer

/// How the raw frames that leave a source pad lie in memory, as its peer wants it.
struct FrameMemory {
  let info: VideoInfo
  /// Where frames are copied to; nil while the peer takes any layout.
  private let pool: VideoBufferPool?

  /// Asks the peer whether it takes GstVideoMeta, by which frames may lie in any way.
  init(_ pad: Pad, _ info: VideoInfo) throws {
    self.info = info
    let query = Query.allocation(info.caps, needsPool: false)
    let takesAnyLayout = !pad.isLinked || pad.queryPeer(query) && query.acceptsVideoMeta
    pool = takesAnyLayout ? nil : try VideoBufferPool(info)
  }

  /// Whether frames may lie as their GstVideoMeta says; else they lie as their caps alone say.
  var takesAnyLayout: Bool { pool == nil }

  /// A frame whose pixels are unset, for a peer that takes frames as their caps say alone; nil for any
  /// other.
  func acquire() throws -> UniqueBuffer? { try pool?.acquire() }

  /// The frame if the peer takes it as it lies, else a copy with its times, flags and metas.
  func fit(_ frame: consuming Buffer) throws -> Buffer {
    guard let pool, !isPlain(frame, try info.layout(of: frame)) else { return frame }
    let copy = try pool.acquire()
    copy.copyHeader(from: frame, metas: false)
    copy.copyMetas(from: frame)
    guard
      try VideoFrame(copy, info, writing: true).copyPixels(from: try VideoFrame(frame, info))
    else { throw ElementError(.failedStream, "A frame could not be copied.") }
    return Buffer(copy)
  }

  /// Whether a frame lies in its buffer as the caps alone say.
  private func isPlain(_ frame: Buffer, _ layout: VideoLayout) -> Bool {
    frame.size == info.size && layout.width == info.width && layout.height == info.height
      && layout.offsets == info.offsets && layout.strides == info.strides
  }
}
