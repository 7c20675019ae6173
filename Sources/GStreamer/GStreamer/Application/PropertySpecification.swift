// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The specification of a class's property: `GParamSpec`.
public struct PropertySpecification: Sendable {
  /// The type and range of a property's values.
  public enum Kind: Sendable {
    case boolean
    case integer(ClosedRange<Int64>)
    case unsigned(ClosedRange<UInt64>)
    case number(ClosedRange<Double>)
    case string
    /// One of these values.
    case enumeration([Nick])
    /// Any combination of these values.
    case flags([Nick])
    case caps
    case fraction
    case structure
    case array
    /// A type without a text representation, by name.
    case other(String)
  }

  /// A value of an enumeration or a flag.
  public struct Nick: Sendable {
    /// The name in text.
    public let nick: String
    /// The number.
    public let value: Int64
  }

  /// The name of the property.
  public let name: String
  /// The type and range of its values.
  public let kind: Kind
  /// A sentence that describes the property.
  public let blurb: String
  /// Whether it can be set after the object was created.
  public let isWritable: Bool

  /// The property that every pad has: `GstPad:offset`, whose own description has no unit.
  static let padOffset = PropertySpecification(
    name: "offset", kind: .integer(Int64.min...Int64.max),
    blurb: "Nanoseconds that are added to the running time of the data", isWritable: true)

  private init(name: String, kind: Kind, blurb: String, isWritable: Bool) {
    self.name = name
    self.kind = kind
    self.blurb = blurb
    self.isWritable = isWritable
  }

  /// Returns the properties of a class, without those of `stop` and its base classes.
  static func all(of type: GType, without stop: GType) -> [PropertySpecification] {
    guard let raw = g_type_class_ref(type) else { return [] }
    defer { g_type_class_unref(raw) }
    var count: UInt32 = 0
    let list = g_object_class_list_properties(
      raw.assumingMemoryBound(to: GObjectClass.self), &count)
    defer { g_free(list) }
    guard let list else { return [] }
    return (0..<Int(count)).compactMap { index in
      guard let spec = list[index], g_type_is_a(stop, spec.pointee.owner_type) == 0 else {
        return nil
      }
      return PropertySpecification(spec)
    }
  }

  private init(_ spec: UnsafeMutablePointer<GParamSpec>) {
    let flags = cgst_param_spec_flags(spec)
    name = String(cString: spec.pointee.name)
    isWritable = flags & cgst_param_writable != 0 && flags & cgst_param_construct_only == 0
    blurb = g_param_spec_get_blurb(spec).map { String(cString: $0) } ?? ""
    kind = Kind(g_param_spec_get_redirect_target(spec) ?? spec)
  }
}

extension PropertySpecification.Kind {
  fileprivate init(_ spec: UnsafeMutablePointer<GParamSpec>) {
    let type = spec.pointee.value_type
    switch type {
    case gst_caps_get_type(): self = .caps
    case gst_fraction_get_type(): self = .fraction
    case gst_structure_get_type(): self = .structure
    case gst_value_array_get_type(), gst_value_list_get_type(): self = .array
    default: self = Self(spec, fundamental: g_type_fundamental(type))
    }
  }

  private init(_ spec: UnsafeMutablePointer<GParamSpec>, fundamental: GType) {
    func limits<Spec>(as: Spec.Type) -> Spec {
      UnsafeMutableRawPointer(spec).assumingMemoryBound(to: Spec.self).pointee
    }
    func range<Bound: Comparable>(_ low: Bound, _ high: Bound) -> ClosedRange<Bound> {
      low...max(low, high)
    }
    switch fundamental {
    case cgst_type_boolean(): self = .boolean
    case cgst_type_int():
      let spec = limits(as: GParamSpecInt.self)
      self = .integer(range(Int64(spec.minimum), Int64(spec.maximum)))
    case cgst_type_int64():
      let spec = limits(as: GParamSpecInt64.self)
      self = .integer(range(Int64(spec.minimum), Int64(spec.maximum)))
    case cgst_type_long():
      let spec = limits(as: GParamSpecLong.self)
      self = .integer(range(Int64(spec.minimum), Int64(spec.maximum)))
    case cgst_type_uint():
      let spec = limits(as: GParamSpecUInt.self)
      self = .unsigned(range(UInt64(spec.minimum), UInt64(spec.maximum)))
    case cgst_type_uint64():
      let spec = limits(as: GParamSpecUInt64.self)
      self = .unsigned(range(UInt64(spec.minimum), UInt64(spec.maximum)))
    case cgst_type_ulong():
      let spec = limits(as: GParamSpecULong.self)
      self = .unsigned(range(UInt64(spec.minimum), UInt64(spec.maximum)))
    case cgst_type_double():
      let spec = limits(as: GParamSpecDouble.self)
      self = .number(range(spec.minimum, spec.maximum))
    case cgst_type_float():
      let spec = limits(as: GParamSpecFloat.self)
      self = .number(range(Double(spec.minimum), Double(spec.maximum)))
    case cgst_type_string(): self = .string
    case cgst_type_enum(): self = .enumeration(Self.values(of: spec.pointee.value_type))
    case cgst_type_flags(): self = .flags(Self.flags(of: spec.pointee.value_type))
    default: self = .other(String(cString: g_type_name(spec.pointee.value_type)))
    }
  }

  private static func values(of type: GType) -> [PropertySpecification.Nick] {
    guard let raw = g_type_class_ref(type) else { return [] }
    defer { g_type_class_unref(raw) }
    let content = raw.assumingMemoryBound(to: GEnumClass.self).pointee
    return (0..<Int(content.n_values)).map { index in
      let value = content.values[index]
      return .init(nick: String(cString: value.value_nick), value: Int64(value.value))
    }
  }

  private static func flags(of type: GType) -> [PropertySpecification.Nick] {
    guard let raw = g_type_class_ref(type) else { return [] }
    defer { g_type_class_unref(raw) }
    let content = raw.assumingMemoryBound(to: GFlagsClass.self).pointee
    return (0..<Int(content.n_values)).map { index in
      let value = content.values[index]
      return .init(nick: String(cString: value.value_nick), value: Int64(value.value))
    }
  }
}
