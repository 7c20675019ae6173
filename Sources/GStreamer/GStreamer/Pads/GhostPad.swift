// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A pad of a bin that stands for a pad of one of its parts.
public final class GhostPad: Pad, @unchecked Sendable {
  /// A ghost of nothing yet, made from a template of the bin's class.
  public convenience init(_ instance: ElementInstance, template name: String) throws {
    guard
      let template = gst_element_class_get_pad_template(instance.pointer.elementClass, name),
      let pad = gst_ghost_pad_new_no_target_from_template(name, template)
    else {
      throw ElementError(.pad, "The pad \(name) could not be made.")
    }
    // A new pad's reference is floating.
    self.init(adopting: gst_object_ref_sink(pad).assumingMemoryBound(to: GstPad.self))
  }

  /// Stands for a pad from now on, or for none.
  public func setTarget(_ target: Pad?) throws {
    guard gst_ghost_pad_set_target(cast(pointer), target?.pointer) != 0 else {
      throw ElementError(
        .pad, "\(name) cannot stand for \(target?.name ?? "no pad").")
    }
  }
}
