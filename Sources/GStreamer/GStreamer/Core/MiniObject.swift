// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A reference to a GstMiniObject, owned from `init` to `deinit`.
///
/// Swift may release an object right after its last use, which can be the access to its pointer. So
/// a C function gets the pointer of a parameter or of `self`, which the caller keeps alive, or one
/// from inside `withExtendedLifetime`; a function that takes over a reference gets
/// `retainedPointer()`.
public class MiniObject: @unchecked Sendable {
  private(set) var raw: UnsafeMutablePointer<GstMiniObject>
  private var isOwned = true

  init(adopting raw: UnsafeMutablePointer<GstMiniObject>) {
    self.raw = raw
  }

  deinit {
    if isOwned { gst_mini_object_unref(raw) }
  }

  /// Returns a reference for a C function that takes it over. If Swift has no other reference to
  /// the object, this is the object's own one, so that the receiver holds the only reference and
  /// may write in place.
  static func handOver<Object: MiniObject>(
    _ object: consuming Object
  ) -> UnsafeMutablePointer<GstMiniObject> {
    var object = object
    guard isKnownUniquelyReferenced(&object) else { return gst_mini_object_ref(object.raw) }
    object.disown()
    return object.raw
  }

  /// Gives up the reference without releasing it, after another owner has taken it over.
  private func disown() { isOwned = false }

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

  /// Whether this is the only reference, so that the object may be modified in place.
  public var isWritable: Bool { gst_mini_object_is_writable(raw) != 0 }
}

/// A reusable Swift object for successive C objects, which saves an allocation for each. For
/// functions that are called by one thread at a time.
struct ReusedObject<Object: MiniObject> {
  private var spare: Object?

  init() {}

  /// Returns an object that has taken over the caller's reference.
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

/// Casts to a base class or a subclass, like GObject's cast macros.
func cast<From, To>(_ pointer: UnsafeMutablePointer<From>) -> UnsafeMutablePointer<To> {
  UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: To.self)
}

/// Converts a C string owned by the caller, and frees it.
func adopt(_ string: UnsafeMutablePointer<CChar>?) -> String? {
  guard let string else { return nil }
  defer { g_free(string) }
  return String(cString: string)
}

/// Returns a C string that is never freed, for type names, nicks and descriptions.
func permanent(_ string: String) -> UnsafePointer<CChar> {
  UnsafePointer(g_intern_string(string))
}
