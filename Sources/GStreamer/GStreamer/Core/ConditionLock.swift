// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A lock, and what its holders wait for: a mutex with one condition.
final class ConditionLock: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<GMutex>
  private let condition: UnsafeMutablePointer<GCond>

  init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: GMutex())
    g_mutex_init(mutex)
    condition = .allocate(capacity: 1)
    condition.initialize(to: GCond())
    g_cond_init(condition)
  }

  deinit {
    g_mutex_clear(mutex)
    mutex.deallocate()
    g_cond_clear(condition)
    condition.deallocate()
  }

  /// Runs `body` while nobody else holds the lock.
  func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
    g_mutex_lock(mutex)
    defer { g_mutex_unlock(mutex) }
    return try body()
  }

  // MARK: While it is locked

  /// Wakes all who wait.
  func wakeAll() { g_cond_broadcast(condition) }

  /// Gives the lock up until somebody wakes all.
  func wait() { g_cond_wait(condition, mutex) }

  /// As ``wait()``, up to a time of the monotonic clock, in microseconds; whether it was woken before.
  func wait(until end: Int64) -> Bool { g_cond_wait_until(condition, mutex, gint64(end)) != 0 }

  /// The time in so many microseconds.
  static func time(in microseconds: Int64) -> Int64 {
    Int64(g_get_monotonic_time()) &+ microseconds
  }
}
