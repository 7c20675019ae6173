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
        let flow = element.run {
          try core.streaming.call { try step(core.implementation)(&$0) }
        }
        // A flushing seek that was done behind the step has more to read.
        guard flow != .ok, flow != .flushing || !core.streaming.hasRunDeferred else { return }
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
