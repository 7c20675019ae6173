internal import CGStreamer

/// A kind of meta of one's own: named fields on a buffer that video decoders and filters carry
/// along (`gst_meta_register_custom`).
public struct CustomMeta: PluginFeature {
  public let name: String

  /// A meta of this name. Call `register` once before the first use.
  public init(_ name: String) {
    self.name = name
  }

  /// Registers the name with the process; without tags, so that every copy keeps it.
  public func register() {
    guard gst_meta_get_info(name) == nil else { return }
    var tags: UnsafePointer<gchar>?
    gst_meta_register_custom(permanent(name), &tags, nil, nil, nil)
  }

  public func register(with plugin: PluginReference) -> Bool {
    register()
    return true
  }

  /// Sets fields on a buffer that nobody else holds; fields that are there already stay.
  public func set(_ fields: Fields, on buffer: Buffer) {
    let meta =
      gst_buffer_get_custom_meta(buffer.pointer, name)
      ?? gst_buffer_add_custom_meta(buffer.pointer, name)
    guard let meta, let structure = gst_custom_meta_get_structure(meta) else { return }
    for (field, value) in fields {
      value.withGValue { gst_structure_set_value(structure, field, $0) }
    }
  }

  /// Takes the meta off a buffer that nobody else holds.
  public func remove(from buffer: Buffer) {
    guard let meta = gst_buffer_get_custom_meta(buffer.pointer, name) else { return }
    gst_buffer_remove_meta(buffer.pointer, cast(meta))
  }

  /// The fields on a buffer, or nil where it has no such meta.
  public func fields(of buffer: Buffer) -> StructureView? {
    guard let meta = gst_buffer_get_custom_meta(buffer.pointer, name),
      let structure = gst_custom_meta_get_structure(meta)
    else { return nil }
    return StructureView(UnsafePointer(structure), in: buffer)
  }
}
