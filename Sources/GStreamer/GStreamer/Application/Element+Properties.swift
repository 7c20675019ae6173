// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

extension Element {
  /// Sets a property from a text: a number, `true`, a nick, caps, a structure, `<a, b>`.
  ///
  /// - Throws: an ``ElementError`` where there is no such property, or the text is none of its
  ///   values.
  public func set(_ property: String, parsing text: String) throws {
    try Self.set(property, parsing: text, on: cast(pointer))
  }

  static func set(
    _ property: String, parsing text: String, on object: UnsafeMutablePointer<GObject>
  ) throws {
    let objectClass = UnsafeMutableRawPointer(object).assumingMemoryBound(
      to: UnsafeMutablePointer<GObjectClass>.self
    ).pointee
    guard let spec = g_object_class_find_property(objectClass, property) else {
      throw ElementError(.settings, "There is no property '\(property)'.")
    }
    var value = GValue()
    g_value_init(&value, spec.pointee.value_type)
    defer { g_value_unset(&value) }
    if spec.pointee.value_type == cgst_type_string() {
      g_value_set_string(&value, text)
    } else if gst_value_deserialize_with_pspec(&value, text, spec) == 0 {
      throw ElementError(.settings, "'\(text)' is no value of '\(property)'.")
    }
    // What is out of range, GObject would leave out, with a warning in the log.
    guard g_param_value_validate(spec, &value) == 0 else {
      throw ElementError(.settings, "'\(text)' is out of the range of '\(property)'.")
    }
    g_object_set_property(object, property, &value)
  }
}

extension Pad {
  /// Sets a property of the pad from a text, as ``Element/set(_:parsing:)`` does.
  public func set(_ property: String, parsing text: String) throws {
    try Element.set(property, parsing: text, on: cast(pointer))
  }
}
