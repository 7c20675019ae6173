// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A name and named fields (`GstStructure`) inside an object such as caps, a message, an event or a
/// meta, which this view keeps alive.
public struct StructureView: CustomStringConvertible {
  let pointer: UnsafePointer<GstStructure>
  let owner: MiniObject

  init(_ pointer: UnsafePointer<GstStructure>, in owner: MiniObject) {
    self.pointer = pointer
    self.owner = owner
  }

  /// All fields, as in `gst-launch-1.0 -m`.
  public var description: String { adopt(gst_structure_to_string(pointer)) ?? "" }

  /// The name, such as a media type.
  public var name: String { String(cString: gst_structure_get_name(pointer)) }

  /// Returns a field; nil if it is missing or of a type that `Value` does not support.
  public subscript(field: String) -> Value? {
    gst_structure_get_value(pointer, field).flatMap { Value($0) }
  }

  /// The names of all fields, in order.
  public var fieldNames: [String] {
    (0..<gst_structure_n_fields(pointer)).compactMap { index in
      gst_structure_nth_field_name(pointer, UInt32(index)).map { String(cString: $0) }
    }
  }

  /// All fields of types that `Value` supports, in order.
  public var allFields: [(key: String, value: Value)] {
    fieldNames.compactMap { field in self[field].map { (field, $0) } }
  }

  /// Returns a field's value in `gst-launch-1.0` syntax; empty if it is missing.
  public func text(_ field: String) -> String {
    guard let value = gst_structure_get_value(pointer, field) else { return "" }
    return adopt(gst_value_serialize(value)) ?? ""
  }

  /// Whether there is a field of this name.
  public func has(_ field: String) -> Bool { gst_structure_has_field(pointer, field) != 0 }

  /// Returns a Boolean field; nil if it is missing or of another type.
  public func bool(_ field: String) -> Bool? {
    guard case .bool(let value) = self[field] else { return nil }
    return value
  }

  /// Returns an integer field; nil if it is missing, of another type, or does not fit.
  public func int(_ field: String) -> Int? {
    switch self[field] {
    case .int(let value): Int(value)
    case .uint(let value): Int(value)
    case .int64(let value): Int(value)
    case .uint64(let value): Int(exactly: value)
    default: nil
    }
  }

  /// Returns a double field; nil if it is missing or of another type.
  public func double(_ field: String) -> Double? {
    guard case .double(let value) = self[field] else { return nil }
    return value
  }

  /// Returns a string field; nil if it is missing or of another type.
  public func string(_ field: String) -> String? {
    guard case .string(let value) = self[field] else { return nil }
    return value
  }

  /// Returns a fraction field; nil if it is missing or of another type.
  public func fraction(_ field: String) -> Fraction? {
    guard case .fraction(let value) = self[field] else { return nil }
    return value
  }

  /// Returns the names of the flags set in a flagset field; empty if it is of another type.
  /// GStreamer ignores flags that are a plain string, such as `multiview-flags=right-view-first` in
  /// caps without a type.
  public func flagNames(_ field: String) -> [String] {
    guard let value = gst_structure_get_value(pointer, field),
      g_type_check_value_holds(value, gst_flagset_get_type()) != 0
    else { return [] }
    // Serialized, it is "4001:ffffffff:+right-view-first/left-flipped+half-aspect": set flags have
    // a plus sign, unset ones a slash.
    let names = (adopt(gst_value_serialize(value)) ?? "").split(separator: ":").last ?? ""
    return names.split(separator: "+").compactMap { name in
      name.hasPrefix("/") ? nil : name.prefix { $0 != "/" }
    }.map(String.init)
  }

  /// Returns a buffer field; nil if it is missing or of another type.
  public func buffer(_ field: String) -> Buffer? {
    guard case .buffer(let value) = self[field] else { return nil }
    return value
  }

  /// Returns a field that is a structure; nil if it is missing or of another type.
  public func structure(_ field: String) -> StructureView? {
    guard let value = gst_structure_get_value(pointer, field),
      g_type_check_value_holds(value, gst_structure_get_type()) != 0,
      let inner = gst_value_get_structure(value)
    else { return nil }
    return StructureView(inner, in: owner)
  }
}

/// Fields of a structure, in order.
public typealias Fields = KeyValuePairs<String, Value>

/// Creates a GstStructure with these fields, which the caller owns.
func makeStructure(_ name: String, _ fields: some Sequence<(key: String, value: Value)>)
  -> UnsafeMutablePointer<GstStructure>?
{
  guard let structure = gst_structure_new_empty(name) else { return nil }
  for (field, value) in fields {
    value.withGValue { gst_structure_set_value(structure, field, $0) }
  }
  return structure
}

extension StructureView {
  /// Whether a text is a structure in `gst-launch-1.0` syntax.
  public static func isStructure(_ text: String) -> Bool {
    guard let structure = gst_structure_from_string(text, nil) else { return false }
    gst_structure_free(structure)
    return true
  }
}
