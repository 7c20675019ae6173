// SPDX-License-Identifier: MPL-2.0

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
