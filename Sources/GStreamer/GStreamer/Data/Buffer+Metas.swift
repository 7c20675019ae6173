// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

extension BufferAccess where Self: ~Copyable {
  /// Takes the metas of another buffer that hold for what was made of its picture, as GstVideoEncoder
  /// and GstVideoDecoder do: time codes, captions, reference timestamps, custom metas, and whatever
  /// else says nothing of the memory.
  ///
  /// - Parameters:
  ///   - other: the buffer that has them.
  ///   - isResized: leaves out those that say something of sizes and places in the picture.
  public func copyMetas(from other: borrowing some BufferAccess & ~Copyable, isResized: Bool = false) {
    let copying = g_quark_from_string("gst-copy")
    var whole = GstMetaTransformCopy(region: 0, offset: 0, size: .max)
    var state: gpointer?
    while let meta = gst_buffer_iterate_meta(other.pointer, &state) {
      guard let info = meta.pointee.info, let transform = info.pointee.transform_func,
        holds(info.pointee.api, isResized: isResized)
      else { continue }
      _ = transform(pointer, meta, other.pointer, copying, &whole)
    }
  }
}

/// Whether metas of this kind say nothing but what still holds, by their tags.
private func holds(_ api: GType, isResized: Bool) -> Bool {
  guard var tag = gst_meta_api_type_get_tags(api) else { return true }
  while let name = tag.pointee {
    guard
      g_strcmp0(name, GST_META_TAG_VIDEO_STR) == 0
        || g_strcmp0(name, GST_META_TAG_VIDEO_ORIENTATION_STR) == 0
        || !isResized && g_strcmp0(name, GST_META_TAG_VIDEO_SIZE_STR) == 0
    else { return false }
    tag += 1
  }
  return true
}
