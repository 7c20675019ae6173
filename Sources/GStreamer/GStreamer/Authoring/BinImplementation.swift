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
