// SPDX-License-Identifier: MPL-2.0

/// A JSON value; objects keep the order of their keys.
package enum JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
  ExpressibleByNilLiteral
{
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([(String, JSON)])

  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(arrayLiteral elements: JSON...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSON)...) { self = .object(elements) }
  package init(nilLiteral: ()) { self = .null }

  package init(_ value: String?) { self = value.map { .string($0) } ?? .null }
  package init(_ value: (some BinaryInteger)?) {
    self = value.map { .integer(Int64(clamping: $0)) } ?? .null
  }
  /// Infinity and NaN, which JSON does not support, become null.
  package init(_ value: Double?) {
    self = value.flatMap { $0.isFinite ? .number($0) : nil } ?? .null
  }

  /// The value as JSON in one line.
  package var line: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .string(let value): value.doubleQuoted
    case .array(let items): "[" + items.map(\.line).joined(separator: ",") + "]"
    case .object(let fields):
      "{" + fields.map { "\($0.0.doubleQuoted):\($0.1.line)" }.joined(separator: ",") + "}"
    }
  }

  /// Returns the value as indented JSON, with a line for each field.
  package func text(indent: Int = 0) -> String {
    let inner = String(repeating: " ", count: indent + 2)
    let outer = String(repeating: " ", count: indent)
    switch self {
    case .array(let items) where !items.isEmpty:
      let lines = items.map { inner + $0.text(indent: indent + 2) }
      return "[\n" + lines.joined(separator: ",\n") + "\n\(outer)]"
    case .object(let fields) where !fields.isEmpty:
      let lines = fields.map { "\(inner)\($0.0.doubleQuoted): \($0.1.text(indent: indent + 2))" }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
    default: return line
    }
  }
}
