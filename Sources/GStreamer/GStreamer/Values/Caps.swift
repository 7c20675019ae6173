// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// What a pad can carry, or carries: media types with fields.
public final class Caps: MiniObject, @unchecked Sendable, CustomStringConvertible {
  package var pointer: UnsafeMutablePointer<GstCaps> { cast(raw) }

  /// Takes over the caller's reference.
  package init(adopting pointer: UnsafeMutablePointer<GstCaps>) {
    super.init(adopting: cast(pointer))
  }

  /// Adds a reference.
  package convenience init(retaining pointer: UnsafeMutablePointer<GstCaps>) {
    self.init(adopting: gst_caps_ref(pointer))
  }

  /// One media type with these fields.
  public convenience init(_ mediaType: String, _ fields: Fields = [:]) {
    self.init(mediaType, Array(fields))
  }

  /// One media type with these fields.
  public convenience init(_ mediaType: String, _ fields: [(key: String, value: Value)]) {
    self.init(adopting: gst_caps_new_empty())
    append(mediaType, fields)
  }

  /// Caps as gst-launch writes them, or nil where that is no caps.
  public convenience init?(parsing description: String) {
    guard let pointer = gst_caps_from_string(description) else { return nil }
    self.init(adopting: pointer)
  }

  /// Caps that nothing matches.
  public static var empty: Caps { Caps(adopting: gst_caps_new_empty()) }
  /// Caps that everything matches.
  public static var any: Caps { Caps(adopting: gst_caps_new_any()) }

  public var isEmpty: Bool { gst_caps_is_empty(pointer) != 0 }
  public var isAny: Bool { gst_caps_is_any(pointer) != 0 }
  public var isFixed: Bool { gst_caps_is_fixed(pointer) != 0 }

  /// The alternatives, best first.
  public var structures: [StructureView] {
    (0..<gst_caps_get_size(pointer)).compactMap { index in
      gst_caps_get_structure(pointer, index).map { StructureView(UnsafePointer($0), in: self) }
    }
  }

  /// The first alternative; fixed caps have just this one.
  public var first: StructureView? { structures.first }

  /// The media type of the first alternative.
  public var mediaType: String? { first?.name }

  /// Adds an alternative behind the others. Only for caps that nobody else holds.
  public func append(_ mediaType: String, _ fields: [(key: String, value: Value)]) {
    guard let structure = makeStructure(mediaType, fields) else { return }
    gst_caps_append_structure(pointer, structure)
  }

  /// Adds the alternatives of other caps behind these. Only for caps that nobody else holds.
  public func append(_ other: Caps) {
    gst_caps_append(pointer, other.retainedPointer())
  }

  public func intersection(_ other: Caps) -> Caps {
    Caps(adopting: gst_caps_intersect_full(pointer, other.pointer, GST_CAPS_INTERSECT_FIRST))
  }

  public func canIntersect(_ other: Caps) -> Bool {
    gst_caps_can_intersect(pointer, other.pointer) != 0
  }

  public func isSubset(of other: Caps) -> Bool { gst_caps_is_subset(pointer, other.pointer) != 0 }

  public func isEqual(to other: Caps) -> Bool { gst_caps_is_equal(pointer, other.pointer) != 0 }

  /// A copy in which every alternative has these fields, and none of `removed`.
  public func with(_ fields: Fields = [:], removing removed: [String] = []) -> Caps {
    let copy = Caps(adopting: gst_caps_copy(pointer))
    for index in 0..<gst_caps_get_size(copy.pointer) {
      guard let structure = gst_caps_get_structure(copy.pointer, index) else { continue }
      for field in removed { gst_structure_remove_field(structure, field) }
      for (field, value) in fields {
        value.withGValue { gst_structure_set_value(structure, field, $0) }
      }
    }
    return copy
  }

  /// The first alternative with one field narrowed to what is nearest to `value`; the field is set
  /// where it is missing.
  public func fixating(_ field: String, _ value: Value) -> Caps {
    guard !isEmpty, !isAny else { return self }
    let result = Caps(adopting: gst_caps_truncate(gst_caps_copy(pointer)))
    guard let structure = gst_caps_get_structure(result.pointer, 0) else { return result }
    guard gst_structure_has_field(structure, field) != 0 else { return result.with([field: value]) }
    switch value {
    case .int(let number): gst_structure_fixate_field_nearest_int(structure, field, number)
    case .fraction(let fraction):
      gst_structure_fixate_field_nearest_fraction(
        structure, field, fraction.numerator, fraction.denominator)
    case .string(let string): gst_structure_fixate_field_string(structure, field, string)
    default: break
    }
    return result
  }

  /// The first alternative, its ranges and lists narrowed to one value each.
  public func fixated() -> Caps {
    guard !isEmpty, !isAny else { return self }
    return Caps(adopting: gst_caps_fixate(gst_caps_copy(pointer)))
  }

  /// One reference more, for a C function that takes it over.
  func retainedPointer() -> UnsafeMutablePointer<GstCaps> { gst_caps_ref(pointer) }

  public var description: String { adopt(gst_caps_to_string(pointer)) ?? "" }
}
