// SPDX-License-Identifier: MPL-2.0

import GStreamer

/// Tells the application, once a second, how far long work has come: an element message with
/// `running-time` (ns), `frames`, `bytes` and `frames-per-second` (of the work, not the video).
struct ProgressReport {
  private let messageName: String
  private var started: ClockTime?
  private var lastPost: ClockTime = 0

  init(_ messageName: String) {
    self.messageName = messageName
  }

  /// Posts a message if a second has passed since the last one, or if `isFinal`.
  mutating func post(
    from element: any ElementObject, runningTime: Int64, frames: Int, bytes: UInt64,
    isFinal: Bool = false
  ) {
    let now = monotonicTime()
    let started = self.started ?? now
    self.started = started
    guard isFinal || now &- lastPost >= .second else { return }
    lastPost = now
    let seconds = Double(now &- started) / Double(ClockTime.second)
    element.postMessage(
      messageName,
      [
        "running-time": .int64(runningTime), "frames": .uint64(UInt64(clamping: frames)),
        "bytes": .uint64(bytes),
        "frames-per-second": .double(seconds > 0 ? Double(frames) / seconds : 0),
      ])
  }
}
