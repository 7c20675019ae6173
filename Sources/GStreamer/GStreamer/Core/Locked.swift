// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
import Synchronization

/// A value that is reached only while its lock is held.
///
/// Never push, query, post or signal inside `withLock`: compute there what to do, and do it after.
public final class Locked<Value>: @unchecked Sendable {
  private let lock = Mutex<Void>(())
  private var value: Value

  public init(_ value: sending Value) {
    self.value = value
  }

  /// Runs `body` with the value, holding the lock; passes on what it returns or throws.
  public func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock._unsafeLock()
    defer { lock._unsafeUnlock() }
    return try body(&value)
  }

  /// A copy of the value.
  public var current: Value { withLock { $0 } }
}

/// A value that is reached only while its lock is held, and whose changes threads wait for.
///
/// As with ``Locked``: never push, query, post or signal inside.
public final class Monitored<Value>: @unchecked Sendable {
  private let lock = ConditionLock()
  private var value: Value
  private var waitingCount = 0

  public init(_ value: sending Value) {
    self.value = value
  }

  /// Runs `body` with the value; whoever waits looks at it again.
  public func change<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try lock.locked {
      defer { if waitingCount > 0 { lock.wakeAll() } }
      return try body(&value)
    }
  }

  /// Runs `body` with the value, again behind each change, until it gives something; nil when it has not
  /// after this time, in nanoseconds.
  public func wait<Result>(
    atMost time: ClockTime, until body: (inout Value) -> Result?
  ) -> Result? {
    lock.locked {
      let end = ConditionLock.time(in: Int64(clamping: time / 1000))
      waitingCount += 1
      defer { waitingCount -= 1 }
      while true {
        if let result = body(&value) { return result }
        guard lock.wait(until: end) else { return body(&value) }
      }
    }
  }
}

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
