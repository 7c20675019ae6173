// SPDX-License-Identifier: MPL-2.0

internal import Synchronization

/// How many peers are connected.
final class ConnectionCount: Sendable {
  private let count = Mutex(0)
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// False where there are too many already.
  func begin() -> Bool {
    count.withLock {
      guard $0 < limit else { return false }
      $0 += 1
      return true
    }
  }

  func end() { count.withLock { $0 -= 1 } }
}
