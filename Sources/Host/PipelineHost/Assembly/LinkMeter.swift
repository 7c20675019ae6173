// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
import StereoVideo
internal import Synchronization

/// Measures the progress of a link's stream.
///
/// Only video frames are counted individually. Other streams are sampled: observing every buffer
/// would cost more than many elements take to process it.
struct LinkMeter: Sendable {
  /// Position in the graph's links.
  let link: Int
  let pad: Pad
  private let counts = Counts()

  /// State shared with the pad's probe; it must not refer to the pad, which retains it.
  private final class Counts: Sendable {
    let buffers = Atomic(0)
    let latest = Atomic<UInt64>(.max)
    let carriesFrames = Atomic(false)
    fileprivate let isWatching = Atomic(false)

    /// Records a buffer; returns whether to keep watching.
    func see(_ buffer: PassingBuffer) -> Bool {
      if buffers.add(1, ordering: .relaxed).oldValue == 0 {
        carriesFrames.store(buffer.caps?.describeFrames ?? false, ordering: .relaxed)
      }
      if let pts = buffer.pts {
        latest.store((pts + (buffer.duration ?? 0)).nanoseconds, ordering: .relaxed)
      }
      guard !carriesFrames.load(ordering: .relaxed) else { return true }
      isWatching.store(false, ordering: .relaxed)
      return false
    }
  }

  init(link: Int, pad: Pad) {
    self.link = link
    self.pad = pad
    resumeWatching()
  }

  /// Observes at least one more buffer, if one arrives.
  func resumeWatching() {
    guard !counts.isWatching.exchange(true, ordering: .relaxed) else { return }
    pad.watchBuffers { [counts] in counts.see($0) }
  }

  /// Number of buffers observed; of all buffers if the link carries video frames.
  var buffers: Int { counts.buffers.load(ordering: .relaxed) }

  /// Whether each buffer is one video frame.
  var carriesFrames: Bool { counts.carriesFrames.load(ordering: .relaxed) }

  /// Stream time reached; nil if buffers have no timestamps.
  var position: ClockTime? {
    let pts = counts.latest.load(ordering: .relaxed)
    guard pts != .max, let segment = pad.currentSegment, segment.isInTime
    else { return nil }
    return segment.streamTime(ClockTime(nanoseconds: pts))
  }
}

extension Caps {
  fileprivate var describeFrames: Bool {
    guard let first else { return false }
    return first.has("framerate")
      && (first.name.hasPrefix("video/") || first.name.hasPrefix("image/"))
  }
}
