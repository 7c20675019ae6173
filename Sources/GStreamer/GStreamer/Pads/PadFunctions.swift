// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The functions that an element provides for one of its pads.
///
/// The functions are unapplied methods (`SBSSplit.receive`): the pad finds its element through its
/// parent, so nothing here keeps the element alive.
public struct PadFunctions<Owner: AnyObject> {
  /// Called by GStreamer with the Swift object of the pad's element.
  var chain: ((ElementBox, Pad, Buffer) throws -> Void)?
  var event: ((ElementBox, Pad, Event) throws -> Bool)?
  var query: ((ElementBox, Pad, borrowing Query) -> Bool)?
  var activate: ((ElementBox, Pad) throws -> Bool)?
  var activateMode: ((ElementBox, Pad, PadMode, Bool) throws -> Bool)?

  init() {}
}

extension PadFunctions where Owner: ElementImplementation {
  /// Creates the functions of a sink pad.
  ///
  /// - Parameters:
  ///   - chain: Receives data. A thrown `FlowReturn` is returned; any other error is posted.
  ///   - event: Receives serialized events, and FLUSH_STOP. Returns whether the event was handled;
  ///     `pad.forward` does the default handling.
  ///   - unserializedEvent: Receives events that overtake data, such as FLUSH_START, in any thread.
  ///   - query: Receives queries in any thread. Returns whether the query was answered;
  ///     `pad.forward` does the default handling.
  ///   - serializedQuery: Receives queries that keep their position between buffers, such as
  ///     ALLOCATION; if nil, `query` receives these too.
  public static func sink(
    chain: @escaping (Owner) -> (Pad, Buffer, inout Owner.Streaming) throws -> Void,
    event: ((Owner) -> (Pad, Event, inout Owner.Streaming) throws -> Bool)? = nil,
    unserializedEvent: ((Owner) -> (Pad, Event) throws -> Bool)? = nil,
    query: ((Owner) -> (Pad, borrowing Query) -> Bool)? = nil,
    serializedQuery: ((Owner) -> (Pad, borrowing Query, inout Owner.Streaming) -> Bool)? = nil
  ) -> Self {
    var functions = PadFunctions()
    functions.chain = { element, pad, buffer in
      guard let core = ElementCore<Owner>.of(element) else { throw FlowReturn.error }
      try core.streaming.call { try chain(core.implementation)(pad, buffer, &$0) }
    }
    functions.event = { element, pad, value in
      guard let core = ElementCore<Owner>.of(element) else { return false }
      guard value.isSerialized else {
        return try unserializedEvent?(core.implementation)(pad, value) ?? pad.forward(value)
      }
      return try core.take(element) { implementation, streaming in
        try event?(implementation)(pad, value, &streaming) ?? pad.forward(value)
      }
    }
    functions.query = answer(query, serialized: serializedQuery)
    return functions
  }

  /// Creates the functions of a source pad. All its events and queries overtake data and arrive in
  /// any thread.
  public static func source(
    query: ((Owner) -> (Pad, borrowing Query) -> Bool)? = nil,
    event: ((Owner) -> (Pad, Event) throws -> Bool)? = nil
  ) -> Self {
    var functions = PadFunctions()
    functions.event = event.map { event in
      { element, pad, value in
        guard let core = ElementCore<Owner>.of(element) else { return false }
        return try event(core.implementation)(pad, value)
      }
    }
    functions.query = answer(query, serialized: nil)
    return functions
  }

  private static func answer(
    _ query: ((Owner) -> (Pad, borrowing Query) -> Bool)?,
    serialized: ((Owner) -> (Pad, borrowing Query, inout Owner.Streaming) -> Bool)?
  ) -> ((ElementBox, Pad, borrowing Query) -> Bool)? {
    guard query != nil || serialized != nil else { return nil }
    return { element, pad, value in
      guard let core = ElementCore<Owner>.of(element) else { return false }
      if let serialized, value.isSerialized {
        return (try? core.streaming.call { serialized(core.implementation)(pad, value, &$0) })
          ?? false
      }
      return query?(core.implementation)(pad, value) ?? pad.forward(value)
    }
  }

