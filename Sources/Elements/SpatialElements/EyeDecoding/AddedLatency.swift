// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// The delay that an element adds to a live stream. It shows up with the pictures, and only grows.
struct AddedLatency: Sendable {
  private let value = Locked<ClockTime>(0)

  /// Begins again, when the element starts.
  func reset() { value.withLock { $0 = 0 } }

  /// Raises the delay, and tells the application; a lower value is ignored.
  func raise(to latency: ClockTime, of element: some ElementObject) {
    let isLonger = value.withLock { current in
      guard latency > current else { return false }
      current = latency
      return true
    }
    if isLonger { element.postLatencyChanged() }
  }

  /// Forwards a query, and adds the delay to the answer if it is a LATENCY query.
  func answer(_ pad: Pad, _ query: borrowing Query) -> Bool {
    guard pad.forward(query) else { return false }
    query.addLatency(value.current)
    return true
  }
}
