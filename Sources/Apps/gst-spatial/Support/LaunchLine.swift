// SPDX-License-Identifier: MPL-2.0

internal import PipelineFile

/// A line of gst-launch, taken apart.
struct LaunchLine {
  struct Element {
    let name: String
    let type: String
    var properties: [(name: String, value: String)] = []
    /// Properties of its pads, by the name of the pad.
    var pads: [(pad: String, properties: [(name: String, value: String)])] = []
  }

  /// What stands between two `!`.
  enum Item {
    /// An element, with the pads at which it is linked where the line says them.
    case element(Int, sink: String?, source: String?)
    case caps(String)
  }

  struct Problem: Error {
    let message: String
    /// Where it is, counted in characters from 1.
    let column: Int

    init(_ message: String, _ column: Int) {
      self.message = message
      self.column = column
    }
  }

  let elements: [Element]
  private let chains: [[Item]]

  /// - Parameter registry: what is installed; knows the pads of elements.
  init(_ line: String, registry: any ElementRegistry) throws(Problem) {
    var parser = try LaunchLineParser(line, registry: registry)
    (elements, chains) = try parser.parse()
  }

  /// As a pipeline file.
  var pipelineFile: String {
    var lines = ["elements:"]
    for element in elements {
      lines.append(
        "  \(element.name): \(Self.mapping([("type", element.type)] + element.properties))")
      for (pad, properties) in element.pads {
        lines.append("  \(element.name).\(pad): \(Self.mapping(properties))")
      }
    }
    let links = chains.flatMap(links)
    if !links.isEmpty { lines.append("links:") }
    lines += links.map { "  - " + Self.scalar($0) }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The links of a chain. One ends, and the next one begins, where a pad has a name.
  private func links(_ chain: [Item]) -> [String] {
    var links: [[String]] = []
    var current: [String] = []
    for item in chain {
      switch item {
      case .caps(let caps): current.append(caps)
      case .element(let index, let sink, let source):
        let name = elements[index].name
        current.append(sink.map { "\(name).\($0)" } ?? name)
        if sink != nil || source != nil {
          if current.count == 1 || sink == nil { current[current.count - 1] = name }
          links.append(current)
          current = [source.map { "\(name).\($0)" } ?? name]
        }
      }
    }
    return (links + [current]).filter { $0.count > 1 }.map { $0.joined(separator: " -> ") }
  }

  private static func mapping(_ fields: [(name: String, value: String)]) -> String {
    "{ " + fields.map { "\($0.name): \(scalar($0.value))" }.joined(separator: ", ") + " }"
  }

  private static func scalar(_ text: String) -> String {
    let isPlain =
      !text.isEmpty
      && text.utf8.allSatisfy { byte in
        byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A || byte >= 0x30 && byte <= 0x39
          || "/_.".utf8.contains(byte)
      }
    guard !isPlain || text == "null" else { return text }
    var result = ""
    for character in text.replacing("${", with: "$${") {
      if character == "\"" || character == "\\" { result += "\\" }
      result.append(character)
    }
    return "\"\(result)\""
  }
}
