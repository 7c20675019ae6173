// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// Wakes the one task that waits for a pipeline: anything may have happened, and the task looks for
/// itself what it was.
package final class Waker: Sendable {
  private struct State {
    var hasHappened = false
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())

  package init() {}

  /// Something has happened. From any thread; never blocks.
  package func wake() {
    let waiting = state.withLock { state in
      state.hasHappened = true
      return state.waiting.take()
    }
    waiting?.resume()
  }

  /// To be called before one looks.
  package func clear() { state.withLock { $0.hasHappened = false } }

  /// Waits until something has happened since `clear`, or the task is cancelled.
  package func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = state.withLock { state in
          guard !state.hasHappened, !Task.isCancelled else { return true }
          state.waiting = continuation
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      wake()
    }
  }
}
