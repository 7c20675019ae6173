// SPDX-License-Identifier: MPL-2.0

internal import Glibc

/// The processor time that `body` takes in the calling thread, in seconds of a usual machine: on a
/// slower one, such as an emulated one, it counts for less. What else the machine does counts
/// little. A test can tell linear work from quadratic by it, and what is bounded from what is not.
public func processorTime(of body: () throws -> Void) rethrows -> Double {
  let start = threadSeconds()
  try body()
  return (threadSeconds() - start) / machineSlowness
}

private func threadSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// How many times longer this machine takes for what the tests do than a usual one, at least 1.
public let machineSlowness: Double = {
  /// Of the machine with two slow cores on which the limits were set.
  let usual = 0.025
  let times = (0..<3).map { _ in
    let start = threadSeconds()
    var lists: [Int: [Int]] = [:]
    for number in 0..<200_000 { lists[number & 0xFFF, default: []].append(number) }
    precondition(lists.count == 0x1000)
    return threadSeconds() - start
  }
  return max((times.min() ?? 0) / usual, 1)
}()
