// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// What an element does with what arrives at one of its pads.
///
/// The functions are unapplied methods (`SBSSplit.receive`): the pad finds its element through its
/// parent, so nothing here keeps the element alive.
public struct PadFunctions<Owner: AnyObject> {
  /// What GStreamer calls, with whichever Swift object is behind the pad's element.
  var chain: ((ElementBox, Pad, Buffer) throws -> Void)?
  var event: ((ElementBox, Pad, Event) throws -> Bool)?
  var query: ((ElementBox, Pad, borrowing Query) -> Bool)?
  var activate: ((ElementBox, Pad) throws -> Bool)?
  var activateMode: ((ElementBox, Pad, PadMode, Bool) throws -> Bool)?

  init() {}
}

extension PadFunctions where Owner: ElementImplementation {
  /// Of a sink pad.
  ///
  /// - Parameters:
  ///   - chain: data. A thrown `FlowReturn` is returned; any other error is posted.
  ///   - event: a serialized event, and FLUSH_STOP. Returns whether it was handled; `pad.forward`
  ///     does the usual thing.
  ///   - unserializedEvent: an event that overtakes data, as FLUSH_START does, from any thread.
  ///   - query: a query from any thread. Returns whether it was answered; `pad.forward` does the
  ///     usual thing.
  ///   - serializedQuery: a query that stays between the buffers, such as ALLOCATION; without it,
  ///     `query` gets these too.
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

  /// Of a source pad; all that comes there overtakes data, from any thread.
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

  /// These functions of a sink pad that reads by itself where upstream can be read anywhere: by a
  /// task, in a thread of the pad. Elsewhere data comes to `chain`.
  ///
  /// - Parameters:
  ///   - step: called again and again. What it throws ends the task; an error is posted.
  ///   - ended: called behind the last step with why there is no further one.
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
      // The task ends before its pad goes, and the pad before its element.
      let padPointer = pad.pointer
      return pad.startTask { [unowned element, unowned core] in
        var hasRunDeferred = false
        let flow = element.run {
          try core.streaming.call(hasRunDeferred: &hasRunDeferred) {
            try step(core.implementation)(&$0)
          }
        }
        // A flushing seek that was done behind the step has more to read.
        guard flow != .ok, flow != .flushing || !hasRunDeferred else { return }
        gst_pad_pause_task(padPointer)
        try? core.streaming.call { ended(core.implementation)(flow, &$0) }
      }
    }
    return functions
  }

  /// These functions of a sink pad whose thread may have to wait before it brings data, while other pads
  /// of the element go on.
  ///
  /// - Parameters:
  ///   - wait: called in front of `chain`. A thrown `FlowReturn` is returned; any other error is posted.
  ///   - activated: the pad is switched on, or off: then nothing may wait there any more. From any thread.
  public func waiting(
    _ wait: @escaping (Owner) -> (Pad, Buffer) throws -> Void,
    activated: @escaping (Owner) -> (Pad, Bool) -> Void
  ) -> Self {
    var functions = self
    functions.chain = { [chain] element, pad, buffer in
      guard let core = ElementCore<Owner>.of(element) else { throw FlowReturn.error }
      try wait(core.implementation)(pad, buffer)
      try chain?(element, pad, buffer)
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
  /// A pad made from a template of an element's class; without a name, it gets the template's own.
  public convenience init<Owner: ElementImplementation>(
    _ instance: ElementInstance, template templateName: String, name: String? = nil,
    _ functions: PadFunctions<Owner>
  ) throws {
    guard
      let template = gst_element_class_get_pad_template(
        instance.pointer.elementClass, templateName),
      let pad = gst_pad_new_from_template(template, name ?? templateName)
    else {
      throw ElementError(.pad, "The pad \(templateName) could not be made.")
    }
    // A new pad's reference is floating.
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
  /// The Swift object that the pad was made with, for as long as something has it.
  private weak var pad: Pad?
  /// For the buffers that come, with the stream lock held.
  var reused = ReusedObject<Buffer>()

  init(_ call: Function, of pad: Pad? = nil) {
    self.call = call
    self.pad = pad
  }

  /// A Swift object for the pad that the function is of.
  func pad(_ pointer: UnsafeMutablePointer<GstPad>) -> Pad { pad ?? Pad(retaining: pointer) }

  func retained() -> UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

  static func from(_ pointer: UnsafeMutableRawPointer) -> Callback {
    Unmanaged<Callback>.fromOpaque(pointer).takeUnretainedValue()
  }
}

// Functions and no constants: the compiler's documentation tool (Swift 6.3) cannot read back constants of
// C function types.

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

/// How data passes a pad: `GstPadMode`.
public struct PadMode: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  init(_ mode: GstPadMode) {
    rawValue = mode.rawValue
  }

  var cValue: GstPadMode { GstPadMode(rawValue) }

  /// `GST_PAD_MODE_NONE`: no data passes.
  public static let none = PadMode(GST_PAD_MODE_NONE)
  /// `GST_PAD_MODE_PUSH`: upstream brings data.
  public static let push = PadMode(GST_PAD_MODE_PUSH)
  /// `GST_PAD_MODE_PULL`: the pad's element fetches data.
  public static let pull = PadMode(GST_PAD_MODE_PULL)
}

/// What drives data: the modes of a pad, and the thread that a pad which pulls has of its own.
extension Pad {
  /// How data passes the pad now.
  public var mode: PadMode { PadMode(pointer.pointee.mode) }

  /// Switches a mode on or off; false where the peer refuses it.
  public func activate(_ mode: PadMode, _ active: Bool = true) -> Bool {
    gst_pad_activate_mode(pointer, mode.cValue, active ? 1 : 0) != 0
  }

  /// Calls `body` again and again in a thread of the pad, each time with the stream lock held,
  /// until the task is paused or stopped. A task that is there goes on with the body it has.
  func startTask(_ body: @escaping () -> Void) -> Bool {
    // GStreamer drops the context that it is given for a task that is there, but not its reference.
    guard pointer.pointee.task == nil else { return resumeTask() }
    return gst_pad_start_task(
      pointer, runTask, Callback<() -> Void>(body).retained(), releaseCallback) != 0
  }

  /// Lets a paused task go on; false where the pad has none.
  @discardableResult
  public func resumeTask() -> Bool {
    guard pointer.pointee.task != nil else { return false }
    return gst_pad_start_task(pointer, runTask, nil, nil) != 0
  }

  /// Lets the task rest after the call of its body that runs now, for which it waits, unless it is
  /// called from there.
  @discardableResult
  public func pauseTask() -> Bool { gst_pad_pause_task(pointer) != 0 }

  /// Ends the task and waits for its thread.
  @discardableResult
  public func stopTask() -> Bool { gst_pad_stop_task(pointer) != 0 }

  /// Runs `body` with the lock that is held while data or serialised events pass the pad. A thread
  /// may take it several times.
  public func withStreamLock<Result>(_ body: () throws -> Result) rethrows -> Result {
    cgst_pad_stream_lock(pointer)
    defer { cgst_pad_stream_unlock(pointer) }
    return try body()
  }

  /// Whether the peer lets this pad pull bytes from any place.
  public var peerAllowsRandomAccess: Bool {
    let query = Query.scheduling()
    return queryPeer(query) && query.allowsPulling
  }
}

private func runTask(_ context: UnsafeMutableRawPointer?) {
  if let context { Callback<() -> Void>.from(context).call() }
}
