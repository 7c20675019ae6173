// SPDX-License-Identifier: MPL-2.0

internal import Dispatch

/// Calls into GStreamer that may block for long, kept off the threads that Swift's tasks share.
package enum Blocking {
  package static func start(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue.global().async(execute: body)
  }

  /// Calls that come one behind the other.
  package final class Queue: Sendable {
    private let queue = DispatchQueue(label: "gst-spatial.queue")

    package init() {}

    package func start(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }
  }

  /// Waits for `body`, but no longer than `timeout`; false where it goes on alone.
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

  /// Waits for what `body` gives.
  package static func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      start { continuation.resume(with: Swift.Result { try body() }) }
    }
  }
}
