// SPDX-License-Identifier: MPL-2.0

extension ResolvedGraph {
  /// Returns the graph as a pipeline file without parameters, templates and includes. If nothing is
  /// unknown, reading that file gives the same graph.
  public func explanation() -> String {
    var lines: [String] = []
    if let description {
      lines.append("description: \(YAMLText.scalar(Self.escaped(description)))")
    }
    if !elements.isEmpty { lines.append("elements:") }
    for element in elements {
      let fields = [("type", Self.text(element.type))] + element.properties.map(Self.field)
      lines.append("  \(element.name): \(YAMLText.mapping(fields))")
    }
    for pad in pads {
      let fields = pad.properties.map(Self.field)
      lines.append("  \(elements[pad.element].name).\(pad.name): \(YAMLText.mapping(fields))")
    }
    if !links.isEmpty { lines.append("links:") }
    lines += branches().map { "  - \(YAMLText.scalar($0))" }
    lines += runLines()
    return lines.map { $0 + "\n" }.joined()
  }

  private func runLines() -> [String] {
    guard run != RunSettings() else { return [] }
    var fields: [(String, String)] = [("on-error", run.onError.rawValue)]
    if run.restarts != RunSettings().restarts { fields.append(("restarts", "\(run.restarts)")) }
    if let watchdog = run.watchdog {
      fields.append(("watchdog", Quantity.text(nanoseconds: watchdog)))
    }
    return ["run: \(YAMLText.mapping(fields))"]
  }

  /// Returns the lines of `links:`; the links of a branch are joined: `a -> b -> c`.
  private func branches() -> [String] {
    var branches: [String] = []
    for (index, link) in links.enumerated() {
      if index == 0 || links[index - 1].branch != link.branch {
        branches.append(end(link.source, link.padCaps) + link.repetition.mark)
      }
      let next = links.dropFirst(index + 1).first
      let padCaps = next?.branch == link.branch ? next?.padCaps : nil
      let filter = link.filter.map { " -> \(Self.source($0))" } ?? ""
      branches[branches.count - 1] += "\(filter) -> \(end(link.sink, padCaps))"
    }
    return branches
  }

  private func end(_ end: End, _ caps: Text?) -> String {
    elements[end.element].name + (end.pad.map { "." + $0 } ?? "")
      + (caps.map { "[\(Self.source($0))]" } ?? "")
  }

  private static func field(_ property: Property) -> (String, String) {
    (YAMLText.scalar(property.name), value(property.value))
  }

  private static func value(_ value: Value) -> String {
    switch value {
    case .text(let text, _): self.text(text)
    case .list(let items): "[" + items.map(self.value).joined(separator: ", ") + "]"
    case .fields(let fields): YAMLText.mapping(fields.map(field))
    }
  }

  private static func text(_ text: Text) -> String { YAMLText.scalar(source(text)) }

  /// Returns the text as it is written in a file.
  private static func source(_ text: Text) -> String {
    switch text {
    case .known(let text): escaped(text)
    case .unknown(let source): source
    }
  }

  /// Escapes `${`, so that nothing is taken for a reference.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      if character == "{", result.hasSuffix("$") { result += "$" }
      result.append(character)
    }
    return result
  }
}

/// Writes YAML.
enum YAMLText {
  static func mapping(_ fields: [(String, String)]) -> String {
    fields.isEmpty
      ? "{}" : "{ " + fields.map { "\($0.0): \($0.1)" }.joined(separator: ", ") + " }"
  }

  /// Returns the text as a YAML scalar, without quotes if no reader can misinterpret it.
  static func scalar(_ text: String) -> String {
    let isWord = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/._-+%".utf8.contains(byte)
      }
    }
    let isSafe =
      isWord && !text.isEmpty && !"-.%".contains(text.prefix(1))
      && !["~", "null", "Null", "NULL"].contains(text)
    return isSafe ? text : text.doubleQuoted
  }
}
