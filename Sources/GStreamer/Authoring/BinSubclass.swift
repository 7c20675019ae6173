internal import CGStreamer

/// An element made of elements: `GstBin`.
///
/// Put the parts in when the bin starts, and take them out when it stops: they change state with
/// the bin.
open class BinSubclass: ElementSubclass, @unchecked Sendable {
  private var bin: UnsafeMutablePointer<GstBin> { cast(pointer) }

  /// Takes an element in.
  public func addPart(_ element: Element) throws {
    guard gst_bin_add(bin, element.pointer) != 0 else {
      throw ElementError(.core(GST_CORE_ERROR_FAILED), "\(element.name) could not be put in.")
    }
  }

  /// Stops an element and takes it out.
  public func removePart(_ element: Element) {
    element.setState(GST_STATE_NULL)
    gst_bin_remove(bin, element.pointer)
  }
}

/// A pad of a bin that stands for a pad of one of its parts.
public final class GhostPad: Pad, @unchecked Sendable {
  /// A ghost of nothing yet, made from a template of the bin's class.
  public convenience init(_ instance: ElementInstance, template name: String) throws {
    guard
      let template = gst_element_class_get_pad_template(instance.pointer.elementClass, name),
      let pad = gst_ghost_pad_new_no_target_from_template(name, template)
    else {
      throw ElementError(.core(GST_CORE_ERROR_PAD), "The pad \(name) could not be made.")
    }
    // A new pad's reference is floating.
    self.init(adopting: gst_object_ref_sink(pad).assumingMemoryBound(to: GstPad.self))
  }

  /// Stands for a pad from now on, or for none.
  public func setTarget(_ target: Pad?) throws {
    guard gst_ghost_pad_set_target(cast(pointer), target?.pointer) != 0 else {
      throw ElementError(
        .core(GST_CORE_ERROR_PAD), "\(name) cannot stand for \(target?.name ?? "no pad").")
    }
  }
}

extension Element {
  /// Links a source pad of this element to a sink pad of another.
  public func link(_ source: String, to other: Element, _ sink: String) throws {
    guard gst_element_link_pads(pointer, source, other.pointer, sink) != 0 else {
      throw ElementError(
        .core(GST_CORE_ERROR_NEGOTIATION), "\(name) and \(other.name) cannot be linked.")
    }
  }
}

extension ElementDeclaration {
  /// An element of the declared type, which the plugin has registered as a ``part``.
  public func makePart() throws -> Element {
    let type = g_type_from_name(typeName)
    guard type != 0, let object = g_object_new_with_properties(type, 0, nil, nil) else {
      throw ElementError(.core(GST_CORE_ERROR_FAILED), "\(name) could not be made.")
    }
    return Element(retaining: cast(object))
  }
}

extension Element {
  /// The Swift object of an element of this layer's making; nil for any other.
  public func implementation<Implementation: ElementSubclass>(
    _: Implementation.Type
  ) -> Implementation? {
    ElementSubclass.of(cast(pointer)) as? Implementation
  }

  /// The Swift object of an element of this layer's making; nil for any other.
  public func implementation<Implementation: ElementImplementation>(
    _: Implementation.Type
  ) -> Implementation? {
    ElementCore<Implementation>.of(ElementSubclass.of(cast(pointer)))?.implementation
  }
}
