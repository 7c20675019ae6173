// SPDX-License-Identifier: MPL-2.0

/// Translates the parser's errors into messages for users, and finds further errors.
///
/// The parser stops at its first error. Therefore each entry from there on is parsed separately, so
/// that an error in one entry does not hide errors in later ones.
struct YAMLSyntaxErrors {
  let file: SourceFile
  let reporter: Reporter

  private struct Found {
    let location: SourceLocation
    let message: String
    let help: String?
    let note: Diagnostic.Note?
  }

  /// For text that looks like an anchor or an alias.
  static let signMessage = "a value cannot begin with '*' or '&'"
  static let signHelp = "put the text in quotes"

  /// Maximum number of entries that are parsed separately; more would take too long.
  private static let entryLimit = 2000

  func report(_ error: YAMLError) {
    var found = entries(from: error.firstLine).compactMap { entry -> Found? in
      do throws(YAMLError) {
        try YAMLEvents.check(entry)
        return nil
      } catch {
        return describe(error)
      }
    }
    if found.isEmpty { found = [describe(error)] }
    for item in found {
      reporter.error(
        item.message, at: item.location, help: item.help, notes: item.note.map { [$0] } ?? [])
    }
  }

  /// Returns the parts of the file that can be parsed separately: the least indented lines below
  /// each line in the first column, with the lines that belong to them. Each part is preceded by as
  /// many empty lines as there are lines above it. Parts that end before `first` are left out.
  private func entries(from first: Int) -> [String] {
    var starts: [Int] = []
    var depth: Int?
    var number = 0
    while let line = file.scalars(line: number + 1), starts.count <= Self.entryLimit {
      number += 1
      let indentation = line.prefix { $0 == " " }.count
      let rest = line.dropFirst(indentation)
      guard let first = rest.first, first != "#" else { continue }
      if indentation == 0 {
        depth = nil
        starts.append(number)
      } else if indentation <= depth ?? indentation {
        depth = indentation
        starts.append(number)
      }
    }
    guard starts.count > 1, starts.count <= Self.entryLimit else { return [] }
    let ends = starts.dropFirst() + [number + 1]
    return zip(starts, ends).filter { $1 > first }.map { start, end in
      var text = String.UnicodeScalarView(String(repeating: "\n", count: start - 1).unicodeScalars)
      for line in start..<end {
        text.append(contentsOf: file.scalars(line: line) ?? [])
        text.append("\n")
      }
      return String(text)
    }
  }

  private func describe(_ error: YAMLError) -> Found {
    guard let mark = error.mark else {
      return Found(location: location(nil), message: error.problem, help: nil, note: nil)
    }
    if let character = error.character {
      return Found(
        location: location(mark),
        message: "the control character \(character.codePoint) is not allowed in YAML",
        help: "remove it; is this a text file?", note: nil)
    }
    let problem = error.problem
    let what = error.context ?? ""
    // An unclosed construct is best shown at its beginning.
    if let opened = error.contextMark, opened.line != mark.line,
      let (thing, sign) = Self.opened(what),
      problem.contains("expected '") || problem.contains("end of stream")
    {
      return Found(
        location: location(opened), message: "the \(thing) that begins here is never closed",
        help: sign.map { "'\($0)' is missing" }, note: nil)
    }
    if problem == "mapping values are not allowed in this context" {
      return unexpectedColon(mark)
    }
    if what == "while scanning an alias" || what == "while scanning an anchor" {
      return Found(
        location: location(error.contextMark), message: Self.signMessage, help: Self.signHelp,
        note: nil)
    }
    let isTab = file.scalars(line: mark.line)?.dropFirst(mark.column - 1).first == "\t"
    let (message, help) = Self.words(
      isTab ? "found a tab character that violates indentation" : problem)
    var note: Diagnostic.Note?
    if let opened = error.contextMark, opened.line != mark.line, what.contains("block") {
      note = .init(
        message: "the \(what.contains("mapping") ? "mapping" : "list") begins here",
        location: location(opened))
    }
    return Found(location: location(mark), message: message, help: help, note: note)
  }

