// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

extension Pipeline {
  /// Waits until each sink holds a buffer, in PAUSED: behind the start, and behind each seek.
  ///
  /// - Throws: the first error message, a ``PipelineFailure``, which names a decoder that is missing;
  ///   an ``ElementError`` where it takes longer than `timeout`.
  public func preroll(timeout: Duration) async throws {
    let waiting = Task { [self] in
      var missing: String?
      for await message in bus.messages {
        missing = message.missingPlugin ?? missing
        if case .error(let failure) = message.content {
          guard let missing else { throw failure }
          throw PipelineFailure(
            element: failure.element, message: "There is no \(missing). \(failure.message)",
            debug: failure.debug)
        }
        if message.type == GST_MESSAGE_ASYNC_DONE { return }
      }
      throw ElementError(
        .stateChange,
        missing.map { "There is no \($0)." } ?? "No frame came within \(timeout).")
    }
    let timer = Task {
      try await Task.sleep(for: timeout)
      waiting.cancel()
    }
    defer { timer.cancel() }
    try await waiting.value
  }
}
