// SPDX-License-Identifier: MPL-2.0

import GStreamer

/// Whether those behind an element want to negotiate anew.
final class Reconfiguration: Sendable {
  private let isAsked = Locked(false)

  /// Call it with each event that comes to the source pad.
  func note(_ event: Event) {
    if case .reconfigure = event.kind { isAsked.withLock { $0 = true } }
  }

  /// Whether they have wanted to since the last call.
  func take() -> Bool {
    isAsked.withLock { isAsked in
      defer { isAsked = false }
      return isAsked
    }
  }
}
