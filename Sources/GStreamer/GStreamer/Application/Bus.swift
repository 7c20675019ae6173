// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The messages of a pipeline, in order.
///
/// A consumer that is slow loses the oldest messages of the talkative kinds, never an error, a
/// warning or the end of the stream.
public final class Bus: @unchecked Sendable {
  /// How many messages wait for a slow consumer before the talkative kinds are dropped.
  public static let capacity = 256

  private struct State {
    var waiting: [Message] = []
    /// Who waits for one.
    var consumer: CheckedContinuation<Void, Never>?
    var watcher: (@Sendable (Message) -> Void)?
  }

  private let bus: UnsafeMutablePointer<GstBus>
  private let state = Locked(State())

  init(of pipeline: UnsafeMutablePointer<GstElement>) {
    bus = gst_element_get_bus(pipeline)
    let handler: GstBusSyncHandler = { _, message, data in
      // Who drops a message owns it.
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

  /// What the bus's handler holds: the pipeline may outlive this object.
  private final class Inbox {
    weak var bus: Bus?

    init(_ bus: Bus) {
      self.bus = bus
    }
  }

  /// The messages from now on. One consumer at a time.
  public var messages: Messages { Messages(bus: self) }

  public struct Messages: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let bus: Bus

    public func makeAsyncIterator() -> Messages { self }

    public mutating func next() async -> Message? { await bus.next() }
  }

  /// Discards the messages that wait.
  func flush() { state.withLock { $0.waiting = [] } }

  /// Has `body` see each message from now on, in the thread that posts it, in place of `messages`.
  /// It must neither block nor change the pipeline's state.
  public func watch(_ body: @escaping @Sendable (Message) -> Void) {
    state.withLock { $0.watcher = body }
  }

  private func receive(_ message: Message) {
    if let watcher = state.withLock({ $0.watcher }) { return watcher(message) }
    let consumer = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.waiting.append(message)
      if state.waiting.count > Self.capacity,
        let index = state.waiting.firstIndex(where: { !$0.mustArrive })
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

  /// Returns when there is a message, or the task is cancelled.
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
  fileprivate var mustArrive: Bool {
    [GST_MESSAGE_ERROR, GST_MESSAGE_WARNING, GST_MESSAGE_EOS].contains(type)
  }
}
