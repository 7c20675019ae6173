// SPDX-License-Identifier: MPL-2.0

/// The Swift class of an element. Conform to this protocol for an element with its own pads, and to
/// one that refines it for an element on one of GStreamer's base classes.
///
/// Calls come from many threads: applications set properties, sinks send queries, data flows. The
/// data of an element is therefore of three kinds, which the compiler enforces:
///
/// - constants, such as its pads;
/// - data that several threads share, in a ``Locked``: the settings, and any other;
/// - ``Streaming``: data that only the streaming thread uses. `start` makes it, `stop` gets it
///   back, and each function for data, serialized events and serialized queries gets it as a
///   parameter. Other functions do not.
public protocol ElementImplementation: HasSettings, ElementObject, Sendable {
  /// State of the streaming thread, which exists between `start` and `stop`.
  associatedtype Streaming = Void
  associatedtype Settings = NoSettings

  /// The element's GObject.
  var instance: ElementInstance { get }

  /// Creates the object with its GObject. Creates the pads and adds them.
  init(_ instance: ElementInstance) throws

  /// Starts the element before data flows (READY to PAUSED). A thrown error is posted and the state
  /// change fails.
  func start() throws -> Streaming

  /// Stops the element after data flow has ended, or after the state change has failed. Called once
  /// for each `start` that did not throw.
  func stop(_ streaming: consuming Streaming)

  /// Called after a property has been set, in the thread that has set it.
  func settingsChanged()

  /// The C class that the element derives from, provided by each protocol.
  static var superclass: ElementSuperclass<Self> { get }
}

/// The settings of an element without properties.
public struct NoSettings: Sendable {
  /// Creates empty settings.
  public init() {}
}

extension ElementImplementation {
  /// Discards the state.
  public func stop(_ streaming: consuming Streaming) {}
  /// Does nothing.
  public func settingsChanged() {}

  /// `GstElement`.
  public static var superclass: ElementSuperclass<Self> {
    ElementSuperclass(.element) { ElementBox($0, try ElementCore<Self>($0)) }
  }

  /// Calls `body` with the state of the streaming thread and the stream lock of the sink pad,
  /// waiting for both: for a seek from downstream. If the caller is the streaming thread itself,
  /// `body` is called after the current call of that thread. Returns false without calling `body`
  /// if the element is stopped.
  public func withStreaming(_ sink: Pad, _ body: @escaping (inout Streaming) -> Void) -> Bool {
    guard let core = ElementCore<Self>.of(ElementBox.of(cast(gstElement))) else {
      return false
    }
    return sink.withStreamLock {
      let isDone = try? core.streaming.callOrDefer {
        body(&$0)
        return true
      } failed: { _ in
      }
      return isDone ?? false
    }
  }
}

extension ElementImplementation {
  /// Calls `body` with the state of the streaming thread, waiting for it: for work that is due by
  /// the clock, in a thread of its own. Returns false without calling `body` if the element is
  /// stopped.
  public func withStreaming(_ body: (inout Streaming) -> Void) -> Bool {
    let core = ElementCore<Self>.of(ElementBox.of(cast(gstElement)))
    return (try? core?.streaming.call { body(&$0) }) != nil
  }
}

extension ElementImplementation where Streaming == Void {
  /// Does nothing.
  public func start() throws {}
}

extension ElementImplementation where Settings == NoSettings {
  /// Empty settings.
  public var settings: Locked<NoSettings> { Locked(NoSettings()) }
}

/// The C class that a Swift element derives from.
public struct ElementSuperclass<Implementation: ElementImplementation> {
  let base: BaseClass
  let makeBox: (ElementInstance) throws -> ElementBox

  init(_ base: BaseClass, makeBox: @escaping (ElementInstance) throws -> ElementBox) {
    self.base = base
    self.makeBox = makeBox
  }
}

/// The operations of an `ElementCore` for C functions, which cannot be generic.
protocol AnyElementCore: AnyObject {
  /// Starts the element before data flows (READY to PAUSED). A thrown error is posted and the state
  /// change fails.
  func start() throws

  /// Stops the element after data flow has ended, or after the state change has failed. Called once
  /// for each successful `start`.
  func stop()

  /// Called after a property has been set, in the thread that has set it.
  func settingsChanged()

  /// Calls `body` unless a thread is inside the element's streaming code.
  func whileIdle(_ body: () -> Void)

  /// The implementation, if it has request pads.
  var requestPadImplementation: (any RequestPadImplementation)? { get }
}

/// The implementation of an element and the state of its streaming thread.
final class ElementCore<Implementation: ElementImplementation>: AnyElementCore {
  let implementation: Implementation
  let streaming = StreamingSlot<Implementation.Streaming>()

  init(_ instance: ElementInstance) throws {
    implementation = try Implementation(instance)
  }

  func start() throws { streaming.begin(with: try implementation.start()) }

  func stop() {
    if let ended = streaming.end() { implementation.stop(ended) }
  }

  func settingsChanged() { implementation.settingsChanged() }

  func whileIdle(_ body: () -> Void) { streaming.whileIdle(body) }

  var requestPadImplementation: (any RequestPadImplementation)? {
    implementation as? any RequestPadImplementation
  }

  /// Handles a serialized event, or defers it if it re-enters the element from within another call.
  func take(
    _ box: ElementBox,
    _ event: @escaping (Implementation, inout Implementation.Streaming) throws -> Bool
  ) throws -> Bool {
    let implementation = self.implementation
    return try streaming.callOrDefer {
      try event(implementation, &$0)
    } failed: { error in
      if !(error is FlowReturn) { box.post(error) }
    }
  }

  static func of(_ element: ElementBox?) -> ElementCore? { element?.core as? ElementCore }
}
