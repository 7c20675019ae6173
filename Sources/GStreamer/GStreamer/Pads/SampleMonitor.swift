// SPDX-License-Identifier: MPL-2.0

/// The lock of what waits at an aggregator's sink pads, and what its threads wait for: that there is enough to
/// take, or that there is room.
final class SampleMonitor: @unchecked Sendable {
  /// How long samples are waited for at most before what is there is taken, in microseconds.
  private static let patience: Int64 = 2000

  private let lock = ConditionLock()
  /// What is there is to be taken at once.
  private var isUrgent = false
  private var isWaitingForSamples = false
  private var waitingForRoom = 0

  func locked<Result>(_ body: () -> Result) -> Result { lock.locked(body) }

  /// Waits a moment in which more samples may come, unless there are enough.
  func waitForSamples() {
    locked {
      let end = ConditionLock.time(in: Self.patience)
      isWaitingForSamples = true
      while !isUrgent, lock.wait(until: end) {}
      isWaitingForSamples = false
      isUrgent = false
    }
  }

  // MARK: While it is locked

  /// What is there is to be taken.
  func hurry() {
    isUrgent = true
    if isWaitingForSamples { lock.wakeAll() }
  }

  /// Samples have been taken.
  func noteRoom() {
    if waitingForRoom > 0 { lock.wakeAll() }
  }

  /// Waits until samples have been taken.
  func waitForRoom() {
    hurry()
    waitingForRoom += 1
    lock.wait()
    waitingForRoom -= 1
  }
}
