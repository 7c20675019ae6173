// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// An element that contains elements: `GstBin`.
///
/// Add the parts when the bin starts, and remove them when it stops; they change state with the
/// bin. `Streaming` holds what the bin needs between the two. No other function receives it, since
/// data passes only through the parts.
public protocol BinImplementation: ElementImplementation {}

extension BinImplementation {
  /// `GstBin`.
  public static var superclass: ElementSuperclass<Self> {
    ElementSuperclass(.bin) { ElementBox($0, try ElementCore<Self>($0)) }
  }

  private var bin: UnsafeMutablePointer<GstBin> { cast(gstElement) }

  /// Adds an element to the bin.
  public func addPart(_ element: Element) throws {
    guard gst_bin_add(bin, element.pointer) != 0 else {
      throw ElementError(.failed, "\(element.name) could not be added to the bin.")
    }
  }

  /// Stops an element and removes it from the bin.
  public func removePart(_ element: Element) {
    // Otherwise a change of the bin's state in another thread may start the element again.
    gst_element_set_locked_state(element.pointer, 1)
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
  /// Creates an element of the declared type, which the plugin must have registered as a ``part``.
  public func makePart() throws -> Element {
    let type = g_type_from_name(typeName)
    guard type != 0, let object = g_object_new_with_properties(type, 0, nil, nil) else {
      throw ElementError(.failed, "\(name) could not be created.")
    }
    return Element(retaining: cast(object))
  }
}

extension Element {
  /// Returns the Swift object of an element that was written with this library; nil for any other.
  public func implementation<Implementation: ElementImplementation>(
    _: Implementation.Type
  ) -> Implementation? {
    ElementCore<Implementation>.of(ElementBox.of(cast(pointer)))?.implementation
  }
}
