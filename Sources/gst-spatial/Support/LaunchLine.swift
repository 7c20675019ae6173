/// A line of gst-launch, taken apart.
struct LaunchLine {
  struct Element {
    var name: String
    let type: String
    var properties: [(name: String, value: String)] = []
  }

  /// What stands between two `!`.
  private enum Item {
    case element(Int)
    /// `name.` or `name.pad`
    case reference(String)
    case caps(String)
  }

  struct Problem: Error, CustomStringConvertible {
    let description: String
  }

  private(set) var elements: [Element] = []
  private var chains: [[Item]] = []

  init(_ line: String) throws(Problem) {
    var chain: [Item] = []
    var isLinked = true
    var isNamed: Set<Int> = []
    for word in try Self.words(line) {
      if word.text == "!", !word.isQuoted {
        guard !chain.isEmpty, !isLinked else {
          throw Problem(description: "an end of '!' is missing")
        }
        isLinked = true
        continue
      }
      if !isLinked, case .element(let index) = chain.last, let (name, value) = word.assignment {
        if name == "name" {
          elements[index].name = value
          isNamed.insert(index)
        } else {
          elements[index].properties.append((name, value))
        }
        continue
      }
      if !isLinked {
        chains.append(chain)
        chain = []
      }
      chain.append(try item(word))
      isLinked = false
    }
    guard !isLinked else { throw Problem(description: "an end of '!' is missing") }
    chains.append(chain)
    giveNames(isNamed)
  }

  private mutating func item(_ word: Word) throws(Problem) -> Item {
    let text = word.text
    if text.contains("/") { return .caps(text) }
    if text.contains("."), !text.hasPrefix(".") {
      return .reference(text.hasSuffix(".") ? String(text.dropLast()) : text)
    }
    let isType = text.utf8.allSatisfy { byte in
      (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A) || (byte >= 0x30 && byte <= 0x39)
        || byte == 0x2D || byte == 0x5F
    }
    guard isType, !text.isEmpty else {
      throw Problem(description: "'\(text)' is neither an element, caps nor 'name.pad'")
    }
    elements.append(Element(name: "", type: text))
    return .element(elements.count - 1)
  }

  /// Elements without a name are called after their type.
  private mutating func giveNames(_ isNamed: Set<Int>) {
    var taken = Set(isNamed.map { elements[$0].name })
    for index in elements.indices where !isNamed.contains(index) {
      let type = elements[index].type
      let base = type.first?.isNumber == true ? "_" + type : type
      var name = base
      var number = 1
      while !taken.insert(name).inserted {
        number += 1
        name = "\(base)-\(number)"
      }
      elements[index].name = name
    }
  }

  /// As a pipeline file.
  var pipelineFile: String {
    var lines = ["elements:"]
    for element in elements {
      let fields = [("type", element.type)] + element.properties.map { ($0.name, $0.value) }
      let text = fields.map { "\($0.0): \(Self.scalar($0.1))" }.joined(separator: ", ")
      lines.append("  \(element.name): { \(text) }")
    }
    let links = chains.filter { $0.count > 1 }
    if !links.isEmpty { lines.append("links:") }
    for chain in links {
      lines.append("  - " + Self.scalar(chain.map(text).joined(separator: " -> ")))
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private func text(_ item: Item) -> String {
    switch item {
    case .element(let index): elements[index].name
    case .reference(let name): name
    case .caps(let caps): caps
    }
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

  // MARK: Words

  private struct Word {
    var text = ""
    var isQuoted = false

    var assignment: (String, String)? {
      guard let equals = text.firstIndex(of: "="), equals > text.startIndex,
        !text[..<equals].contains("/"), !text[..<equals].contains(",")
      else { return nil }
      return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }
  }

  private static func words(_ line: String) throws(Problem) -> [Word] {
    var words: [Word] = []
    var word: Word?
    var quote: Character?
    var isEscaped = false
    func finish(_ word: inout Word?, _ words: inout [Word]) {
      guard let done = word else { return }
      word = nil
      // Caps go on behind a comma: "video/x-raw, format=I420".
      if let last = words.last, last.text.hasSuffix(","), last.text.contains("/") {
        words[words.count - 1].text += done.text
      } else {
        words.append(done)
      }
    }
    for character in line {
      if isEscaped {
        word = word ?? Word()
        word?.text.append(character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if let mark = quote {
        if character == mark { quote = nil } else { word?.text.append(character) }
      } else if character == "\"" || character == "'" {
        quote = character
        word = word ?? Word()
        word?.isQuoted = true
      } else if character.isWhitespace {
        finish(&word, &words)
      } else {
        word = word ?? Word()
        word?.text.append(character)
      }
    }
    guard quote == nil else { throw Problem(description: "a quote is not closed") }
    finish(&word, &words)
    guard !words.isEmpty else { throw Problem(description: "the line is empty") }
    return words
  }
}
