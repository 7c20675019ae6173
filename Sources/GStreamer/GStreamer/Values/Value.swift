// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The value of a field of caps, a structure or a tag list.
public indirect enum Value: Sendable {
  case bool(Bool)
  case int(Int32)
  case uint(UInt32)
  case int64(Int64)
  case uint64(UInt64)
  case double(Double)
  case string(String)
  case fraction(Fraction)
  case intRange(ClosedRange<Int32>)
  case fractionRange(Fraction, Fraction)
  /// Flags as a number, such as speaker positions.
  case bitmask(UInt64)
  case buffer(Buffer)
  /// Alternatives, in order of preference: `{ a, b }`.
  case list([Value])
  /// An ordered array: `< a, b >`.
  case array([Value])
  /// A structure with its name and its fields, in order.
  case structure(String, [(key: String, value: Value)])
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral
{
  /// Creates a string value.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Creates an `int` value.
  public init(integerLiteral value: Int32) { self = .int(value) }
  /// Creates a Boolean value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }

  /// Creates a list of alternative strings.
  public static func strings(_ values: [String]) -> Value { .list(values.map(Value.string)) }
}

/// A ratio of two integers, such as 30000/1001 frames per second.
public struct Fraction: Equatable, Sendable {
  /// The upper number.
  public var numerator: Int32
  /// The lower number; not 0.
  public var denominator: Int32

  /// Creates a fraction, without reducing it.
  public init(_ numerator: Int32, _ denominator: Int32) {
    self.numerator = numerator
    self.denominator = denominator
  }
}

extension Value {
  /// Calls `body` with the value as a GValue that is valid only during the call.
  func withGValue<Result>(_ body: (UnsafeMutablePointer<GValue>) -> Result) -> Result {
    var value = GValue()
    return withUnsafeMutablePointer(to: &value) { pointer in
      initialise(pointer)
      defer { g_value_unset(pointer) }
      return body(pointer)
    }
  }

  private func initialise(_ value: UnsafeMutablePointer<GValue>) {
    switch self {
    case .bool(let content):
      g_value_init(value, cgst_type_boolean())
      g_value_set_boolean(value, content ? 1 : 0)
    case .int(let content):
      g_value_init(value, cgst_type_int())
      g_value_set_int(value, content)
    case .uint(let content):
      g_value_init(value, cgst_type_uint())
      g_value_set_uint(value, content)
    case .int64(let content):
      g_value_init(value, cgst_type_int64())
      g_value_set_int64(value, gint64(content))
    case .uint64(let content):
      g_value_init(value, cgst_type_uint64())
      g_value_set_uint64(value, guint64(content))
    case .double(let content):
      g_value_init(value, cgst_type_double())
      g_value_set_double(value, content)
    case .string(let content):
      g_value_init(value, cgst_type_string())
      g_value_set_string(value, content)
    case .fraction(let content):
      g_value_init(value, gst_fraction_get_type())
      gst_value_set_fraction(value, content.numerator, content.denominator)
    case .intRange(let range):
      g_value_init(value, gst_int_range_get_type())
      gst_value_set_int_range(value, range.lowerBound, range.upperBound)
    case .fractionRange(let low, let high):
      g_value_init(value, gst_fraction_range_get_type())
      gst_value_set_fraction_range_full(
        value, low.numerator, low.denominator, high.numerator, high.denominator)
    case .bitmask(let content):
      g_value_init(value, gst_bitmask_get_type())
      gst_value_set_bitmask(value, guint64(content))
    case .buffer(let buffer):
      g_value_init(value, gst_buffer_get_type())
      g_value_set_boxed(value, buffer.raw)
    case .list(let items):
      g_value_init(value, gst_value_list_get_type())
      for item in items { item.withGValue { gst_value_list_append_value(value, $0) } }
    case .array(let items):
      g_value_init(value, gst_value_array_get_type())
      for item in items { item.withGValue { gst_value_array_append_value(value, $0) } }
    case .structure(let name, let fields):
      g_value_init(value, gst_structure_get_type())
      g_value_take_boxed(value, makeStructure(name, fields))
    }
  }

  /// Converts a GValue; nil for an unsupported type.
  init?(_ value: UnsafePointer<GValue>) {
    switch value.pointee.g_type {
    case cgst_type_boolean(): self = .bool(g_value_get_boolean(value) != 0)
    case cgst_type_int(): self = .int(g_value_get_int(value))
    case cgst_type_uint(): self = .uint(g_value_get_uint(value))
    case cgst_type_int64(): self = .int64(Int64(g_value_get_int64(value)))
    case cgst_type_uint64(): self = .uint64(UInt64(g_value_get_uint64(value)))
    case cgst_type_double(): self = .double(g_value_get_double(value))
    case cgst_type_string():
      guard let string = g_value_get_string(value) else { return nil }
      self = .string(String(cString: string))
    case gst_fraction_get_type():
      self = .fraction(
        Fraction(
          gst_value_get_fraction_numerator(value), gst_value_get_fraction_denominator(value)))
    case gst_int_range_get_type():
      self = .intRange(gst_value_get_int_range_min(value)...gst_value_get_int_range_max(value))
    case gst_bitmask_get_type(): self = .bitmask(UInt64(gst_value_get_bitmask(value)))
    case gst_buffer_get_type():
      guard let boxed = g_value_get_boxed(value) else { return nil }
      self = .buffer(Buffer(retaining: boxed.assumingMemoryBound(to: GstBuffer.self)))
    case gst_value_list_get_type():
      self = .list(
        (0..<gst_value_list_get_size(value)).compactMap { index in
          gst_value_list_get_value(value, index).flatMap { Value($0) }
        })
    case gst_value_array_get_type():
      self = .array(
        (0..<gst_value_array_get_size(value)).compactMap { index in
          gst_value_array_get_value(value, index).flatMap { Value($0) }
        })
    case gst_structure_get_type():
      guard let structure = gst_value_get_structure(value) else { return nil }
      let fields = (0..<gst_structure_n_fields(structure)).compactMap { index in
        gst_structure_nth_field_name(structure, UInt32(index)).map { String(cString: $0) }
      }
      self = .structure(
        String(cString: gst_structure_get_name(structure)),
        fields.compactMap { field in
          gst_structure_get_value(structure, field).flatMap { Value($0) }.map { (field, $0) }
        })
    default: return nil
    }
  }
}

extension Fraction {
  /// Returns the product in lowest terms; this fraction if it does not fit.
  public func multiplied(by other: Fraction) -> Fraction {
    var numerator: Int32 = 0
    var denominator: Int32 = 0
    guard
      gst_util_fraction_multiply(
        self.numerator, max(self.denominator, 1), other.numerator, other.denominator, &numerator,
        &denominator) != 0
    else { return self }
    return Fraction(numerator, denominator)
  }
}
