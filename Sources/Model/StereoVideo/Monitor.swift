// SPDX-License-Identifier: MPL-2.0

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A value that is accessed only while its lock is held, and whose changes threads can wait for.
///
/// The lock is not recursive: code that `body` calls must not use the same monitor. Never push a
/// buffer, query, post a message or call the application while the lock is held.
package final class Monitor<Value>: @unchecked Sendable {
  private var value: Value
  private var waitingCount = 0
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init(_ value: sending Value) {
    self.value = value
    pthread_mutex_init(mutex, nil)
    #if canImport(Darwin)
      pthread_cond_init(changed, nil)
    #else
      // Timeouts do not depend on corrections of the wall clock.
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(changed, &attributes)
      pthread_condattr_destroy(&attributes)
    #endif
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  /// Runs `body` with the value. Threads that wait are not woken: `body` changes nothing that they
  /// wait for.
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }

  /// Runs `body` with the value, and has all threads that wait look at it again.
  package func change<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    pthread_mutex_lock(mutex)
    defer {
      if waitingCount > 0 { pthread_cond_broadcast(changed) }
      pthread_mutex_unlock(mutex)
    }
    return try body(&value)
  }

  /// Has all threads that wait look at the value again. For use inside ``withLock(_:)``, when only
  /// some changes are worth waking them.
  package func wakeAll() { pthread_cond_broadcast(changed) }

  /// Runs `body` with the value now and after each change, until it returns something.
  package func wait<Result>(
    until body: (inout sending Value) -> sending Result?
  ) -> sending Result {
    pthread_mutex_lock(mutex)
    waitingCount += 1
    defer {
      waitingCount -= 1
      pthread_mutex_unlock(mutex)
    }
    while true {
      if let result = body(&value) { return result }
      pthread_cond_wait(changed, mutex)
    }
  }

  /// Runs `body` with the value now and after each change, until it returns something.
  ///
  /// - Parameter limit: how long changes are waited for.
  /// - Returns: what `body` returned; nil if that was still nil when the time was over.
  package func wait<Result>(
    atMost limit: ClockTime, until body: (inout sending Value) -> sending Result?
  ) -> sending Result? {
    pthread_mutex_lock(mutex)
    waitingCount += 1
    defer {
      waitingCount -= 1
      pthread_mutex_unlock(mutex)
    }
    var end = Self.time(in: limit.nanoseconds)
    while true {
      if let result = body(&value) { return result }
      if pthread_cond_timedwait(changed, mutex, &end) == ETIMEDOUT { return body(&value) }
    }
  }

  /// The time of the condition's clock in `nanoseconds` from now.
  private static func time(in nanoseconds: UInt64) -> timespec {
    var time = timespec()
    #if canImport(Darwin)
      clock_gettime(CLOCK_REALTIME, &time)
    #else
      clock_gettime(CLOCK_MONOTONIC, &time)
    #endif
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    // More than a year is as good as for ever, and no sum of it overflows.
    time.tv_sec += Int(min(seconds, 31_536_000))
    time.tv_nsec += Int(rest)
    if time.tv_nsec >= 1_000_000_000 {
      time.tv_sec += 1
      time.tv_nsec -= 1_000_000_000
    }
    return time
  }
}
