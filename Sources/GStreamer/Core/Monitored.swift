// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A value that is reached only while its lock is held, and whose changes threads wait for.
///
/// As with ``Locked``: never push, query, post or signal inside.
public final class Monitored<Value>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<GMutex>
  private let changed: UnsafeMutablePointer<GCond>
  private var value: Value
  private var waitingCount = 0

  public init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: GMutex())
    g_mutex_init(mutex)
    changed = .allocate(capacity: 1)
    changed.initialize(to: GCond())
    g_cond_init(changed)
  }

  deinit {
    g_mutex_clear(mutex)
    mutex.deallocate()
    g_cond_clear(changed)
    changed.deallocate()
  }

  /// Runs `body` with the value; whoever waits looks at it again.
  public func change<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    g_mutex_lock(mutex)
    defer { g_mutex_unlock(mutex) }
    defer { if waitingCount > 0 { g_cond_broadcast(changed) } }
    return try body(&value)
  }

  /// Runs `body` with the value, again behind each change, until it gives something; nil when it has not
  /// after this time, in nanoseconds.
  public func wait<Result>(
    atMost time: ClockTime, until body: (inout Value) -> Result?
  ) -> Result? {
    g_mutex_lock(mutex)
    defer { g_mutex_unlock(mutex) }
    let end = g_get_monotonic_time() &+ gint64(clamping: time / 1000)
    waitingCount += 1
    defer { waitingCount -= 1 }
    while true {
      if let result = body(&value) { return result }
      guard g_cond_wait_until(changed, mutex, end) != 0 else { return body(&value) }
    }
  }
}

/// The thread that calls this, as a number that no other thread has.
public var currentThread: UInt { UInt(bitPattern: g_thread_self()) }
