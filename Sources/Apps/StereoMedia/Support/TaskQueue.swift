// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// Runs functions one after the other, in the order of the calls. An actor would run others while
/// one of them is suspended.
final class TaskQueue: Sendable {
  private struct State {
    var isBusy = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  /// Runs `body` after all earlier calls have finished.
  ///
  /// - Throws: any error that `body` throws; `CancellationError` if the task has been cancelled by
  ///   then.
  func run<Result: Sendable>(
    _ body: @Sendable () async throws -> Result
  ) async throws -> Result {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.isBusy else {
          state.isBusy = true
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
    defer { next() }
    try Task.checkCancellation()
    return try await body()
  }

  private func next() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.waiting.isEmpty else {
        state.isBusy = false
        return nil
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}

/// Runs `body` for at most `limit`; after that, cancels it and throws `late`.
func limited<Result: Sendable>(
  to limit: Duration, late: StereoMediaError,
  _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
  try await withThrowingTaskGroup(of: Result?.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await Task.sleep(for: limit)
      return nil
    }
    defer { group.cancelAll() }
    guard let first = try await group.next(), let result = first else { throw late }
    return result
  }
}