  /// Returns these functions for a sink pad that pulls data in a task of its own if upstream
  /// supports random access. Otherwise `chain` receives the data.
  ///
  /// - Parameters:
  ///   - step: Called repeatedly. Any thrown error ends the task; one that is not a `FlowReturn` is
  ///     posted.
  ///   - ended: Called after the last step with the reason for the end.
  public func pulling(
    step: @escaping (Owner) -> (inout Owner.Streaming) throws -> Void,
    ended: @escaping (Owner) -> (FlowReturn, inout Owner.Streaming) -> Void
  ) -> Self {
    var functions = self
    functions.activate = { _, pad in
      if pad.peerAllowsRandomAccess, pad.activate(.pull) { return true }
      return pad.activate(.push)
    }
    functions.activateMode = { element, pad, mode, isActive in
      guard mode == .pull else { return true }
      guard isActive else { return pad.stopTask() }
      guard let core = ElementCore<Owner>.of(element) else { return false }
      // The task ends before its pad is freed, and the pad before its element.
      let padPointer = pad.pointer
      return pad.startTask { [unowned element, unowned core] in
        var hasRunDeferred = false
        element.instance.countStep()
        let flow = element.run {
          try core.streaming.call(hasRunDeferred: &hasRunDeferred) {
            try step(core.implementation)(&$0)
          }
        }
        // After a flushing seek that was deferred to the end of the step, there is more to read.
        guard flow != .ok, flow != .flushing || !hasRunDeferred else { return }
        gst_pad_pause_task(padPointer)
        try? core.streaming.call { ended(core.implementation)(flow, &$0) }
      }
    }
    return functions
  }

  /// Returns these functions for a sink pad whose thread may have to wait before it delivers data
  /// while other pads of the element continue.
  ///
  /// - Parameters:
  ///   - wait: Called before `chain`. A thrown `FlowReturn` is returned; any other error is posted.
  ///   - event: Receives all events, also while other pads of the element are at work; nil if they
  ///     wait for those.
  ///   - activated: Called in any thread when the pad is activated, or deactivated: then `wait`
  ///     must return.
  public func waiting(
    _ wait: @escaping (Owner) -> (Pad, Buffer) throws -> Void,
    event: ((Owner) -> (Pad, Event) throws -> Bool)? = nil,
    activated: @escaping (Owner) -> (Pad, Bool) -> Void
  ) -> Self {
    var functions = self
    functions.chain = { [chain] element, pad, buffer in
      guard let core = ElementCore<Owner>.of(element) else { throw FlowReturn.error }
      try wait(core.implementation)(pad, buffer)
      try chain?(element, pad, buffer)
    }
    if let event {
      functions.event = { element, pad, value in
        guard let core = ElementCore<Owner>.of(element) else { return false }
        return try event(core.implementation)(pad, value)
      }
    }
    functions.activateMode = { element, pad, _, isActive in
      guard let core = ElementCore<Owner>.of(element) else { return false }
      activated(core.implementation)(pad, isActive)
      return true
    }
    return functions
  }
}

extension Pad {
  /// Creates a pad from a template of an element's class; its name is that of the template by
  /// default.
  public convenience init<Owner: ElementImplementation>(
    _ instance: ElementInstance, template templateName: String, name: String? = nil,
    _ functions: PadFunctions<Owner>
  ) throws {
    guard
      let template = gst_element_class_get_pad_template(
        instance.pointer.elementClass, templateName),
      let pad = gst_pad_new_from_template(template, name ?? templateName)
    else {
      throw ElementError(.pad, "The pad \(templateName) could not be created.")
    }
    // New pads have a floating reference.
    self.init(adopting: gst_object_ref_sink(pad).assumingMemoryBound(to: GstPad.self))
    install(functions)
  }

