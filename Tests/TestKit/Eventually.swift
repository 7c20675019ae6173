// SPDX-License-Identifier: MPL-2.0

internal import Glibc

/// The time after which a test gives up what does not come, in seconds. It is for hangs alone, and
/// no limit of speed.
public let hangLimit = 300.0

/// Returns when `isTrue` holds, which is looked at again and again. It is for what tells nobody
/// when it changes: files, other processes, the kernel's counts.
///
/// - Throws: a `Failure` that names `what` after ``hangLimit``, and what `isTrue` throws.
public func eventually(
  _ what: @autoclosure () -> String, _ isTrue: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + .seconds(hangLimit)
  while try await !isTrue() {
    guard ContinuousClock.now < end else { throw Failure("this did not come: \(what())") }
    try await Task.sleep(for: .milliseconds(10))
  }
}

/// The processor time that `body` takes in the calling thread, in seconds. What else the machine
/// does counts little, so that a test can tell linear work from quadratic.
public func processorTime(of body: () throws -> Void) rethrows -> Double {
  func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
  let start = now()
  try body()
  return now() - start
}
