// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A reference to a GstMiniObject: one count, taken at `init` and given back at `deinit`.
///
/// Swift may release an object right behind its last use, which can be the reading of its pointer.
/// So a C function gets the pointer of a parameter or of `self`, which the caller keeps alive, or
/// from inside `withExtendedLifetime`; one that takes a reference over gets `retainedPointer()`.
public class MiniObject: @unchecked Sendable {
  private(set) var raw: UnsafeMutablePointer<GstMiniObject>
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

  /// Gives up the reference without releasing it: it belongs to somebody else now.
  func disown() { isOwned = false }

  /// Releases the reference.
  fileprivate func release() {
    if isOwned { gst_mini_object_unref(raw) }
    isOwned = false
  }

  /// Takes over the caller's reference to another C object.
  fileprivate func replace(by raw: UnsafeMutablePointer<GstMiniObject>) {
    release()
    self.raw = raw
    isOwned = true
  }

  /// Whether nobody else holds a reference, so that it may be changed in place.
  public var isWritable: Bool { gst_mini_object_is_writable(raw) != 0 }
}

/// A Swift object for one C object after the other, as they come to a function that one thread at a
/// time calls, so that they do not cost an allocation each.
struct ReusedObject<Object: MiniObject> {
  private var spare: Object?

  init() {}

  /// An object with the caller's reference.
  mutating func take(
    _ raw: UnsafeMutablePointer<GstMiniObject>,
    _ make: (UnsafeMutablePointer<GstMiniObject>) -> Object
  ) -> Object {
    guard let object = spare.take() else { return make(raw) }
    object.replace(by: raw)
    return object
  }

  /// Releases the reference, unless something has kept the object.
  mutating func giveBack(_ object: consuming Object) {
    var object = object
    guard isKnownUniquelyReferenced(&object) else { return }
    object.release()
    spare = object
  }
}

/// The same object under the type of one of its base classes or subclasses: GObject's cast macros.
func cast<From, To>(_ pointer: UnsafeMutablePointer<From>) -> UnsafeMutablePointer<To> {
  UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: To.self)
}

/// A Swift string from a C string that GLib gave away.
func adopt(_ string: UnsafeMutablePointer<CChar>?) -> String? {
  guard let string else { return nil }
  defer { g_free(string) }
  return String(cString: string)
}

/// A C string that lives as long as the process: type names, nicks, descriptions.
func permanent(_ string: String) -> UnsafePointer<CChar> {
  UnsafePointer(g_intern_string(string))
}
