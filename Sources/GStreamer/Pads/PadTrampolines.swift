// SPDX-License-Identifier: LGPL-2.1-or-later

internal import CGStreamer

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
      throw ElementError(.core(GST_CORE_ERROR_PAD), "The pad \(templateName) could not be made.")
    }
    // A new pad's reference is floating.
    self.init(adopting: gst_object_ref_sink(pad).assumingMemoryBound(to: GstPad.self))
    install(functions)
  }

  private func install<Owner>(_ functions: PadFunctions<Owner>) {
    if let chain = functions.chain {
      gst_pad_set_chain_function_full(
        pointer, padChain, Callback(chain).retained(), releaseCallback)
    }
    if let event = functions.event {
      gst_pad_set_event_function_full(
        pointer, padEvent, Callback(event).retained(), releaseCallback)
    }
    if let query = functions.query {
      gst_pad_set_query_function_full(
        pointer, padQuery, Callback(query).retained(), releaseCallback)
    }
    if let activate = functions.activate {
      gst_pad_set_activate_function_full(
        pointer, padActivate, Callback(activate).retained(), releaseCallback)
    }
    if let activateMode = functions.activateMode {
      gst_pad_set_activatemode_function_full(
        pointer, padActivateMode, Callback(activateMode).retained(), releaseCallback)
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
  guard let element = ElementBox.of(parent), let context = pad.pointee.chaindata else {
    return GST_FLOW_ERROR
  }
  return element.flow { () throws in
    try Callback<(ElementBox, Pad, Buffer) throws -> Void>.from(context)
      .call(element, Pad(retaining: pad), owned)
  }
}

private let padEvent: GstPadEventFunction = { pad, parent, event in
  guard let pad, let event else { return 0 }
  let owned = Event(adopting: event)
  guard let element = ElementBox.of(parent), let context = pad.pointee.eventdata else {
    return 0
  }
  return element.answer { () throws in
    try Callback<(ElementBox, Pad, Event) throws -> Bool>.from(context)
      .call(element, Pad(retaining: pad), owned)
  }
}

private let padQuery: GstPadQueryFunction = { pad, parent, query in
  guard let pad, let query, let element = ElementBox.of(parent),
    let context = pad.pointee.querydata
  else { return 0 }
  let answered = Callback<(ElementBox, Pad, borrowing Query) -> Bool>.from(context)
    .call(element, Pad(retaining: pad), Query(borrowing: query))
  return answered ? 1 : 0
}

private let padActivate: GstPadActivateFunction = { pad, parent in
  guard let pad, let element = ElementBox.of(parent), let context = pad.pointee.activatedata
  else { return 0 }
  return element.answer { () throws in
    try Callback<(ElementBox, Pad) throws -> Bool>.from(context)
      .call(element, Pad(retaining: pad))
  }
}

private let padActivateMode: GstPadActivateModeFunction = { pad, parent, mode, active in
  guard let pad, let element = ElementBox.of(parent),
    let context = pad.pointee.activatemodedata
  else { return 0 }
  return element.answer { () throws in
    try Callback<(ElementBox, Pad, GstPadMode, Bool) throws -> Bool>.from(context)
      .call(element, Pad(retaining: pad), mode, active != 0)
  }
}
