// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// Gives what comes to any number of listeners. One that is slow misses the oldest of what it was
/// given, and holds up nobody.
final class Broadcast<Element: Sendable>: Sendable {
  private struct State {
    var latest: (element: Element, number: Int)?
    var count = 0
    var listeners: [Int: AsyncStream<Element>.Continuation] = [:]
    var listenerCount = 0
    var hasEnded = false
  }

  private let state = Locked(State())
  private let depth: Int

  /// - Parameter depth: how many elements wait for a listener.
  init(depth: Int) {
    self.depth = depth
  }

  /// What came last, and a number that no other has.
  var latest: (element: Element, number: Int)? { state.withLock { $0.latest } }

  /// Gives an element to all who listen, in the order of the calls.
  ///
  /// - Parameter isPassing: who listens later does not begin with it.
  func send(_ element: Element, isPassing: Bool = false) {
    state.withLock { state in
      state.count += 1
      if !isPassing { state.latest = (element, state.count) }
      for listener in state.listeners.values { listener.yield(element) }
    }
  }

  /// Nothing more comes.
  func end() {
    // What they do when they end takes the lock.
    let listeners = state.withLock { state in
      state.hasEnded = true
      return state.listeners
    }
    for listener in listeners.values { listener.finish() }
  }

  /// What came last, where something did, and all that comes from now on.
  ///
  /// - Parameter first: comes before that.
  func stream(behind first: Element? = nil) -> AsyncStream<Element> {
    let (stream, listener) = AsyncStream<Element>.makeStream(
      bufferingPolicy: .bufferingNewest(depth))
    let (number, hasEnded) = state.withLock { state in
      for element in [first, state.latest?.element] {
        if let element { listener.yield(element) }
      }
      state.listenerCount += 1
      state.listeners[state.listenerCount] = listener
      return (state.listenerCount, state.hasEnded)
    }
    listener.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
    }
    if hasEnded { listener.finish() }
    return stream
  }
}
