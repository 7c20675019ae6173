// SPDX-License-Identifier: MPL-2.0

internal import Dispatch

/// Calls into GStreamer that may block for long, kept off Swift's cooperative thread pool.
package enum Blocking {
  package static func start(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue.global().async(execute: body)
  }

  /// Calls that run one after the other.
  package final class Queue: Sendable {
    private let queue = DispatchQueue(label: "gst-spatial.queue")
    private let isFinished = Locked(false)

    package init() {}

    package func start(_ body: @escaping @Sendable () -> Void) {
      queue.async { [isFinished] in
        if !isFinished.current { body() }
      }
    }

    /// Drops the calls that have not started, also later ones, and waits for the one that is
    /// running, at most for `timeout`.
    package func finish(timeout: Duration) async {
      isFinished.withLock { $0 = true }
      _ = await Blocking.run(timeout: timeout) { [queue] in queue.sync {} }
    }
  }

  /// Waits for `body`, but at most for `timeout`; returns false if it is still running then.
  package static func run(timeout: Duration, _ body: @escaping @Sendable () -> Void) async -> Bool {
    let waiting = Locked<CheckedContinuation<Bool, Never>?>(nil)
    @Sendable func finish(_ isDone: Bool) {
      let continuation = waiting.withLock { waiting in
        defer { waiting = nil }
        return waiting
      }
      continuation?.resume(returning: isDone)
    }
    return await withCheckedContinuation { continuation in
      waiting.withLock { $0 = continuation }
      let timer = Task {
        try? await Task.sleep(for: timeout)
        finish(false)
      }
      start {
        body()
        finish(true)
        timer.cancel()
      }
    }
  }

  /// Waits for `body` and returns its result.
  package static func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      start { continuation.resume(with: Swift.Result { try body() }) }
    }
  }
}
