// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import Synchronization

/// Tells how far a link's stream has come.
///
/// Only video frames are counted one by one. Of other streams a buffer is seen now and then:
/// watching each of them would cost more than many elements do with them.
struct LinkMeter: Sendable {
  /// Position in the graph's links.
  let link: Int
  let pad: Pad
  private let counts = Counts()

  /// What the pad's watcher holds; it must not hold the pad, which holds it.
  private final class Counts: Sendable {
    let buffers = Atomic(0)
    let latest = Atomic<UInt64>(.max)
    let carriesFrames = Atomic(false)
    let isWatching = Atomic(false)

    /// Whether to go on watching.
    func see(_ buffer: PassingBuffer) -> Bool {
      if buffers.add(1, ordering: .relaxed).oldValue == 0 {
        carriesFrames.store(buffer.caps?.describeFrames ?? false, ordering: .relaxed)
      }
      if let pts = buffer.pts {
        latest.store(pts &+ (buffer.duration ?? 0), ordering: .relaxed)
      }
      guard !carriesFrames.load(ordering: .relaxed) else { return true }
      isWatching.store(false, ordering: .relaxed)
      return false
    }
  }

  init(link: Int, pad: Pad) {
    self.link = link
    self.pad = pad
    watchOn()
  }

  /// Sees at least one buffer more, if one comes.
  func watchOn() {
    guard !counts.isWatching.exchange(true, ordering: .relaxed) else { return }
    pad.watchBuffers { [counts] in counts.see($0) }
  }

  /// How many were seen: all, where the link carries video frames.
  var buffers: Int { counts.buffers.load(ordering: .relaxed) }

  /// One buffer is one video frame.
  var carriesFrames: Bool { counts.carriesFrames.load(ordering: .relaxed) }

  /// How far the stream has come, in nanoseconds from its beginning; nil where buffers have no
  /// time.
  var position: ClockTime? {
    let pts = counts.latest.load(ordering: .relaxed)
    guard pts != .max, let segment = pad.currentSegment, segment.isInTime
    else { return nil }
    return segment.streamTime(pts)
  }
}

extension Caps {
  fileprivate var describeFrames: Bool {
    guard let first else { return false }
    return first.has("framerate")
      && (first.name.hasPrefix("video/") || first.name.hasPrefix("image/"))
  }
}
