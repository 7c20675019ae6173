internal import GStreamer
internal import Synchronization

/// Counts what passes a link, without a lock for each buffer.
struct LinkMeter: Sendable {
  /// Position in the graph's links.
  let link: Int
  let pad: Pad
  private let counts = Counts()

  /// What the pad's watcher holds; it must not hold the pad, which holds it.
  private final class Counts: Sendable {
    let buffers = Atomic(0)
    let bytes = Atomic(0)
    let latest = Atomic<UInt64>(.max)
    let segment = Locked<Segment?>(nil)

    func see(_ passing: Passing) {
      switch passing {
      case .buffer(let pts, let duration, let size):
        buffers.add(1, ordering: .relaxed)
        bytes.add(size, ordering: .relaxed)
        if let pts { latest.store(pts &+ (duration ?? 0), ordering: .relaxed) }
      case .event(let event):
        if let new = event.segment { segment.withLock { $0 = new } }
      }
    }
  }

  init(link: Int, pad: Pad) {
    self.link = link
    self.pad = pad
    pad.watch { [counts] in counts.see($0) }
  }

  var buffers: Int { counts.buffers.load(ordering: .relaxed) }
  var bytes: Int { counts.bytes.load(ordering: .relaxed) }

  /// How far the stream has come, in nanoseconds from its beginning; nil where buffers have no
  /// time.
  var position: ClockTime? {
    let pts = counts.latest.load(ordering: .relaxed)
    guard pts != .max, let segment = counts.segment.current, segment.isInTime else { return nil }
    return segment.streamTime(pts)
  }
}
