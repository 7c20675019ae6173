// SPDX-License-Identifier: MPL-2.0

/// Wakes the tasks that wait for a pipeline: anything may have happened, and they look for themselves
/// what it was.
package final class Waker: Sendable {
  private struct State {
    var count = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  package init() {}

  /// Something has happened. From any thread; never blocks.
  package func wake() {
    let waiting = state.withLock { state in
      state.count &+= 1
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// How often something has happened: to be asked before one looks, and given to `wait`.
  package var count: Int { state.withLock { $0.count } }

  /// Waits until something has happened since the count was that, or the task is cancelled.
  package func wait(since count: Int) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = state.withLock { state in
          guard state.count == count, !Task.isCancelled else { return true }
          state.waiting.append(continuation)
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      wake()
    }
  }

  /// The same, but no longer than `limit`.
  package func wait(since count: Int, atMost limit: Duration) async {
    let timer = Task {
      try await Task.sleep(for: limit)
      wake()
    }
    defer { timer.cancel() }
    await wait(since: count)
  }
}
