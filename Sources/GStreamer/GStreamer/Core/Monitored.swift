// SPDX-License-Identifier: MPL-2.0

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
