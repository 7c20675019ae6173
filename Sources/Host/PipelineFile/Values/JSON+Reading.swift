// SPDX-License-Identifier: MPL-2.0

extension JSON {
  /// The reason that a text is not JSON, with the position of the byte.
  package struct Malformed: Error, CustomStringConvertible {
    package let description: String
  }

  /// Reads a text (RFC 8259).
  ///
  /// - Throws: ``Malformed`` if it is not JSON, or nested deeper than 64 levels.
  package init(parsing bytes: [UInt8]) throws(Malformed) {
    var reader = JSONReader(bytes)
    self = try reader.document()
  }

  /// Returns a field of an object, the last one of that name; nil if there is none.
  package subscript(field: String) -> JSON? {
    guard case .object(let fields) = self else { return nil }
    return fields.last { $0.0 == field }?.1
  }

  /// The text; nil for any other value.
  package var text: String? { if case .string(let text) = self { text } else { nil } }

  /// The whole number; nil for any other value.
  package var whole: Int64? { if case .integer(let number) = self { number } else { nil } }

  /// The number, whole or not; nil for any other value.
  package var decimal: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }

  /// The items of an array; nil for any other value.
  package var items: [JSON]? { if case .array(let items) = self { items } else { nil } }
}

private struct JSONReader {
  private let bytes: [UInt8]
  private var position = 0

  private static let depthLimit = 64

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func document() throws(JSON.Malformed) -> JSON {
    let value = try value(depth: 0)
    skipSpace()
    guard position == bytes.count else { throw failure("the end") }
    return value
  }

  private func failure(_ expected: String) -> JSON.Malformed {
    JSON.Malformed(description: "\(expected) is expected at byte \(position)")
  }

  private mutating func skipSpace() {
    while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
      position += 1
    }
  }

  /// Takes these characters if they are next.
  private mutating func take(_ text: StaticString) -> Bool {
    let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    guard bytes[position...].starts(with: wanted) else { return false }
    position += wanted.count
    return true
  }

  private mutating func value(depth: Int) throws(JSON.Malformed) -> JSON {
    guard depth < Self.depthLimit else { throw failure("less nesting") }
    skipSpace()
    guard position < bytes.count else { throw failure("a value") }
    switch bytes[position] {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-"), 0x30...0x39: return try number()
    default:
      if take("true") { return true }
      if take("false") { return false }
      if take("null") { return nil }
      throw failure("a value")
    }
  }

  private mutating func object(depth: Int) throws(JSON.Malformed) -> JSON {
    position += 1
    var fields: [(String, JSON)] = []
    skipSpace()
    if take("}") { return .object([]) }
    repeat {
      skipSpace()
      guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
        throw failure("a name")
      }
      let name = try string()
      skipSpace()
      guard take(":") else { throw failure("':'") }
      fields.append((name, try value(depth: depth + 1)))
      skipSpace()
    } while take(",")
    guard take("}") else { throw failure("'}'") }
    return .object(fields)
  }

  private mutating func array(depth: Int) throws(JSON.Malformed) -> JSON {
    position += 1
    var items: [JSON] = []
    skipSpace()
    if take("]") { return .array([]) }
    repeat {
      items.append(try value(depth: depth + 1))
      skipSpace()
    } while take(",")
    guard take("]") else { throw failure("']'") }
    return .array(items)
  }

  private mutating func number() throws(JSON.Malformed) -> JSON {
    let start = position
    while position < bytes.count, "+-.eE0123456789".utf8.contains(bytes[position]) {
      position += 1
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if let whole = Int64(text) { return .integer(whole) }
    guard let number = Double(text), number.isFinite else {
      position = start
      throw failure("a number")
    }
    return .number(number)
  }

  private mutating func string() throws(JSON.Malformed) -> String {
    position += 1
    var text: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: text, as: UTF8.self) else { throw failure("UTF-8") }
        return text
      case UInt8(ascii: "\\"): text += try escaped()
      case 0..<0x20: throw failure("a character that may stand in a text")
      default: text.append(byte)
      }
    }
    throw failure("'\"'")
  }

  /// Reads what follows a backslash.
  private mutating func escaped() throws(JSON.Malformed) -> [UInt8] {
    guard position < bytes.count else { throw failure("'\"'") }
    let byte = bytes[position]
    position += 1
    switch byte {
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "u"):
      let unit = try codeUnit()
      guard 0xD800...0xDBFF ~= unit else {
        guard let scalar = Unicode.Scalar(unit) else { throw failure("a character") }
        return Array(String(Character(scalar)).utf8)
      }
      guard take("\\u") else { throw failure("the second half of a character") }
      let low = try codeUnit()
      guard 0xDC00...0xDFFF ~= low,
        let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
      else { throw failure("the second half of a character") }
      return Array(String(Character(scalar)).utf8)
    default: throw failure("an escape")
    }
  }

  private mutating func codeUnit() throws(JSON.Malformed) -> UInt32 {
    guard bytes.count - position >= 4,
      let unit = UInt32(
        String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
    else { throw failure("four digits") }
    position += 4
    return unit
  }
}
