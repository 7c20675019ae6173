// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// Distributes elements to any number of listeners. A slow listener misses the oldest elements but
/// does not block the sender or other listeners.
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

  /// - Parameter depth: the number of elements that are buffered for each listener.
  init(depth: Int) {
    self.depth = depth
  }

  /// The last element that was sent, and its unique number.
  var latest: (element: Element, number: Int)? { state.withLock { $0.latest } }

  /// Sends an element to all current listeners, in the order of the calls.
  ///
  /// - Parameter isTransient: whether it is withheld from later listeners.
  func send(_ element: Element, isTransient: Bool = false) {
    state.withLock { state in
      state.count += 1
      if !isTransient { state.latest = (element, state.count) }
      for listener in state.listeners.values { listener.yield(element) }
    }
  }

  /// Ends all streams.
  ///
  /// - Parameter isFinal: whether later streams end after the latest element, too.
  func end(isFinal: Bool = true) {
    // Outside the lock, which the listeners' `onTermination` takes.
    let listeners = state.withLock { state in
      state.hasEnded = state.hasEnded || isFinal
      return state.listeners
    }
    for listener in listeners.values { listener.finish() }
  }

  /// Returns a stream of the latest element, if there is one, and all later ones.
  ///
  /// - Parameter first: an element that precedes these.
  func stream(startingWith first: Element? = nil) -> AsyncStream<Element> {
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
