// SPDX-License-Identifier: MPL-2.0

/// Parses links and the items of chains:
///
///     link  = step { "->" step }
///     step  = name [ "." pad ] [ "[" caps "]" ] [ "(" arguments ")" ] [ "?" | "*" ]
///           | caps
struct LinkParser {
  let reporter: Reporter

  /// Maximum length of a link, in characters; longer lines are not written by hand.
  private static let lengthLimit = 16384

  /// Parses a line of `links:`.
  func link(_ text: LocatedText) -> LinkDeclaration {
    guard let scanner = scanner(text) else { return LinkDeclaration(text: text, steps: []) }
    if let wrong = scanner.wrongArrow(text) {
      reporter.error("a link is written with '->'", at: wrong)
      return LinkDeclaration(text: text, steps: [])
    }
    if let mark = scanner.first("!", in: scanner.whole) {
      reporter.error(
        "a link is written with '->', not with '!'", at: scanner.placed.location(mark..<(mark + 1)),
        help: LaunchHint(scanner.whole, scanner, isChain: false).link)
      return LinkDeclaration(text: text, steps: [])
    }
    let parts = scanner.split(scanner.whole, by: "->").map(scanner.trimmed)
    let steps = parts.compactMap { part -> LinkStep? in
      guard !part.isEmpty else {
        reporter.error(
          parts.count == 1 ? "the link is empty" : "an end of this link is missing",
          at: scanner.placed.location(
            max(0, part.lowerBound - 1)..<max(1, part.lowerBound)))
        return nil
      }
      return step(part, scanner, isChain: false)
    }
    if steps.count == 1, parts.count == 1 {
      reporter.error(
        "a link needs two ends", at: text.location, help: "write 'from -> to'")
    }
    return LinkDeclaration(text: text, steps: steps)
  }

  /// Parses an item of a `chain:`.
  func chainItem(_ text: LocatedText) -> LinkStep? {
    guard let scanner = scanner(text) else { return nil }
    let whole = scanner.trimmed(scanner.whole)
    guard !whole.isEmpty else {
      reporter.error("an item of a chain is empty", at: text.location)
      return nil
    }
    for sign in ["->", "!"] where scanner.split(whole, by: sign).count > 1 {
      let items = LaunchHint(whole, scanner, isChain: true).steps.joined(separator: ", ")
      reporter.error(
        "the items of a chain are not joined by '\(sign)'", at: text.location,
        help: "write each as a separate item: \(items)")
      return nil
    }
    return step(whole, scanner, isChain: true)
  }

  private func scanner(_ text: LocatedText) -> LinkScanner? {
    guard text.text.unicodeScalars.count <= Self.lengthLimit else {
      reporter.error(
        "a link has more than \(Self.lengthLimit) characters", at: text.location,
        help: "split it: a link can begin where another ends")
      return nil
    }
    let scanner = LinkScanner(text)
    if let open = scanner.unclosed(scanner.whole) {
      let mark = scanner.placed.text(open..<(open + 1))
      reporter.error(
        "'\(mark)' is never closed", at: scanner.placed.location(open..<(open + 1)),
        help: text.isCutByComma ? "quote a text that contains a comma" : nil)
      return nil
    }
    return scanner
  }

  private func step(_ range: Range<Int>, _ scanner: LinkScanner, isChain: Bool) -> LinkStep? {
    let inner = scanner.quoted(range).flatMap { isCaps($0, scanner) ? $0 : nil }
    let text = scanner.placed.part(inner ?? range)
    if inner != nil || isCaps(range, scanner) {
      return LinkStep(content: .caps(InterpolatedText(text, reporter)), location: text.location)
    }
    return named(range, scanner, isChain: isChain).map {
      LinkStep(content: .named($0), location: text.location)
    }
  }

  /// Whether the range is caps: it begins with a media type, which contains a slash, or is a single
  /// reference.
  private func isCaps(_ range: Range<Int>, _ scanner: LinkScanner) -> Bool {
    let scalars = scanner.placed.scalars[range]
    let name = scalars.prefix { $0 != "(" && $0 != "[" && $0 != "," && $0 != " " }
    return name.contains("/") || (scalars.starts(with: "${".unicodeScalars) && scalars.last == "}")
  }

