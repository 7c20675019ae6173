// SPDX-License-Identifier: MPL-2.0

/// An element of a manifest (XML 1.0), with either children or a text.
struct ManifestElement {
  let name: String
  private var attributes: [(name: String, value: String)] = []
  private var children: [ManifestElement] = []
  private var content: String?

  init(_ name: String, text: String? = nil) { (self.name, content) = (name, text) }

  /// A descriptor, such as `Role` (ISO/IEC 23009-1 5.8.2).
  init(_ name: String, scheme: String, value: String) {
    self.init(name)
    add("schemeIdUri", scheme)
    add("value", value)
  }

  /// Adds an attribute; a nil value adds none.
  mutating func add(_ name: String, _ value: String?) {
    if let value { attributes.append((name, value)) }
  }

  /// Adds a child.
  mutating func add(_ child: ManifestElement) { children.append(child) }

  /// The lines of the element and of its children.
  var lines: [String] {
    let head = attributes.reduce("<\(name)") { "\($0) \($1.name)=\"\(Self.escaped($1.value))\"" }
    if let content { return ["\(head)>\(Self.escaped(content))</\(name)>"] }
    guard !children.isEmpty else { return [head + "/>"] }
    return ["\(head)>"] + children.flatMap(\.lines).map { "  " + $0 } + ["</\(name)>"]
  }

  /// Titles come from files; characters that XML does not allow (2.2) are replaced by spaces.
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": result += " "
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}
