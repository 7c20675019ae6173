// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

extension TagList {
  /// Adds bytes and what they are, behind the others that the tag has.
  public func append(
    _ tag: String, _ content: Buffer, name: String, _ fields: [(key: String, value: Value)]
  ) {
    guard let information = makeStructure(name, fields),
      let sample = gst_sample_new(content.pointer, nil, nil, information)
    else { return }
    var value = GValue()
    g_value_init(&value, gst_sample_get_type())
    g_value_take_boxed(&value, UnsafeMutableRawPointer(sample))
    gst_tag_list_add_value(pointer, GST_TAG_MERGE_APPEND, tag, &value)
    g_value_unset(&value)
  }

  /// All bytes of a tag for which it says what they are.
  public func samples(_ tag: String) -> [(content: Buffer, information: StructureView)] {
    (0..<gst_tag_list_get_tag_size(pointer, tag)).compactMap { index in
      var sample: OpaquePointer?
      guard gst_tag_list_get_sample_index(pointer, tag, index, &sample) != 0, let sample else {
        return nil
      }
      // The list has a reference of its own.
      defer { gst_sample_unref(sample) }
      guard let content = gst_sample_get_buffer(sample),
        let information = gst_sample_get_info(sample)
      else { return nil }
      return (Buffer(retaining: content), StructureView(information, in: self))
    }
  }

  /// These tags without some.
  public func removing(_ tags: [String]) -> TagList {
    guard let copy = gst_tag_list_copy(pointer) else { return TagList() }
    for tag in tags { gst_tag_list_remove_tag(copy, tag) }
    return TagList(adopting: copy)
  }
}