  private func named(_ range: Range<Int>, _ scanner: LinkScanner, isChain: Bool) -> NamedStep? {
    let placed = scanner.placed
    var range = range
    var repetition = Repetition.once
    if let mark = Self.repetitions[placed.scalars[range.upperBound - 1]] {
      repetition = mark
      range = scanner.trimmed(range.lowerBound..<(range.upperBound - 1))
    }
    var arguments: LocatedText?
    if let open = scanner.first("(", in: range) {
      guard placed.scalars[range.upperBound - 1] == ")",
        scanner.split((open + 1)..<(range.upperBound - 1), by: ")").count == 1
      else {
        reporter.error("only '?' or '*' may follow ')'", at: placed.location(range))
        return nil
      }
      arguments = placed.part(scanner.trimmed((open + 1)..<(range.upperBound - 1)))
      range = scanner.trimmed(range.lowerBound..<open)
    }
    var caps: LocatedText?
    if let open = scanner.first("[", in: range) {
      guard placed.scalars[range.upperBound - 1] == "]" else {
        reporter.error("only '?' or '*' may follow ']'", at: placed.location(range))
        return nil
      }
      caps = placed.part(scanner.trimmed((open + 1)..<(range.upperBound - 1)))
      range = scanner.trimmed(range.lowerBound..<open)
    }
    let dot = scanner.first(".", in: range)
    let nameRange = range.lowerBound..<(dot ?? range.upperBound)
    let name = placed.part(nameRange)
    guard Name.isValidType(name.text) else {
      let text = placed.text(range)
      reporter.error(
        name.text.isEmpty ? "a name is missing" : "'\(text)' is not the name of an element",
        at: placed.location(range), help: help(forName: text, range, scanner, isChain))
      return nil
    }
    var pad: LocatedText?
    if let dot {
      let part = placed.part((dot + 1)..<range.upperBound)
      guard Name.isValidPad(part.text) else {
        reporter.error(
          "'\(part.text)' is not the name of a pad", at: placed.location(range),
          help: "write 'element.pad', as in 'mux.left' or 'mux.audio_%u'")
        return nil
      }
      pad = part
    }
    return NamedStep(
      name: name, pad: pad, caps: caps, arguments: arguments, repetition: repetition)
  }

  private static let repetitions: [Unicode.Scalar: Repetition] = ["?": .optional, "*": .each]

  private func help(
    forName text: String, _ range: Range<Int>, _ scanner: LinkScanner, _ isChain: Bool
  ) -> String? {
    if text.isEmpty || text.hasPrefix(".") { return "write a name before '.', '[', '(' and '?'" }
    if text.hasSuffix("-") || text.hasSuffix(">") || text.hasPrefix(">") {
      return "a link is written with '->'"
    }
    guard text.contains(" ") else { return nil }
    return text.contains("=")
      ? LaunchHint(range, scanner, isChain: isChain).link
      : "write '->' between elements, and properties in parentheses"
  }
}

extension LocatedText {
  /// Whether YAML ended the text at a comma, as it does with unquoted text in flow collections.
  fileprivate var isCutByComma: Bool {
    let line = location.file.scalars(line: location.line) ?? []
    return line.dropFirst(location.column - 1 + location.length).first == ","
  }
}

extension LinkScanner {
  /// Returns the location of an arrow other than `->`.
  fileprivate func wrongArrow(_ text: LocatedText) -> SourceLocation? {
    guard split(whole, by: "->").count == 1 else { return nil }
    for arrow in ["=>", "→", "<-", "–>", "—>"] {
      let first = split(whole, by: arrow)[0]
      if first.upperBound < whole.upperBound {
        return placed.location(
          first.upperBound..<(first.upperBound + arrow.unicodeScalars.count))
      }
    }
    return nil
  }
}

extension Name {
  /// Whether the text is a valid element type: letters, digits, `_` and `-`; it may begin with a
  /// digit (`3gppmux`).
  static func isValidType(_ text: String) -> Bool {
    !text.hasPrefix("-") && isValid("_" + text) && !text.isEmpty
  }

