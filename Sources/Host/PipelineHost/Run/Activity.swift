// SPDX-License-Identifier: MPL-2.0

internal import Glibc

/// Tells whether a graph has got on since the last time it was asked.
struct Activity {
  private var buffers = -1
  private var bytes = -1
  private var work = 0.0

  enum State {
    case moves
    /// Nothing has come through, but the process works: an encoder may be at it.
    case works
    case rests
  }

  /// - Parameters:
  ///   - bytes: that are written so far.
  ///   - interval: since the last call, in seconds of a machine that was awake.
  mutating func state(_ meters: [LinkMeter], bytes: Int, interval: Double) -> State {
    let buffers = meters.reduce(0) { $0 &+ $1.buffers }
    let work = Self.processorTime
    defer { (self.buffers, self.bytes, self.work) = (buffers, bytes, work) }
    if buffers != self.buffers || bytes != self.bytes { return .moves }
    return work - self.work > interval / 4 ? .works : .rests
  }

  /// That the process has used, in seconds.
  private static var processorTime: Double {
    var usage = rusage()
    guard getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return 0 }
    return [usage.ru_utime, usage.ru_stime].reduce(0) {
      $0 + Double($1.tv_sec) + Double($1.tv_usec) * 1e-6
    }
  }
}
