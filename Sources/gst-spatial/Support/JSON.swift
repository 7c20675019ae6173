// SPDX-License-Identifier: MPL-2.0

/// A JSON value whose keys keep their order.
enum JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([(String, JSON)])

  init(stringLiteral value: String) { self = .string(value) }
  init(integerLiteral value: Int64) { self = .integer(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(arrayLiteral elements: JSON...) { self = .array(elements) }
  init(dictionaryLiteral elements: (String, JSON)...) { self = .object(elements) }
  init(nilLiteral: ()) { self = .null }

  init(_ value: String?) { self = value.map { .string($0) } ?? .null }
  init(_ value: Bool?) { self = value.map { .bool($0) } ?? .null }
  init(_ value: (some BinaryInteger)?) {
    self = value.map { .integer(Int64(clamping: $0)) } ?? .null
  }
  /// JSON has neither infinity nor "not a number".
  init(_ value: Double?) { self = value.flatMap { $0.isFinite ? .number($0) : nil } ?? .null }

  /// In one line.
  var line: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .string(let value): Self.quoted(value)
    case .array(let items): "[" + items.map(\.line).joined(separator: ",") + "]"
    case .object(let fields):
      "{" + fields.map { "\(Self.quoted($0.0)):\($0.1.line)" }.joined(separator: ",") + "}"
    }
  }

  /// For people too: a line for each field.
  func text(indent: Int = 0) -> String {
    let inner = String(repeating: " ", count: indent + 2)
    let outer = String(repeating: " ", count: indent)
    switch self {
    case .array(let items) where !items.isEmpty:
      let lines = items.map { inner + $0.text(indent: indent + 2) }
      return "[\n" + lines.joined(separator: ",\n") + "\n\(outer)]"
    case .object(let fields) where !fields.isEmpty:
      let lines = fields.map { "\(inner)\(Self.quoted($0.0)): \($0.1.text(indent: indent + 2))" }
      return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
    default: return line
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      default:
        if scalar.value < 0x20 || scalar.value == 0x7F {
          let digits = String(scalar.value, radix: 16)
          result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }
}
