// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// An element made of elements: `GstBin`.
///
/// Put the parts in when the bin starts, and take them out when it stops: they change state with
/// the bin. `Streaming` is what the bin keeps between the two; no other function is handed it, since
/// data passes through the parts alone.
public protocol BinImplementation: ElementImplementation {}

extension BinImplementation {
  public static var superclass: ElementSuperclass<Self> {
    ElementSuperclass(.bin) { ElementBox($0, try ElementCore<Self>($0)) }
  }

  private var bin: UnsafeMutablePointer<GstBin> { cast(gstElement) }

  /// Takes an element in.
  public func addPart(_ element: Element) throws {
    guard gst_bin_add(bin, element.pointer) != 0 else {
      throw ElementError(.failed, "\(element.name) could not be put in.")
    }
  }

  /// Stops an element and takes it out.
  public func removePart(_ element: Element) {
    element.setState(.null)
    gst_bin_remove(bin, element.pointer)
  }
}

extension Element {
  /// Links a source pad of this element to a sink pad of another.
  public func link(_ source: String, to other: Element, _ sink: String) throws {
    guard gst_element_link_pads(pointer, source, other.pointer, sink) != 0 else {
      throw ElementError(
        .negotiation, "\(name) and \(other.name) cannot be linked.")
    }
  }
}

extension ElementDeclaration {
  /// An element of the declared type, which the plugin has registered as a ``part``.
  public func makePart() throws -> Element {
    let type = g_type_from_name(typeName)
    guard type != 0, let object = g_object_new_with_properties(type, 0, nil, nil) else {
      throw ElementError(.failed, "\(name) could not be made.")
    }
    return Element(retaining: cast(object))
  }
}

extension Element {
  /// The Swift object of an element of this layer's making; nil for any other.
  public func implementation<Implementation: ElementImplementation>(
    _: Implementation.Type
  ) -> Implementation? {
    ElementCore<Implementation>.of(ElementBox.of(cast(pointer)))?.implementation
  }
}
