// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import StereoVideo

/// A call of a function of the program's own, in a task of its own: who waits for it can give it up,
/// also where it never returns.
final class ProgramCall<Value: Sendable>: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var outcome: Result<Value, any Error>?
    var waiting: (@Sendable (Result<Value, any Error>) -> Void)?
  }

  private let state = Locked(State())

  /// Begins the call.
  init(_ body: @escaping @Sendable () async throws -> Value) {
    let task = Task { [self] in
      do {
        finish(.success(try await body()))
      } catch {
        finish(.failure(error))
      }
    }
    state.withLock { $0.task = task }
  }

  /// Cancels the call's task. Who waits for it gets a `CancellationError` at once.
  func giveUp() {
    state.withLock { $0.task }?.cancel()
    finish(.failure(CancellationError()))
  }

  /// What the function returns or throws. Giving up and cancelling the task that asks are one.
  var value: Value {
    get async throws {
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          whenDone { continuation.resume(with: $0) }
        }
      } onCancel: {
        giveUp()
      }
    }
  }

  /// The same, for threads that may block.
  func wait() throws -> Value {
    let outcome = Monitor<Result<Value, any Error>?>(nil)
    whenDone { result in outcome.change { $0 = result } }
    return try outcome.wait { $0 }.get()
  }

  private func whenDone(_ body: @escaping @Sendable (Result<Value, any Error>) -> Void) {
    let outcome = state.withLock { state in
      if state.outcome == nil { state.waiting = body }
      return state.outcome
    }
    if let outcome { body(outcome) }
  }

  private func finish(_ outcome: Result<Value, any Error>) {
    let waiting = state.withLock { state -> (@Sendable (Result<Value, any Error>) -> Void)? in
      guard state.outcome == nil else { return nil }
      state.outcome = outcome
      return state.waiting.take()
    }
    waiting?(outcome)
  }
}