  private func install<Owner>(_ functions: PadFunctions<Owner>) {
    if let chain = functions.chain {
      gst_pad_set_chain_function_full(
        pointer, padChain, Callback(chain, of: self).retained(), releaseCallback)
    }
    if let event = functions.event {
      gst_pad_set_event_function_full(
        pointer, padEvent, Callback(event, of: self).retained(), releaseCallback)
    }
    if let query = functions.query {
      gst_pad_set_query_function_full(
        pointer, padQuery, Callback(query, of: self).retained(), releaseCallback)
    }
    if let activate = functions.activate {
      gst_pad_set_activate_function_full(
        pointer, padActivate, Callback(activate, of: self).retained(), releaseCallback)
    }
    if let activateMode = functions.activateMode {
      gst_pad_set_activatemode_function_full(
        pointer, padActivateMode, Callback(activateMode, of: self).retained(), releaseCallback)
    }
  }
}

/// A closure that C code holds a reference to.
final class Callback<Function> {
  let call: Function
  /// The Swift object that the pad was created with, while it exists.
  private weak var pad: Pad?
  /// Reused for each buffer, with the stream lock held.
  fileprivate var reused = ReusedObject<Buffer>()

  init(_ call: Function, of pad: Pad? = nil) {
    self.call = call
    self.pad = pad
  }

  /// Returns a Swift object for the function's pad.
  func pad(_ pointer: UnsafeMutablePointer<GstPad>) -> Pad { pad ?? Pad(retaining: pointer) }

  func retained() -> UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

  static func from(_ pointer: UnsafeMutableRawPointer) -> Callback {
    Unmanaged<Callback>.fromOpaque(pointer).takeUnretainedValue()
  }
}

// Functions instead of constants: the compiler's documentation tool (Swift 6.3) cannot read back
// constants of C function types.

func releaseCallback(_ pointer: UnsafeMutableRawPointer?) {
  if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
}

private func padChain(
  _ pad: UnsafeMutablePointer<GstPad>?, _ parent: UnsafeMutablePointer<GstObject>?,
  _ buffer: UnsafeMutablePointer<GstBuffer>?
) -> GstFlowReturn {
  guard let pad, let buffer else { return GST_FLOW_ERROR }
  guard let element = ElementBox.of(parent), let context = pad.pointee.chaindata else {
    gst_buffer_unref(buffer)
    return GST_FLOW_ERROR
  }
  let callback = Callback<(ElementBox, Pad, Buffer) throws -> Void>.from(context)
  let owned = callback.reused.take(cast(buffer)) { Buffer(adopting: cast($0)) }
  element.logBuffer(owned, at: callback.pad(pad))
  let flow = element.flow { () throws in try callback.call(element, callback.pad(pad), owned) }
  callback.reused.giveBack(owned)
  return flow
}

private func padEvent(
  _ pad: UnsafeMutablePointer<GstPad>?, _ parent: UnsafeMutablePointer<GstObject>?,
  _ event: UnsafeMutablePointer<GstEvent>?
) -> gboolean {
  guard let pad, let event else { return 0 }
  let owned = Event(adopting: event)
  guard let element = ElementBox.of(parent), let context = pad.pointee.eventdata else {
    return 0
  }
  return element.answer { () throws in
    let callback = Callback<(ElementBox, Pad, Event) throws -> Bool>.from(context)
    element.logEvent(owned, at: callback.pad(pad))
    return try callback.call(element, callback.pad(pad), owned)
  }
}

private func padQuery(
  _ pad: UnsafeMutablePointer<GstPad>?, _ parent: UnsafeMutablePointer<GstObject>?,
  _ query: UnsafeMutablePointer<GstQuery>?
) -> gboolean {
  guard let pad, let query, let element = ElementBox.of(parent),
    let context = pad.pointee.querydata
  else { return 0 }
  let callback = Callback<(ElementBox, Pad, borrowing Query) -> Bool>.from(context)
  return callback.call(element, callback.pad(pad), Query(borrowing: query)) ? 1 : 0
}

