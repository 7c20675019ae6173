internal import CGStreamer

/// A reference to a GstMiniObject: one count, taken at `init` and given back at `deinit`.
public class MiniObject: @unchecked Sendable {
  let raw: UnsafeMutablePointer<GstMiniObject>
  private var isOwned = true

  init(adopting raw: UnsafeMutablePointer<GstMiniObject>) {
    self.raw = raw
  }

  deinit {
    if isOwned { gst_mini_object_unref(raw) }
  }

  /// Gives up the reference without releasing it: it belonged to the caller all along.
  func disown() { isOwned = false }

  /// Whether nobody else holds a reference, so that it may be changed in place.
  public var isWritable: Bool { gst_mini_object_is_writable(raw) != 0 }
}
