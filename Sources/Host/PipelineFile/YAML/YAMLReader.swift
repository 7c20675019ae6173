// SPDX-License-Identifier: MPL-2.0

/// Parses the YAML of one file: stage 1.
struct YAMLReader {
  private let file: SourceFile
  private let reporter: Reporter
  /// Anchors that no alias has referred to so far.
  private var anchors: [String: SourceLocation] = [:]
  private var aliases: Set<String> = []

  /// Larger than a pipeline of tens of thousands of elements.
  static let byteLimit = 4 << 20

  init(file: SourceFile, reporter: Reporter) {
    self.file = file
    self.reporter = reporter
  }

  /// Returns the root of the document; nil if an error was reported.
  mutating func read() -> YAMLNode? {
    let count = reporter.errorCount
    for (character, place) in file.hiddenLineEnds {
      reporter.error(
        "the invisible character \(character.codePoint) ends a line in YAML", at: place,
        help: "remove it")
    }
    // The numbers of all later lines would differ from those in an editor.
    guard reporter.errorCount == count else { return nil }
    var root: YAMLNode?
    do throws(YAMLError) {
      root = try document(YAMLEvents(file.text))
    } catch {
      YAMLSyntaxErrors(file: file, reporter: reporter).report(error)
    }
    for (anchor, place) in anchors {
      reporter.error(
        "YAML anchors are not supported", at: place,
        help: "quote a text that begins with '&\(anchor)'; share settings by a template")
    }
    if root == nil, reporter.errorCount == count {
      reporter.error(
        "the file is empty", at: SourceLocation(file: file, line: 1, column: 1),
        help: "a pipeline file has at least 'elements:' and 'links:'")
    }
    return reporter.errorCount == count ? root : nil
  }

  private mutating func document(_ events: YAMLEvents) throws(YAMLError) -> YAMLNode? {
    var root: YAMLNode?
    while true {
      let event = try events.next()
      switch event.kind {
      case .streamStart, .documentStart, .documentEnd: continue
      case .streamEnd: return root
      default: root = try node(event, events)
      }
    }
  }

  private func location(_ mark: YAMLMark, length: Int = 1) -> SourceLocation {
    SourceLocation(file: file, line: mark.line, column: mark.column, length: length)
  }

  /// Returns the length of a quoted text including both quotes; 1 if it does not end on the same
  /// line.
  private func quotedLength(_ mark: YAMLMark) -> Int {
    guard let line = file.scalars(line: mark.line)?.dropFirst(mark.column - 1),
      let quote = line.first, quote == "\"" || quote == "'"
    else { return 1 }
    var isEscaped = false
    for (offset, scalar) in line.dropFirst().enumerated() {
      if isEscaped {
        isEscaped = false
      } else if scalar == quote {
        return offset + 2
      } else {
        isEscaped = scalar == "\\" && quote == "\""
      }
    }
    return 1
  }

  /// Returns the node that begins with an event; nil if it was rejected. Its events are consumed in
  /// any case.
  private mutating func node(_ event: YAMLEvent, _ events: YAMLEvents) throws(YAMLError)
    -> YAMLNode?
  {
    switch event.kind {
    case .scalar(let text, let properties, let isPlain):
      guard isPlainYAML(properties, at: event.mark) else { return nil }
      let length = isPlain ? text.unicodeScalars.count : quotedLength(event.mark)
      return YAMLNode(
        content: .scalar(text, isPlain: isPlain), location: location(event.mark, length: length))
    case .sequenceStart(let properties):
      let isPlain = isPlainYAML(properties, at: event.mark)
      let items = try items(events)
      return isPlain
        ? YAMLNode(content: .sequence(items), location: location(event.mark)) : nil
    case .mappingStart(let properties):
      let isPlain = isPlainYAML(properties, at: event.mark)
      let entries = try entries(events)
      return isPlain
        ? YAMLNode(content: .mapping(entries), location: location(event.mark)) : nil
    case .alias(let name):
      report(alias: name, at: event.mark)
      return nil
    default:
      return nil
    }
  }