  /// Whether the text is a valid pad name or template name: `src_0`, `audio_%u`.
  static func isValidPad(_ text: String) -> Bool {
    isValid("_" + text.filter { $0 != "%" }) && !text.isEmpty
  }
}

/// Parses the text in the parentheses of a template or a new element: `name=left, fov=63.4`.
struct ArgumentParser {
  let reporter: Reporter

  func arguments(_ text: LocatedText) -> [Argument] {
    let scanner = LinkScanner(text)
    guard !scanner.trimmed(scanner.whole).isEmpty else { return [] }
    var seen: [String: SourceLocation] = [:]
    return scanner.split(scanner.whole, by: ",").map(scanner.trimmed).compactMap { part in
      guard let equals = scanner.first("=", in: part), equals > part.lowerBound else {
        reporter.error(
          part.isEmpty
            ? "an argument is missing" : "'\(scanner.placed.text(part))' is not an argument",
          at: scanner.placed.location(part), help: "arguments are written as name=value")
        return nil
      }
      let name = scanner.placed.part(scanner.trimmed(part.lowerBound..<equals))
      if let first = seen[name.text] {
        reporter.error(
          "'\(name.text)' is given twice", at: name.location,
          notes: [.init(message: "it is given here first", location: first)])
        return nil
      }
      seen[name.text] = name.location
      let value = scanner.unquoted(scanner.trimmed((equals + 1)..<part.upperBound))
      return Argument(name: name, value: InterpolatedText(value, reporter))
    }
  }
}

/// Translates gst-launch syntax found in a pipeline file into the file's own syntax, for messages.
struct LaunchHint {
  /// `queue`, `queue(leaky=no)`, `video/x-raw`, or the name of an element.
  private(set) var steps: [String] = []
  /// Entries of `elements:` for the named elements.
  private var elements: [String] = []
  /// Whether the line consists only of elements with properties, caps and names.
  private var isUnderstood = true

  /// Maximum length of a suggestion, so that a message fits on a line.
  private static let lengthLimit = 200

  /// Translates a range of the scanned text.
  ///
  /// - Parameters:
  ///   - range: elements with their properties, separated by `!` or `->`.
  ///   - isChain: whether this is a template's chain, whose elements have no names.
  init(_ range: Range<Int>, _ scanner: LinkScanner, isChain: Bool) {
    for part in scanner.split(range, by: "->").flatMap({ scanner.split($0, by: "!") }) {
      let words = scanner.words(part).map(scanner.placed.text)
      guard let type = words.first else { continue }
      guard words.count > 1, !type.contains("/") else {
        steps.append(type.hasSuffix(".") ? String(type.dropLast()) : words.joined(separator: " "))
        continue
      }
      if !words.dropFirst().allSatisfy({ $0.dropFirst().contains("=") }) { isUnderstood = false }
      let properties = words.dropFirst().filter { !$0.hasPrefix("name=") }
      if !isChain, let name = words.first(where: { $0.hasPrefix("name=") })?.dropFirst(5) {
        steps.append(String(name))
        elements.append("\(name): \(Self.entry(type, properties))")
      } else {
        let list = properties.joined(separator: ", ")
        steps.append(list.isEmpty ? type : "\(type)(\(list))")
      }
    }
  }

  /// The suggestion for `links:`.
  var link: String {
    let link = steps.joined(separator: " -> ")
    guard isUnderstood, link.count <= Self.lengthLimit else {
      return "write '->' between elements, and properties in parentheses: queue(leaky=no)"
    }
    let names = elements.map { "'\($0)'" }.joined(separator: " and ")
    return "write '\(link)'" + (names.isEmpty ? "" : ", and \(names) in 'elements:'")
  }

  /// `{ type: queue, leaky: no }`
  private static func entry(_ type: String, _ properties: [String]) -> String {
    let fields = properties.map { property in
      let equals = property.firstIndex(of: "=") ?? property.endIndex
      return "\(property[..<equals]): \(property[equals...].dropFirst())"
    }
    return "{ " + (["type: \(type)"] + fields).joined(separator: ", ") + " }"
  }
}
