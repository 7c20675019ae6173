// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The lock of what waits at an aggregator's sink pads, and what its threads wait for.
final class SampleMonitor: @unchecked Sendable {
  /// How long samples are waited for at most before what is there is taken, in microseconds.
  private static let patience: gint64 = 2000

  private let mutex: UnsafeMutablePointer<GMutex>
  /// There is enough to take, or there is room.
  private let changed: UnsafeMutablePointer<GCond>
  /// What is there is to be taken at once.
  private var isUrgent = false
  private var isWaitingForSamples = false
  private var waitingForRoom = 0

  init() {
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

  func locked<Result>(_ body: () -> Result) -> Result {
    g_mutex_lock(mutex)
    defer { g_mutex_unlock(mutex) }
    return body()
  }

  /// Waits a moment in which more samples may come, unless there are enough.
  func waitForSamples() {
    locked {
      let end = g_get_monotonic_time() + Self.patience
      isWaitingForSamples = true
      while !isUrgent, g_cond_wait_until(changed, mutex, end) != 0 {}
      isWaitingForSamples = false
      isUrgent = false
    }
  }

  // MARK: While it is locked

  /// What is there is to be taken.
  func hurry() {
    isUrgent = true
    if isWaitingForSamples { g_cond_broadcast(changed) }
  }

  /// Samples have been taken.
  func noteRoom() {
    if waitingForRoom > 0 { g_cond_broadcast(changed) }
  }

  /// Waits until samples have been taken.
  func waitForRoom() {
    hurry()
    waitingForRoom += 1
    g_cond_wait(changed, mutex)
    waitingForRoom -= 1
  }
}
