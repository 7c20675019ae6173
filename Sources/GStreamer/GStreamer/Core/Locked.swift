// SPDX-License-Identifier: MPL-2.0

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
