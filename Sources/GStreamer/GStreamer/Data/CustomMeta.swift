// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// An application-defined meta: named fields on a buffer that video decoders and filters preserve
/// (`gst_meta_register_custom`).
public struct CustomMeta: PluginFeature, @unchecked Sendable {
  /// The name of the meta.
  public let name: String
  /// The name as a C string that is never freed.
  private let cName: UnsafePointer<CChar>

  /// Declares a meta. Call `register` once before the first use.
  public init(_ name: String) {
    self.name = name
    cName = permanent(name)
  }

  /// Registers the name in this process, without tags, so that every copy of a buffer keeps the
  /// meta.
  public func register() {
    guard gst_meta_get_info(cName) == nil else { return }
    var tags: UnsafePointer<gchar>?
    gst_meta_register_custom(cName, &tags, nil, nil, nil)
  }

  /// Registers the meta; always succeeds.
  public func register(with plugin: PluginReference) -> Bool {
    register()
    return true
  }

  /// Sets fields on a buffer with no other owner; other fields of its meta stay.
  public func set(_ fields: Fields, on buffer: borrowing some BufferAccess & ~Copyable) {
    guard let structure = structure(on: buffer) else { return }
    for (field, value) in fields {
      value.withGValue { gst_structure_set_value(structure, field, $0) }
    }
  }

  /// Removes the meta from a buffer with no other owner.
  public func remove(from buffer: borrowing some BufferAccess & ~Copyable) {
    guard let meta = gst_buffer_get_custom_meta(buffer.pointer, cName) else { return }
    gst_buffer_remove_meta(buffer.pointer, cast(meta))
  }

  /// Sets a field to a string constant, which is not copied.
  public func set(
    _ field: StaticString, _ text: StaticString, on buffer: borrowing some BufferAccess & ~Copyable
  ) {
    guard let structure = structure(on: buffer) else { return }
    guard field.hasPointerRepresentation, text.hasPointerRepresentation else {
      return set([field.description: .string(text.description)], on: buffer)
    }
    // String constants are null-terminated.
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

  /// Returns the fields on a buffer; nil if it has no such meta.
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
