// SPDX-License-Identifier: MPL-2.0

/// The words of a line of gst-launch.
struct LaunchWord {
  var text = ""
  /// Where the word begins, counted in characters from 1.
  let column: Int
  /// The whole word stands in quotes, or a part of it.
  var isQuoted = false

  /// A sign of the syntax, which is none in quotes.
  func isSign(_ sign: String) -> Bool { text == sign && !isQuoted }

  /// `name=value`; nil for anything else.
  var assignment: (name: String, value: String)? {
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex,
      !text[..<equals].contains("/"), !text[..<equals].contains(",")
    else { return nil }
    return (String(text[..<equals]), String(text[text.index(after: equals)...]))
  }

  /// Cuts a line into words: runs without blanks outside quotes; `!`, `:`, `(` and `)` that stand
  /// alone; caps with all their fields.
  static func words(of line: String) throws(LaunchLine.Problem) -> [LaunchWord] {
    var reader = LaunchWordReader()
    for (index, character) in line.enumerated() { reader.read(character, at: index + 1) }
    return try reader.finished()
  }
}

/// Reads a line character by character.
private struct LaunchWordReader {
  private var words: [LaunchWord] = []
  private var word: LaunchWord?
  private var quote: (mark: Character, column: Int)?
  private var isEscaped = false
  /// Parentheses that are open within the word: those of caps features and types of fields.
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
    guard let last = words.last, !last.isSign("!") else { return words.append(done) }
    // Caps go on behind a comma, and blanks may stand around '='.
    let isCaps = last.text.contains("/") && !last.isQuoted
    let goesOn =
      isCaps && (last.text.hasSuffix(",") || last.text.hasSuffix(";") || done.text.hasPrefix(","))
      || done.isSign("=") || last.text.hasSuffix("=") && !last.isQuoted && last.text != "="
    if goesOn { words[words.count - 1].text += done.text } else { words.append(done) }
  }

  mutating func finished() throws(LaunchLine.Problem) -> [LaunchWord] {
    if let (_, column) = quote { throw LaunchLine.Problem("this quote is not closed", column) }
    end()
    guard !words.isEmpty else { throw LaunchLine.Problem("the line is empty", 1) }
    return words
  }
}
