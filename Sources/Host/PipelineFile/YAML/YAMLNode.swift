// SPDX-License-Identifier: MPL-2.0

/// A part of a YAML document, with its place.
struct YAMLNode: Sendable {
  struct Entry: Sendable {
    let key: LocatedText
    let value: YAMLNode
  }

  enum Content: Sendable {
    /// `isPlain`: written without quotes.
    case scalar(String, isPlain: Bool)
    case sequence([YAMLNode])
    case mapping([Entry])
  }

  let content: Content
  let location: SourceLocation

  /// The text of a scalar that is not null.
  var text: LocatedText? {
    guard case .scalar(let text, _) = content, !isNull else { return nil }
    return LocatedText(text: text, location: location)
  }

  /// YAML's several ways to write nothing.
  var isNull: Bool {
    guard case .scalar(let text, isPlain: true) = content else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(text)
  }

  var sequence: [YAMLNode]? {
    guard case .sequence(let items) = content else { return nil }
    return items
  }

  var mapping: [Entry]? {
    guard case .mapping(let entries) = content else { return nil }
    return entries
  }

  /// The value of a key; nil if the node is no mapping or has no such key.
  subscript(key: String) -> YAMLNode? {
    mapping?.first { $0.key.text == key }?.value
  }

  /// What the node is, for messages.
  var kind: String {
    switch content {
    case .scalar: isNull ? "nothing" : "a single value"
    case .sequence: "a list"
    case .mapping: "a mapping"
    }
  }
}
