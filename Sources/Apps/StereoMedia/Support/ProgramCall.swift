// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import StereoVideo

/// A call of one of the program's functions in a task of its own. Waiting for it can be given up
/// even if it never returns.
final class ProgramCall<Value: Sendable>: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var outcome: Result<Value, any Error>?
    var waiting: (@Sendable (Result<Value, any Error>) -> Void)?
  }

  private let state = Locked(State())

  /// Starts the call.
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

  /// Cancels the call's task. The waiting caller gets a `CancellationError` at once.
  func giveUp() {
    state.withLock { $0.task }?.cancel()
    finish(.failure(CancellationError()))
  }

  /// The function's result or error. Cancelling the awaiting task gives up the call.
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

  /// Waits for the result, for threads that may block.
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
