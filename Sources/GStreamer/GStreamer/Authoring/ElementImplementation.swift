// SPDX-License-Identifier: MPL-2.0

/// What an element does: the Swift class behind it. Conform to this protocol for an element with pads
/// of its own, and to one that refines it for an element on one of GStreamer's base classes.
///
/// Threads come in from everywhere: applications set properties, sinks ask, streams flow. What an
/// element keeps is therefore of three kinds, and the compiler holds it to them:
///
/// - constants, such as its pads;
/// - what several threads share, in a ``Locked``: the settings, and whatever it adds;
/// - ``Streaming``: what the thread alone uses that data flows in. `start` makes it, `stop` gets it
///   back, and each function for data, serialized events and serialized queries is handed it
///   meanwhile. No other function is.
public protocol ElementImplementation: HasSettings, ElementObject, Sendable {
  /// What exists between `start` and `stop`, for the streaming thread.
  associatedtype Streaming = Void
  associatedtype Settings = NoSettings

  /// The element's GObject.
  var instance: ElementInstance { get }

  /// Called when the GObject is made. Makes its pads and adds them.
  init(_ instance: ElementInstance) throws

  /// Called before data flows (READY to PAUSED). A thrown error is posted and stops the change.
  func start() throws -> Streaming

  /// Called once for each `start` that did not throw, when data has stopped or where the change of
  /// state failed after all.
  func stop(_ streaming: consuming Streaming)

  /// Called when a property has been set, in the thread that sets it.
  func settingsChanged()

  /// The C class that the element derives from; each protocol says it.
  static var superclass: ElementSuperclass<Self> { get }
}

/// Of an element without properties.
public struct NoSettings: Sendable {
  public init() {}
}

extension ElementImplementation {
  public func stop(_ streaming: consuming Streaming) {}
  public func settingsChanged() {}

  public static var superclass: ElementSuperclass<Self> {
    ElementSuperclass(.element) { ElementBox($0, try ElementCore<Self>($0)) }
  }

  /// Runs `body` with the state of the streaming thread, and with the stream lock of the sink pad
  /// where data comes in, for which it waits: for a seek that comes from downstream. Where the
  /// caller is the streaming thread itself, `body` runs behind what that does now. False, and nothing
  /// is done, where the element has stopped.
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

extension ElementImplementation where Streaming == Void {
  public func start() throws {}
}

extension ElementImplementation where Settings == NoSettings {
  public var settings: Locked<NoSettings> { Locked(NoSettings()) }
}

/// A C class that a Swift element derives from.
public struct ElementSuperclass<Implementation: ElementImplementation> {
  let base: BaseClass
  let makeBox: (ElementInstance) throws -> ElementBox

  init(_ base: BaseClass, makeBox: @escaping (ElementInstance) throws -> ElementBox) {
    self.base = base
    self.makeBox = makeBox
  }
}

/// What C functions, which cannot be generic, do with an `ElementCore`.
protocol AnyElementCore: AnyObject {
  /// Called before data flows (READY to PAUSED). A thrown error is posted and stops the change.
  func start() throws

  /// Called once for each `start` that went well, when data has stopped or where the change of state
  /// failed after all.
  func stop()

  /// Called when a property has been set, in the thread that sets it.
  func settingsChanged()

  /// Runs `body` unless a thread is inside the element's streaming code.
  func whileIdle(_ body: () -> Void)

  /// The implementation, if it gives pads on request.
  var padGiver: (any RequestPadImplementation)? { get }
}

/// An element's Swift object, and the state of its streaming thread.
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

  var padGiver: (any RequestPadImplementation)? {
    implementation as? any RequestPadImplementation
  }

  /// Hands over a serialized event, behind the call that it came back in from if there is one.
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
