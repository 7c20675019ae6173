// SPDX-License-Identifier: LGPL-2.1-or-later

internal import CGStreamer

/// A reference to a GstMiniObject: one count, taken at `init` and given back at `deinit`.
///
/// Swift may release an object right behind its last use, which can be the reading of its pointer.
/// So a C function gets the pointer of a parameter or of `self`, which the caller keeps alive, or
/// from inside `withExtendedLifetime`; one that takes a reference over gets `retainedPointer()`.
public class MiniObject: @unchecked Sendable {
  let raw: UnsafeMutablePointer<GstMiniObject>
  private var isOwned = true

  init(adopting raw: UnsafeMutablePointer<GstMiniObject>) {
    self.raw = raw
  }

  deinit {
    if isOwned { gst_mini_object_unref(raw) }
  }

  /// The reference for a C function that takes it over. Where Swift has no other reference to the
  /// object, it is the object's own, so that whoever gets it may write into what only he holds.
  static func handOver<Object: MiniObject>(
    _ object: consuming Object
  ) -> UnsafeMutablePointer<GstMiniObject> {
    var object = object
    guard isKnownUniquelyReferenced(&object) else { return gst_mini_object_ref(object.raw) }
    object.disown()
    return object.raw
  }

  /// Gives up the reference without releasing it: it belonged to the caller all along.
  func disown() { isOwned = false }

  /// Whether nobody else holds a reference, so that it may be changed in place.
  public var isWritable: Bool { gst_mini_object_is_writable(raw) != 0 }
}