  private mutating func items(_ events: YAMLEvents) throws(YAMLError) -> [YAMLNode] {
    var items: [YAMLNode] = []
    while true {
      let event = try events.next()
      if case .sequenceEnd = event.kind { return items }
      if let item = try node(event, events) { items.append(item) }
    }
  }

  private mutating func entries(_ events: YAMLEvents) throws(YAMLError) -> [YAMLNode.Entry] {
    var first: [String: SourceLocation] = [:]
    var entries: [YAMLNode.Entry] = []
    while true {
      let keyEvent = try events.next()
      if case .mappingEnd = keyEvent.kind { return entries }
      reportQuestionMark(before: keyEvent.mark)
      let key = try key(keyEvent, events)
      let value = try node(events.next(), events)
      guard let key else { continue }
      if let first = first[key.text] {
        reporter.error(
          "'\(key.text)' appears twice", at: key.location,
          notes: [.init(message: "it appears here first", location: first)])
      }
      first[key.text] = first[key.text] ?? key.location
      guard var value else { continue }
      // libyaml reports a missing value at the position of the next token.
      if case .scalar("", isPlain: true) = value.content {
        value = YAMLNode(content: value.content, location: key.location)
      }
      entries.append(.init(key: key, value: value))
    }
  }

  private mutating func key(
    _ event: YAMLEvent, _ events: YAMLEvents
  ) throws(YAMLError) -> LocatedText? {
    switch event.kind {
    case .scalar(let text, let properties, _):
      guard isPlainYAML(properties, at: event.mark) else { return nil }
      return LocatedText(
        text: text, location: location(event.mark, length: text.unicodeScalars.count))
    case .alias: break
    default:
      reporter.error(
        "a key must be a single word", at: location(event.mark),
        help: "put quotes around a text that begins with [ or {")
    }
    _ = try node(event, events)
    return nil
  }

  /// Reports `? key`, which libyaml's events do not distinguish from an ordinary key.
  private func reportQuestionMark(before mark: YAMLMark) {
    let line = file.scalars(line: mark.line)?.prefix(mark.column - 1) ?? []
    guard let index = line.lastIndex(where: { $0 != " " && $0 != "\t" }), line[index] == "?" else {
      return
    }
    reporter.error(
      "keys introduced by '?' are not supported",
      at: location(YAMLMark(line: mark.line, column: index - line.startIndex + 1)),
      help: "write 'key: value', or quote the text")
  }

  /// Reports an alias, since it can expand to a document of any size. One without an anchor is
  /// probably meant as text.
  private mutating func report(alias name: String, at mark: YAMLMark) {
    guard anchors.removeValue(forKey: name) != nil || aliases.contains(name) else {
      return reporter.error(
        YAMLSyntaxErrors.signMessage, at: location(mark), help: YAMLSyntaxErrors.signHelp)
    }
    guard aliases.insert(name).inserted else { return }
    reporter.error(
      "YAML aliases such as '*\(name)' are not supported",
      at: location(mark, length: name.utf8.count + 1),
      help: "share settings by a parameter or a template; quote a text that begins with *")
  }

  /// Reports anchors and tags: they change the meaning of a document, and none is supported.
  private mutating func isPlainYAML(
    _ properties: YAMLEvent.NodeProperties, at mark: YAMLMark
  ) -> Bool {
    if let anchor = properties.anchor {
      anchors[anchor] = location(mark)
      return false
    }
    guard let tag = properties.tag, tag != "!", tag != "tag:yaml.org,2002:str" else { return true }
    reporter.error(
      "YAML tags such as '\(tag)' are not supported", at: location(mark),
      help: "quote a text that begins with !")
    return false
  }
}

/// A node of a YAML document, with its location.
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

  /// Whether the node is one of YAML's several notations for null.
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

  /// Returns the value of a key; nil if the node is not a mapping or has no such key.
  subscript(key: String) -> YAMLNode? {
    mapping?.first { $0.key.text == key }?.value
  }

  /// The kind of the node, for messages.
  var kind: String {
    switch content {
    case .scalar: isNull ? "nothing" : "a single value"
    case .sequence: "a list"
    case .mapping: "a mapping"
    }
  }
}
