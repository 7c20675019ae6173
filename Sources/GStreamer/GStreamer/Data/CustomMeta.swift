// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A kind of meta of one's own: named fields on a buffer that video decoders and filters carry
/// along (`gst_meta_register_custom`).
public struct CustomMeta: PluginFeature, @unchecked Sendable {
  public let name: String
  /// As C wants it, for as long as the process lives.
  private let cName: UnsafePointer<CChar>

  /// A meta of this name. Call `register` once before the first use.
  public init(_ name: String) {
    self.name = name
    cName = permanent(name)
  }

  /// Registers the name with the process; without tags, so that every copy keeps it.
  public func register() {
    guard gst_meta_get_info(cName) == nil else { return }
    var tags: UnsafePointer<gchar>?
    gst_meta_register_custom(cName, &tags, nil, nil, nil)
  }

  public func register(with plugin: PluginReference) -> Bool {
    register()
    return true
  }

  /// Sets fields on a buffer that nobody else holds; fields that are there already stay.
  public func set(_ fields: Fields, on buffer: borrowing some BufferAccess & ~Copyable) {
    guard let structure = structure(on: buffer) else { return }
    for (field, value) in fields {
      value.withGValue { gst_structure_set_value(structure, field, $0) }
    }
  }

  /// Takes the meta off a buffer that nobody else holds.
  public func remove(from buffer: borrowing some BufferAccess & ~Copyable) {
    guard let meta = gst_buffer_get_custom_meta(buffer.pointer, cName) else { return }
    gst_buffer_remove_meta(buffer.pointer, cast(meta))
  }

  /// The same for one field of text that the program has in it, which is not copied.
  public func set(
    _ field: StaticString, _ text: StaticString, on buffer: borrowing some BufferAccess & ~Copyable
  ) {
    guard let structure = structure(on: buffer) else { return }
    guard field.hasPointerRepresentation, text.hasPointerRepresentation else {
      return set([field.description: .string(text.description)], on: buffer)
    }
    // The texts of a program end with a zero.
    var value = GValue()
    g_value_init(&value, cgst_type_string())
    g_value_set_interned_string(&value, g_intern_static_string(text.cString))
    gst_structure_set_value(structure, field.cString, &value)
    g_value_unset(&value)
  }

  private func structure(
    on buffer: borrowing some BufferAccess & ~Copyable
  ) -> UnsafeMutablePointer<GstStructure>? {
    (gst_buffer_get_custom_meta(buffer.pointer, cName)
      ?? gst_buffer_add_custom_meta(buffer.pointer, cName))
      .flatMap { gst_custom_meta_get_structure($0) }
  }

  /// The fields on a buffer, or nil where it has no such meta.
  public func fields(of buffer: Buffer) -> StructureView? {
    guard let meta = gst_buffer_get_custom_meta(buffer.pointer, cName),
      let structure = gst_custom_meta_get_structure(meta)
    else { return nil }
    return StructureView(UnsafePointer(structure), in: buffer)
  }
}

extension StaticString {
  fileprivate var cString: UnsafePointer<CChar> {
    UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
  }
}
