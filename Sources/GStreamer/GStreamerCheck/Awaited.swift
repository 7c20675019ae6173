// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// The end of a wait for something that did not come: the code under test hangs, or it never meant
/// to do what the test waits for.
public struct WaitFailure: Error, CustomStringConvertible {
  /// The condition that was waited for, in words.
  public let description: String
}

/// A value that streaming threads change and that a test waits for, woken by the change.
public final class Awaited<Value: Sendable>: Sendable {
  private struct Waiter {
    let isMet: @Sendable (Value) -> Bool
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var value: Value
    var waiters: [Int: Waiter] = [:]
    var waiterCount = 0
  }

  /// The time after which a wait is given up. It is for hangs alone, and no limit of speed.
  public static var hangLimit: Duration { .seconds(300) }

  private let state: Locked<State>

  /// Creates an awaited value.
  public init(_ value: sending Value) {
    state = Locked(State(value: value))
  }

  /// A copy of the value.
  public var current: Value { state.withLock { $0.value } }

  /// Returns the result of `body` for the value, without a copy of it.
  public func read<Result: Sendable>(_ body: (Value) -> Result) -> Result {
    state.withLock { body($0.value) }
  }

  /// Runs `body` with the value, and wakes those whose condition holds after it.
  public func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
    let (result, met) = state.withLock { state in
      let result = body(&state.value)
      let met = state.waiters.filter { $0.value.isMet(state.value) }
      for number in met.keys { state.waiters[number] = nil }
      return (result, met.values.map(\.continuation))
    }
    for continuation in met { continuation.resume(returning: true) }
    return result
  }

  /// Returns when `isMet` holds for the value.
  ///
  /// - Parameters:
  ///   - what: what is waited for, for the error.
  ///   - isMet: called with each new value, in the thread that changes it.
  /// - Throws: a ``WaitFailure`` after ``hangLimit``.
  public func wait(
    for what: @autoclosure () -> String, until isMet: @escaping @Sendable (Value) -> Bool
  ) async throws {
    let number = state.withLock { state in
      state.waiterCount += 1
      return state.waiterCount
    }
    let watchdog = Task { [state] in
      try await Task.sleep(for: Self.hangLimit)
      state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation
        .resume(returning: false)
    }
    defer { watchdog.cancel() }
    let hasCome = await withCheckedContinuation { continuation in
      let isMetAlready = state.withLock { state in
        guard !isMet(state.value) else { return true }
        state.waiters[number] = Waiter(isMet: isMet, continuation: continuation)
        return false
      }
      if isMetAlready { continuation.resume(returning: true) }
    }
    guard hasCome else {
      throw WaitFailure(description: "\(what()) did not come within \(Self.hangLimit)")
    }
  }
}
