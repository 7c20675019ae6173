internal import CGStreamer

extension Pipeline {
  /// Waits until each sink holds a buffer, in PAUSED: behind the start, and behind each seek.
  ///
  /// - Throws: the first error message; an ``ElementError`` where it takes longer than `timeout`.
  public func preroll(timeout: Duration) async throws {
    let waiting = Task { [self] in
      for await message in bus.messages {
        if case .error(let failure) = message.content { throw failure }
        if message.type == GST_MESSAGE_ASYNC_DONE { return }
      }
      throw ElementError(.core(GST_CORE_ERROR_STATE_CHANGE), "No frame came within \(timeout).")
    }
    let timer = Task {
      try await Task.sleep(for: timeout)
      waiting.cancel()
    }
    defer { timer.cancel() }
    try await waiting.value
  }
}
