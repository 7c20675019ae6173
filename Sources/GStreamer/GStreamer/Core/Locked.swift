// SPDX-License-Identifier: MPL-2.0

import Synchronization

/// A value that is accessible only while its lock is held.
///
/// Never push, query, post or signal inside `withLock`: compute there what to do, and do it after.
public final class Locked<Value>: Sendable {
  private let mutex: Mutex<Value>

  /// Creates a lock for a value.
  public init(_ value: sending Value) {
    mutex = Mutex(value)
  }

  /// Runs `body` with the value while the lock is held; returns or throws what `body` does.
  ///
  /// As with `Mutex`, neither what `body` leaves in the value nor what it returns may be reachable
  /// from elsewhere, unless it is Sendable.
  public func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try mutex.withLock(body)
  }
}

extension Locked where Value: Sendable {
  /// A copy of the value.
  public var current: Value { mutex.withLock { $0 } }
}
