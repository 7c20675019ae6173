// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// Does one thing after the other, in the order in which they are asked for. An actor does not: while
/// one of its functions waits, others of it run.
final class TaskQueue: Sendable {
  private struct State {
    var isBusy = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  /// Runs `body` when it is its turn.
  ///
  /// - Throws: what `body` throws; `CancellationError` where the task is cancelled by then.
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

/// Runs `body`, but no longer than `limit`: then it is cancelled, and `late` is thrown.
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
