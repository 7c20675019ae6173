// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// Frames that were decoded lately, as many as fit into a number of bytes.
struct FrameCache {
  private let limit: Int
  private var size = 0
  private var frames: [Int: (frame: StereoFrame, bytes: Int, use: Int)] = [:]
  private var uses = 0

  init(limit: Int) {
    self.limit = limit
  }

  subscript(index: Int) -> StereoFrame? {
    mutating get {
      guard let found = frames[index] else { return nil }
      uses += 1
      frames[index]?.use = uses
      return found.frame
    }
  }

  /// Keeps a frame, and drops those that were not asked for longest.
  mutating func insert(_ frame: StereoFrame, at index: Int) {
    let bytes =
      frame.left.buffer.size + (frame.isMono ? 0 : frame.right.buffer.size)
    guard bytes <= limit else { return }
    uses += 1
    if let old = frames.updateValue((frame, bytes, uses), forKey: index) { size -= old.bytes }
    size += bytes
    while size > limit, let oldest = frames.min(by: { $0.value.use < $1.value.use }) {
      size -= oldest.value.bytes
      frames[oldest.key] = nil
    }
  }
}
