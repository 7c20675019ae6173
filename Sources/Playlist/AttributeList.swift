// SPDX-License-Identifier: LGPL-2.1-or-later

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
  mutating func add(_ name: String, quoted value: String?) {
    add(name, value.map { "\"" + $0.filter { $0 != "\"" && !$0.isNewline } + "\"" })
  }

  /// The attributes of a line.
  static func parse(_ text: some StringProtocol) -> [String: String] {
    var attributes: [String: String] = [:]
    var rest = Substring(text)
    while let equals = rest.firstIndex(of: "=") {
      let name = rest[..<equals]
      rest = rest[rest.index(after: equals)...]
      let value: Substring
      if rest.first == "\"" {
        rest = rest.dropFirst()
        let end = rest.firstIndex(of: "\"") ?? rest.endIndex
        value = rest[..<end]
        rest = rest[end...].dropFirst()
      } else {
        let end = rest.firstIndex(of: ",") ?? rest.endIndex
        value = rest[..<end]
        rest = rest[end...]
      }
      attributes[String(name)] = String(value)
      rest = rest.first == "," ? rest.dropFirst() : rest
    }
    return attributes
  }
}