private func padActivate(
  _ pad: UnsafeMutablePointer<GstPad>?, _ parent: UnsafeMutablePointer<GstObject>?
) -> gboolean {
  guard let pad, let element = ElementBox.of(parent), let context = pad.pointee.activatedata
  else { return 0 }
  return element.answer { () throws in
    let callback = Callback<(ElementBox, Pad) throws -> Bool>.from(context)
    return try callback.call(element, callback.pad(pad))
  }
}

private func padActivateMode(
  _ pad: UnsafeMutablePointer<GstPad>?, _ parent: UnsafeMutablePointer<GstObject>?,
  _ mode: GstPadMode, _ active: gboolean
) -> gboolean {
  guard let pad, let element = ElementBox.of(parent),
    let context = pad.pointee.activatemodedata
  else { return 0 }
  return element.answer { () throws in
    let callback = Callback<(ElementBox, Pad, PadMode, Bool) throws -> Bool>.from(context)
    return try callback.call(element, callback.pad(pad), PadMode(mode), active != 0)
  }
}

/// The scheduling mode of a pad: `GstPadMode`.
public struct PadMode: RawRepresentable, Hashable, Sendable {
  /// The value of `GstPadMode`.
  public let rawValue: UInt32

  /// Creates a mode from its value.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  init(_ mode: GstPadMode) {
    rawValue = mode.rawValue
  }

  var cValue: GstPadMode { GstPadMode(rawValue) }

  /// `GST_PAD_MODE_NONE`: the pad is inactive.
  public static let none = PadMode(GST_PAD_MODE_NONE)
  /// `GST_PAD_MODE_PUSH`: upstream pushes data.
  public static let push = PadMode(GST_PAD_MODE_PUSH)
  /// `GST_PAD_MODE_PULL`: downstream pulls data.
  public static let pull = PadMode(GST_PAD_MODE_PULL)
}

/// Scheduling: the mode of a pad, and the task of a pad that pulls.
extension Pad {
  /// The current mode.
  public var mode: PadMode { PadMode(pointer.pointee.mode) }

  /// Activates or deactivates a mode; returns false if the peer refuses.
  public func activate(_ mode: PadMode, _ active: Bool = true) -> Bool {
    gst_pad_activate_mode(pointer, mode.cValue, active ? 1 : 0) != 0
  }

  /// Calls `body` repeatedly in a thread of the pad, each time with the stream lock held, until the
  /// task is paused or stopped. An existing task resumes with the body it has.
  fileprivate func startTask(_ body: @escaping () -> Void) -> Bool {
    // For an existing task, GStreamer ignores the new context but does not release it.
    guard pointer.pointee.task == nil else { return resumeTask() }
    return gst_pad_start_task(
      pointer, runTask, Callback<() -> Void>(body).retained(), releaseCallback) != 0
  }

  /// Resumes a paused task; returns false if the pad has none.
  @discardableResult
  public func resumeTask() -> Bool {
    guard pointer.pointee.task != nil else { return false }
    return gst_pad_start_task(pointer, runTask, nil, nil) != 0
  }

  /// Pauses the task after the current call of its body, and waits for that call unless called from
  /// within it.
  @discardableResult
  public func pauseTask() -> Bool { gst_pad_pause_task(pointer) != 0 }

  /// Stops the task and waits for its thread.
  @discardableResult
  public func stopTask() -> Bool { gst_pad_stop_task(pointer) != 0 }

  /// Calls `body` with the lock that is held while data or serialized events pass the pad. The lock
  /// is recursive.
  public func withStreamLock<Result>(_ body: () throws -> Result) rethrows -> Result {
    cgst_pad_stream_lock(pointer)
    defer { cgst_pad_stream_unlock(pointer) }
    return try body()
  }

  /// Whether the peer supports pull mode with random access.
  public var peerAllowsRandomAccess: Bool {
    let query = Query.scheduling()
    return queryPeer(query) && query.allowsPulling
  }
}

private func runTask(_ context: UnsafeMutableRawPointer?) {
  if let context { Callback<() -> Void>.from(context).call() }
}
