// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A name and named fields, inside something else (caps, a message, an event, a meta) that lives as
/// long as this view.
public struct StructureView {
  let pointer: UnsafePointer<GstStructure>
  let owner: MiniObject

  init(_ pointer: UnsafePointer<GstStructure>, in owner: MiniObject) {
    self.pointer = pointer
    self.owner = owner
  }

  /// The name, such as a media type.
  public var name: String { String(cString: gst_structure_get_name(pointer)) }

  /// The field of this name, or nil if it is absent or of a type that `Value` does not know.
  public subscript(field: String) -> Value? {
    gst_structure_get_value(pointer, field).flatMap { Value($0) }
  }

  /// The names of all fields, in order.
  public var fieldNames: [String] {
    (0..<gst_structure_n_fields(pointer)).compactMap { index in
      gst_structure_nth_field_name(pointer, UInt32(index)).map { String(cString: $0) }
    }
  }

  /// All fields of types that `Value` knows, in order.
  public var allFields: [(key: String, value: Value)] {
    fieldNames.compactMap { field in self[field].map { (field, $0) } }
  }

  /// A field's value as gst-launch writes it; empty where there is none.
  public func text(_ field: String) -> String {
    guard let value = gst_structure_get_value(pointer, field) else { return "" }
    return adopt(gst_value_serialize(value)) ?? ""
  }

  public func has(_ field: String) -> Bool { gst_structure_has_field(pointer, field) != 0 }

  public func bool(_ field: String) -> Bool? {
    guard case .bool(let value) = self[field] else { return nil }
    return value
  }

  public func int(_ field: String) -> Int? {
    switch self[field] {
    case .int(let value): Int(value)
    case .uint(let value): Int(value)
    case .int64(let value): Int(value)
    case .uint64(let value): Int(exactly: value)
    default: nil
    }
  }

  public func double(_ field: String) -> Double? {
    guard case .double(let value) = self[field] else { return nil }
    return value
  }

  public func string(_ field: String) -> String? {
    guard case .string(let value) = self[field] else { return nil }
    return value
  }

  public func fraction(_ field: String) -> Fraction? {
    guard case .fraction(let value) = self[field] else { return nil }
    return value
  }

  /// The names of the flags that are set in a field of flags; empty where it is none: text alone, as
  /// `multiview-flags=right-view-first` is in caps without a type, says nothing to GStreamer.
  public func flagNames(_ field: String) -> [String] {
    guard let value = gst_structure_get_value(pointer, field),
      g_type_check_value_holds(value, gst_flagset_get_type()) != 0
    else { return [] }
    // As text it is "4001:ffffffff:+right-view-first/left-flipped+half-aspect": with a plus what is
    // set, with a slash what is not.
    let names = (adopt(gst_value_serialize(value)) ?? "").split(separator: ":").last ?? ""
    return names.split(separator: "+").compactMap { name in
      name.hasPrefix("/") ? nil : name.prefix { $0 != "/" }
    }.map(String.init)
  }

  public func buffer(_ field: String) -> Buffer? {
    guard case .buffer(let value) = self[field] else { return nil }
    return value
  }
}

/// The fields of a structure in the order they are written.
public typealias Fields = KeyValuePairs<String, Value>

/// A new GstStructure with these fields, for the caller to give away.
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
  /// Whether a text is a structure as gst-launch writes it.
  public static func isStructure(_ text: String) -> Bool {
    guard let structure = gst_structure_from_string(text, nil) else { return false }
    gst_structure_free(structure)
    return true
  }
}
