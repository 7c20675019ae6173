// SPDX-License-Identifier: MPL-2.0

internal import PipelineFile

/// A parsed gst-launch line.
struct LaunchLine {
  struct Element {
    let name: String
    let type: String
    var properties: [(name: String, value: String)] = []
    /// Pad properties, by the name of the pad.
    var pads: [(pad: String, properties: [(name: String, value: String)])] = []
  }

  /// An item between two `!`.
  enum Item {
    /// An element, with the pads by which it is linked if the line names them.
    case element(Int, sink: String?, source: String?)
    case caps(String)
  }

  struct Problem: Error {
    let message: String
    /// Position in the line, counted in characters from 1.
    let column: Int

    init(_ message: String, _ column: Int) {
      self.message = message
      self.column = column
    }
  }

  let elements: [Element]
  private let chains: [[Item]]

  /// - Parameter registry: provides the pad templates of elements.
  init(_ line: String, registry: any ElementRegistry) throws(Problem) {
    var parser = try LaunchLineParser(line, registry: registry)
    (elements, chains) = try parser.parse()
  }

  /// The equivalent pipeline file.
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

  /// Returns the links of a chain. At a named pad, one link ends and the next one begins.
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

/// A word of a gst-launch line.
struct LaunchWord {
  var text = ""
  /// Position of the word's first character, counted from 1.
  let column: Int
  /// Whether the word or a part of it is quoted.
  var isQuoted = false

  /// Returns whether the word is this syntax character, and not quoted.
  func isSyntax(_ sign: String) -> Bool { text == sign && !isQuoted }

  /// The name and value of `name=value`; nil for any other word.
  var assignment: (name: String, value: String)? {
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex,
      !text[..<equals].contains("/"), !text[..<equals].contains(",")
    else { return nil }
    return (String(text[..<equals]), String(text[text.index(after: equals)...]))
  }

  /// Splits a line into words: text without unquoted whitespace; single `!`, `:`, `(` and `)`; caps
  /// with all their fields.
  static func words(of line: String) throws(LaunchLine.Problem) -> [LaunchWord] {
    var reader = LaunchWordReader()
    for (index, character) in line.enumerated() { reader.read(character, at: index + 1) }
    return try reader.finished()
  }
}

/// Splits a line into words, character by character.
private struct LaunchWordReader {
  private var words: [LaunchWord] = []
  private var word: LaunchWord?
  private var quote: (mark: Character, column: Int)?
  private var isEscaped = false
  /// Depth of open parentheses within a word: those of caps features and field types.
  private var depth = 0

  mutating func read(_ character: Character, at column: Int) {
    if isEscaped {
      append(character, column)
      isEscaped = false
    } else if character == "\\" {
      isEscaped = true
      start(column)
    } else if let (mark, _) = quote {
      if character == mark { quote = nil } else { append(character, column) }
    } else if character == "\"" || character == "'" {
      quote = (character, column)
      start(column)
      word?.isQuoted = true
    } else if character.isWhitespace {
      end()
    } else if character == "(", word == nil || word?.text.hasSuffix(".") == true {
      append(character, column)
      end()
    } else if character == ")", depth == 0 {
      end()
      append(character, column)
      end()
    } else {
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      append(character, column)
    }
  }

  private mutating func start(_ column: Int) {
    if word == nil { word = LaunchWord(column: column) }
  }

  private mutating func append(_ character: Character, _ column: Int) {
    start(column)
    word?.text.append(character)
  }

  private mutating func end() {
    depth = 0
    guard let done = word else { return }
    word = nil
    guard let last = words.last, !last.isSyntax("!") else { return words.append(done) }
    // Caps continue after a comma, and there may be whitespace around '='.
    let isCaps = last.text.contains("/") && !last.isQuoted
    let continues =
      isCaps && (last.text.hasSuffix(",") || last.text.hasSuffix(";") || done.text.hasPrefix(","))
      || done.isSyntax("=") || last.text.hasSuffix("=") && !last.isQuoted && last.text != "="
    if continues { words[words.count - 1].text += done.text } else { words.append(done) }
  }

  mutating func finished() throws(LaunchLine.Problem) -> [LaunchWord] {
    if let (_, column) = quote { throw LaunchLine.Problem("this quote is not closed", column) }
    end()
    guard !words.isEmpty else { throw LaunchLine.Problem("the line is empty", 1) }
    return words
  }
}