  private static func opened(_ context: String) -> (thing: String, sign: String?)? {
    if context.contains("flow sequence") { return ("list", "]") }
    if context.contains("flow mapping") { return ("mapping", "}") }
    return context.contains("quoted scalar") ? ("quote", nil) : nil
  }

  /// Explains a ':' inside a text: on the same line, or because the previous line lacks one, or
  /// because this line is indented below a value.
  private func unexpectedColon(_ mark: YAMLMark) -> Found {
    let line = file.scalars(line: mark.line) ?? []
    let colon: Unicode.Scalar = ":"
    var above = mark.line - 1
    while above > 0, file.scalars(line: above)?.contains(where: { $0 != " " }) != true {
      above -= 1
    }
    if !line.prefix(mark.column - 1).contains(colon), let previous = file.scalars(line: above) {
      let indentation = previous.prefix { $0 == " " }.count
      if !previous.contains(colon) {
        return Found(
          location: SourceLocation(
            file: file, line: above, column: indentation + 1,
            length: previous.count - indentation),
          message: "this line has no ':'", help: "write 'key: value'", note: nil)
      }
      let deeper = line.prefix { $0 == " " }.count
      if deeper > indentation {
        return Found(
          location: SourceLocation(file: file, line: mark.line, column: deeper + 1),
          message: "this line is indented more than the line above, which already has a value",
          help: "all keys of a mapping begin in one column", note: nil)
      }
    }
    return Found(
      location: location(mark), message: "a ':' is not expected here",
      help: "quote a text that contains ': '", note: nil)
  }

  /// Returns the location of a parser position, moved to the end of the text if it is past that.
  private func location(_ mark: YAMLMark?) -> SourceLocation {
    guard let mark else { return SourceLocation(file: file, line: 1, column: 1) }
    if let line = file.scalars(line: mark.line), !line.isEmpty || mark.column > 1 {
      return SourceLocation(
        file: file, line: mark.line, column: min(mark.column, line.count + 1))
    }
    var number = mark.line
    while number > 1, file.scalars(line: number)?.contains(where: { $0 != " " }) != true {
      number -= 1
    }
    let length = file.scalars(line: number)?.count ?? 0
    return SourceLocation(file: file, line: number, column: length + 1)
  }

  private static func words(_ problem: String) -> (String, String?) {
    switch problem {
    case "did not find expected ',' or ']'":
      ("the list is not closed: ',' or ']' is expected", nil)
    case "did not find expected ',' or '}'":
      ("the mapping is not closed: ',' or '}' is expected", nil)
    case "did not find expected key":
      (
        "a key is expected here",
        "check the indentation and the quotes: all keys of a mapping begin in one column"
      )
    case "did not find expected hexdecimal number":
      ("'\\x', '\\u' and '\\U' must be followed by 2, 4 and 8 hexadecimal digits", nil)
    case "did not find expected '-' indicator":
      ("an item of the list is expected here", "each item begins with '- ' in one column")
    case "did not find expected node content":
      ("a value is expected here", nil)
    case "could not find expected ':'":
      ("this line has no ':'", "write 'key: value'")
    case "found unexpected end of stream":
      ("a quote is never closed", nil)
    case "found unexpected document indicator":
      ("'---' or '...' is inside a quote that is not closed", nil)
    case "found character that cannot start any token":
      ("this character cannot begin a value", "put the text in quotes")
    case "found a tab character that violates indentation",
      "found a tab character where an indentation space is expected":
      ("YAML cannot be indented with tabs", "use spaces")
    case "block sequence entries are not allowed in this context":
      ("an item of a list cannot begin here", "put '- ' on a line of its own")
    case "found unknown escape character":
      (
        "'\\' begins an unknown escape sequence",
        "write '\\\\' for one '\\', or use single quotes"
      )
    case "but found another document":
      ("a second document begins here", "a pipeline file is one document; remove the '---'")
    default:
      problem.hasPrefix("nested more than")
        ? ("lists and mappings are \(problem)", nil) : ("YAML: \(problem)", nil)
    }
  }
}

extension Unicode.Scalar {
  /// The code point in the form `U+0007`.
  var codePoint: String {
    let digits = String(value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
