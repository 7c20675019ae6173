// SPDX-License-Identifier: MPL-2.0

/// The attributes of a tag, as they are written: `BANDWIDTH=900000,URI="a.m3u8"`
/// (draft-pantos-hls-rfc8216bis 4.2).
struct AttributeList {
  private(set) var text = ""

  /// A number, an enumerated string or a resolution; left out where it is nil.
  mutating func add(_ name: String, _ value: String?) {
    guard let value else { return }
    text += (text.isEmpty ? "" : ",") + name + "=" + value
  }

  /// A quoted string; left out where it is nil. What cannot stand in one is taken out.
  ///
  /// Scalars are looked at, not characters: a quotation mark with an accent on it ends a string.
  mutating func add(_ name: String, quoted value: String?) {
    let scalars = value?.unicodeScalars.filter { $0 != "\"" && !Character($0).isNewline }
    add(name, scalars.map { "\"" + String(String.UnicodeScalarView($0)) + "\"" })
  }

  /// The attributes of a line.
  static func parse(_ text: some StringProtocol) -> [String: String] {
    var attributes: [String: String] = [:]
    var rest = Substring(text).unicodeScalars
    while let equals = rest.firstIndex(of: "=") {
      let name = rest[..<equals]
      rest = rest[equals...].dropFirst()
      let isQuoted = rest.first == "\""
      if isQuoted { rest = rest.dropFirst() }
      let end = rest.firstIndex(of: isQuoted ? "\"" : ",") ?? rest.endIndex
      // No value has a quotation mark in it, which could not be written again.
      let value = rest[..<end].filter { $0 != "\"" }
      attributes[String(name)] = String(String.UnicodeScalarView(value))
      rest = rest[end...]
      if isQuoted { rest = rest.dropFirst() }
      if rest.first == "," { rest = rest.dropFirst() }
    }
    return attributes
  }
}
