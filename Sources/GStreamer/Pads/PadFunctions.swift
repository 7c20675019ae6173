public import CGStreamer

/// What an element does with what arrives at one of its pads.
///
/// The functions are unapplied methods (`SBSSplit.receive`): the pad finds its element through its
/// parent, so nothing here keeps the element alive.
public struct PadFunctions<Owner: ElementSubclass> {
  /// Data at a sink pad. A thrown `FlowReturn` is returned; any other error is posted.
  public var chain: ((Owner) -> (Pad, Buffer) throws -> Void)?
  /// An event at a pad. Returns whether it was handled; `pad.forward` does the usual thing.
  public var event: ((Owner) -> (Pad, Event) throws -> Bool)?
  /// A query at a pad. Returns whether it was answered; `pad.forward` does the usual thing.
  public var query: ((Owner) -> (Pad, borrowing Query) -> Bool)?
  /// Chooses between push and pull mode when data is about to flow, and calls `pad.activate`.
  public var activate: ((Owner) -> (Pad) throws -> Bool)?
  /// Starts or ends the work of a mode, such as the task of a pad that pulls.
  public var activateMode: ((Owner) -> (Pad, GstPadMode, _ active: Bool) throws -> Bool)?

  public init(
    chain: ((Owner) -> (Pad, Buffer) throws -> Void)? = nil,
    event: ((Owner) -> (Pad, Event) throws -> Bool)? = nil,
    query: ((Owner) -> (Pad, borrowing Query) -> Bool)? = nil,
    activate: ((Owner) -> (Pad) throws -> Bool)? = nil,
    activateMode: ((Owner) -> (Pad, GstPadMode, _ active: Bool) throws -> Bool)? = nil
  ) {
    self.chain = chain
    self.event = event
    self.query = query
    self.activate = activate
    self.activateMode = activateMode
  }
}

extension Pad {
  /// A pad made from a template of an element's class.
  ///
  /// - Parameter name: nil for the template's own name.
  public convenience init<Owner: ElementSubclass>(
    _ instance: ElementInstance, template templateName: String, name: String? = nil,
    functions: PadFunctions<Owner>
  ) throws {
    try self.init(instance.element, templateName, name, functions)
  }

  /// A pad that an element gets when it knows what it is for.
  public convenience init<Owner: ElementSubclass>(
    _ owner: Owner, template templateName: String, name: String? = nil,
    functions: PadFunctions<Owner>
  ) throws {
    try self.init(owner.pointer, templateName, name, functions)
  }

  private convenience init<Owner: ElementSubclass>(
    _ element: UnsafeMutablePointer<GstElement>, _ templateName: String, _ name: String?,
    _ functions: PadFunctions<Owner>
  ) throws {
    guard
      let template = gst_element_class_get_pad_template(
        element.elementClass, templateName),
      let pad = gst_pad_new_from_template(template, name ?? templateName)
    else {
      throw ElementError(.core(GST_CORE_ERROR_PAD), "The pad \(templateName) could not be made.")
    }
    // A new pad's reference is floating.
    self.init(adopting: gst_object_ref_sink(pad).assumingMemoryBound(to: GstPad.self))
    install(functions)
  }

  private func install<Owner: ElementSubclass>(_ functions: PadFunctions<Owner>) {
    if let chain = functions.chain {
      let context = Callback<(ElementSubclass, Pad, Buffer) throws -> Void> {
        element, pad, buffer in
        guard let owner = element as? Owner else { throw FlowReturn.error }
        try chain(owner)(pad, buffer)
      }
      gst_pad_set_chain_function_full(
        pointer, padChain, context.retained(), releaseCallback)
    }
    if let event = functions.event {
      let context = Callback<(ElementSubclass, Pad, Event) throws -> Bool> { element, pad, value in
        guard let owner = element as? Owner else { return false }
        return try event(owner)(pad, value)
      }
      gst_pad_set_event_function_full(pointer, padEvent, context.retained(), releaseCallback)
    }
    if let query = functions.query {
      let context = Callback<(ElementSubclass, Pad, borrowing Query) -> Bool> {
        element, pad, value in
        guard let owner = element as? Owner else { return false }
        return query(owner)(pad, value)
      }
      gst_pad_set_query_function_full(pointer, padQuery, context.retained(), releaseCallback)
    }
    if let activate = functions.activate {
      let context = Callback<(ElementSubclass, Pad) throws -> Bool> { element, pad in
        guard let owner = element as? Owner else { return false }
        return try activate(owner)(pad)
      }
      gst_pad_set_activate_function_full(
        pointer, padActivate, context.retained(), releaseCallback)
    }
    if let activateMode = functions.activateMode {
      let context = Callback<(ElementSubclass, Pad, GstPadMode, Bool) throws -> Bool> {
        element, pad, mode, active in
        guard let owner = element as? Owner else { return false }
        return try activateMode(owner)(pad, mode, active)
      }
      gst_pad_set_activatemode_function_full(
        pointer, padActivateMode, context.retained(), releaseCallback)
    }
  }
}

/// A closure that C code holds a reference to.
final class Callback<Function> {
  let call: Function

  init(_ call: Function) {
    self.call = call
  }

  func retained() -> UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

  static func from(_ pointer: UnsafeMutableRawPointer) -> Callback {
    Unmanaged<Callback>.fromOpaque(pointer).takeUnretainedValue()
  }
}

let releaseCallback: GDestroyNotify = { pointer in
  if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
}

private let padChain: GstPadChainFunction = { pad, parent, buffer in
  guard let pad, let buffer else { return GST_FLOW_ERROR }
  let owned = Buffer(adopting: buffer)
  guard let element = ElementSubclass.of(parent), let context = pad.pointee.chaindata else {
    return GST_FLOW_ERROR
  }
  return element.flow { () throws in
    try Callback<(ElementSubclass, Pad, Buffer) throws -> Void>.from(context)
      .call(element, Pad(retaining: pad), owned)
  }
}

private let padEvent: GstPadEventFunction = { pad, parent, event in
  guard let pad, let event else { return 0 }
  let owned = Event(adopting: event)
  guard let element = ElementSubclass.of(parent), let context = pad.pointee.eventdata else {
    return 0
  }
  return element.answer { () throws in
    try Callback<(ElementSubclass, Pad, Event) throws -> Bool>.from(context)
      .call(element, Pad(retaining: pad), owned)
  }
}

private let padQuery: GstPadQueryFunction = { pad, parent, query in
  guard let pad, let query, let element = ElementSubclass.of(parent),
    let context = pad.pointee.querydata
  else { return 0 }
  let answered = Callback<(ElementSubclass, Pad, borrowing Query) -> Bool>.from(context)
    .call(element, Pad(retaining: pad), Query(borrowing: query))
  return answered ? 1 : 0
}

private let padActivate: GstPadActivateFunction = { pad, parent in
  guard let pad, let element = ElementSubclass.of(parent), let context = pad.pointee.activatedata
  else { return 0 }
  return element.answer { () throws in
    try Callback<(ElementSubclass, Pad) throws -> Bool>.from(context)
      .call(element, Pad(retaining: pad))
  }
}

private let padActivateMode: GstPadActivateModeFunction = { pad, parent, mode, active in
  guard let pad, let element = ElementSubclass.of(parent),
    let context = pad.pointee.activatemodedata
  else { return 0 }
  return element.answer { () throws in
    try Callback<(ElementSubclass, Pad, GstPadMode, Bool) throws -> Bool>.from(context)
      .call(element, Pad(retaining: pad), mode, active != 0)
  }
}
