// SPDX-License-Identifier: MPL-2.0

import GStreamer

/// The keyframes that peers and the application have asked for (`GstForceKeyUnit`): each is due with
/// the first frame at or after its time that is really encoded.
final class KeyframeRequests: Sendable {
  /// Running times in nanoseconds; `.min` for at once.
  private let times = Locked(Set<Int64>())
  /// Nobody waits for more keyframes than this; further requests are left out.
  private static let most = 1000

  /// Takes in what an event asks for; false where it asks for no keyframe.
  func add(_ event: Event) -> Bool {
    guard event.isForceKeyUnit else { return false }
    add(event.keyUnitTime.map { Int64(clamping: $0) } ?? .min)
    return true
  }

  /// Asks for a keyframe at a running time.
  func add(_ time: Int64) {
    times.withLock { if $0.count < Self.most { $0.insert(time) } }
  }

  /// Whether the frame of this running time, which is about to be encoded, has to be a keyframe. It
  /// answers all requests that are due.
  func answer(at time: Int64) -> Bool {
    times.withLock { times in
      let waiting = times.filter { $0 > time }
      defer { times = waiting }
      return waiting.count < times.count
    }
  }

  /// Forgets all requests.
  func forget() {
    times.withLock { $0 = [] }
  }
}
