internal import GStreamer
internal import Synchronization

/// Counts what passes a link, without a lock for each buffer.
final class LinkMeter: Sendable {
  /// Position in the graph's links.
  let link: Int
  let pad: Pad
  private let bufferCount = Atomic(0)
  private let byteCount = Atomic(0)
  private let latest = Atomic<UInt64>(.max)
  private let segment = Locked<Segment?>(nil)

  init(link: Int, pad: Pad) {
    self.link = link
    self.pad = pad
    pad.watch { [self] passing in
      switch passing {
      case .buffer(let pts, let duration, let size):
        bufferCount.add(1, ordering: .relaxed)
        byteCount.add(size, ordering: .relaxed)
        if let pts { latest.store(pts &+ (duration ?? 0), ordering: .relaxed) }
      case .event(let event):
        if let new = event.segment { segment.withLock { $0 = new } }
      }
    }
  }

  var buffers: Int { bufferCount.load(ordering: .relaxed) }
  var bytes: Int { byteCount.load(ordering: .relaxed) }

  /// How far the stream has come, in nanoseconds from its beginning; nil where buffers have no
  /// time.
  var position: ClockTime? {
    let pts = latest.load(ordering: .relaxed)
    guard pts != .max, let segment = segment.current, segment.isInTime else { return nil }
    return segment.streamTime(pts)
  }
}
