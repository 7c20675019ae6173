// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The messages of a pipeline, in order.
///
/// A slow consumer loses the oldest messages, but never an error, a warning or EOS.
public final class Bus: @unchecked Sendable {
  /// Maximum number of queued messages before droppable ones are dropped.
  public static let capacity = 256

  private struct State {
    var waiting: [Message] = []
    /// The task that waits for a message.
    var consumer: CheckedContinuation<Void, Never>?
    var watcher: (@Sendable (Message) -> Void)?
  }

  private let bus: UnsafeMutablePointer<GstBus>
  private let state = Locked(State())

  init(of pipeline: UnsafeMutablePointer<GstElement>) {
    bus = gst_element_get_bus(pipeline)
    let handler: GstBusSyncHandler = { _, message, data in
      // A handler that drops a message owns it.
      if let message, let data {
        let owned = Message(adopting: message)
        Unmanaged<Inbox>.fromOpaque(data).takeUnretainedValue().bus?.receive(owned)
      }
      return GST_BUS_DROP
    }
    let inbox = Inbox(self)
    gst_bus_set_sync_handler(bus, handler, Unmanaged.passRetained(inbox).toOpaque()) { data in
      if let data { Unmanaged<Inbox>.fromOpaque(data).release() }
    }
  }

  deinit {
    gst_bus_set_sync_handler(bus, nil, nil, nil)
    gst_object_unref(bus)
  }

  /// The data of the bus's handler: the pipeline may outlive this object.
  private final class Inbox {
    weak var bus: Bus?

    init(_ bus: Bus) {
      self.bus = bus
    }
  }

  /// The messages from now on, for one consumer at a time.
  public var messages: Messages { Messages(bus: self) }

  /// The messages of a bus, as an asynchronous sequence.
  public struct Messages: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let bus: Bus

    /// Returns the sequence itself.
    public func makeAsyncIterator() -> Messages { self }

    /// Waits for the next message; nil if the task is cancelled.
    public mutating func next() async -> Message? { await bus.next() }
  }

  /// Discards all queued messages.
  func flush() {
    // Released outside the lock: an element that a message was the last to hold may post another.
    _ = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  /// Passes each message from now on to `body`, in the thread that posts it, instead of to
  /// `messages`. `body` must neither block nor change the pipeline's state.
  public func watch(_ body: @escaping @Sendable (Message) -> Void) {
    state.withLock { $0.watcher = body }
  }

  private func receive(_ message: Message) {
    if let watcher = state.withLock({ $0.watcher }) { return watcher(message) }
    let consumer = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.waiting.append(message)
      if state.waiting.count > Self.capacity,
        let index = state.waiting.firstIndex(where: { !$0.isUndroppable })
      {
        state.waiting.remove(at: index)
      }
      return state.consumer.take()
    }
    consumer?.resume()
  }

  private func next() async -> Message? {
    while !Task.isCancelled {
      let message = state.withLock { state in
        state.waiting.isEmpty ? nil : state.waiting.removeFirst()
      }
      if let message { return message }
      await wait()
    }
    return nil
  }

  /// Returns when a message is queued or the task is cancelled.
  private func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          guard !Task.isCancelled, state.waiting.isEmpty else { return true }
          state.consumer = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.consumer.take() }?.resume()
    }
  }
}

extension Message {
  fileprivate var isUndroppable: Bool {
    [GST_MESSAGE_ERROR, GST_MESSAGE_WARNING, GST_MESSAGE_EOS].contains(type)
  }
}
