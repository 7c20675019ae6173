// SPDX-License-Identifier: MPL-2.0

internal import PipelineFile

/// Parses a gst-launch line: chains of elements, caps and references (`name.pad`), joined by `!`.
/// Bins are replaced with their elements.
struct LaunchLineParser {
  private typealias Item = LaunchLine.Item
  private typealias Problem = LaunchLine.Problem

  private let words: [LaunchWord]
  private let registry: any ElementRegistry
  private var position = 0
  private var elements: [LaunchLine.Element] = []
  private var chains: [[Item]] = []
  /// Indices of elements, by their names in the line.
  private var named: [String: Int] = [:]
  private var taken: Set<String> = []

  init(_ line: String, registry: any ElementRegistry) throws(LaunchLine.Problem) {
    var words = try LaunchWord.words(of: line)[...]
    // The line may have been copied together with the command.
    if let first = words.first, first.text.hasSuffix("gst-launch-1.0") {
      words = words.dropFirst().drop { $0.text.hasPrefix("-") }
    }
    self.words = Array(words)
    self.registry = registry
  }

  mutating func parse() throws(LaunchLine.Problem) -> ([LaunchLine.Element], [[LaunchLine.Item]]) {
    try nameElements()
    while let word = current {
      guard !word.isSyntax(")") else {
        throw Problem("this ')' has no matching '('", word.column)
      }
      let chain = try chain()
      chains.append(chain.items)
    }
    return (elements, chains)
  }

  private var current: LaunchWord? { position < words.count ? words[position] : nil }

  /// Collects all names first, as a reference may precede its element and generated names must not
  /// collide.
  private mutating func nameElements() throws(LaunchLine.Problem) {
    for word in words {
      guard let (name, value) = word.assignment, name == "name", !word.text.hasPrefix("=") else {
        continue
      }
      guard taken.insert(Self.fileName(value)).inserted else {
        throw Problem("two elements have the name '\(value)'", word.column)
      }
    }
  }

  /// Parses a chain of items up to the end of the line, of its bin, or of the chain.
  private mutating func chain() throws(LaunchLine.Problem) -> (items: [Item], isBin: Bool) {
    var items: [Item] = []
    while true {
      items += try link(isFirst: items.isEmpty)
      guard let word = current, word.isSyntax("!") || word.isSyntax(":") else {
        return (items, false)
      }
      guard !word.isSyntax(":") else {
        throw Problem("':' links all pads; a pipeline file needs a link for each", word.column)
      }
      position += 1
      guard let next = current, !next.isSyntax("!"), !next.isSyntax(")") else {
        throw Problem("nothing follows this '!'", word.column)
      }
    }
  }

  /// Parses an item between two `!`.
  private mutating func link(isFirst: Bool) throws(LaunchLine.Problem) -> [Item] {
    guard let word = current else { throw Problem("an element is missing", 1) }
    if word.isSyntax("!") { throw Problem("nothing precedes this '!'", word.column) }
    if word.text.hasSuffix("("), !word.isQuoted { return try bin() }
    if word.text.contains("://"), !word.isQuoted { return [try source(word)] }
    if word.text.contains("/") {
      position += 1
      guard word.assignment == nil || word.text.contains("/") else { return [] }
      return [.caps(word.text)]
    }
    if word.text.contains("."), !word.isQuoted { return [try reference(word, isFirst: isFirst)] }
    return [try element(sink: nil)]
  }

  private mutating func source(_ word: LaunchWord) throws(LaunchLine.Problem) -> Item {
    guard word.text.hasPrefix("file:///") else {
      throw Problem(
        "a URI cannot replace an element: write 'uridecodebin uri=\(word.text)'",
        word.column)
    }
    position += 1
    return .element(
      add("filesrc", [("location", String(word.text.dropFirst("file://".count)))], name: nil),
      sink: nil, source: nil)
  }

  /// Parses `name.` or `name.pad`, or `.pad` before the element that has the pad.
  private mutating func reference(
    _ word: LaunchWord, isFirst: Bool
  ) throws(LaunchLine.Problem) -> Item {
    position += 1
    let parts = word.text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let (name, pad) = (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    guard !pad.contains(",") else {
      throw Problem("several pads need a link each in a file: '\(word.text)'", word.column)
    }
    guard !name.isEmpty else {
      guard let next = current, !next.isSyntax("!"), !next.isSyntax(")") else {
        throw Problem("the pad '\(word.text)' has no element", word.column)
      }
      return try element(sink: pad)
    }
    guard let index = try index(of: name) else {
      throw Problem("no element has the name '\(name)'", word.column)
    }
    let given = pad.isEmpty ? nil : pad
    return .element(index, sink: isFirst ? nil : given, source: isFirst ? given : nil)
  }

  /// Returns the index of the element with a name. If it is further along in the line, it is added
  /// now.
  private mutating func index(of name: String) throws(LaunchLine.Problem) -> Int? {
    if let index = named[name] { return index }
    guard
      let place = words[position...].firstIndex(where: {
        $0.assignment.map { $0.name == "name" && $0.value == name } ?? false
      })
    else { return nil }
    // The element type is the last word before the name that is not an assignment.
    guard let type = words[..<place].last(where: { $0.assignment == nil }), Self.isType(type.text)
    else { return nil }
    return add(type.text, [], name: name)
  }

  private mutating func element(sink: String?) throws(LaunchLine.Problem) -> Item {
    guard let word = current else { throw Problem("an element is missing", 1) }
    guard Self.isType(word.text) else {
      throw Problem("'\(word.text)' is neither an element, caps nor 'name.pad'", word.column)
    }
    position += 1
    var properties: [(word: LaunchWord, name: String, value: String)] = []
    var name: String?
    while let word = current, let (key, value) = word.assignment {
      position += 1
      if key == "name" { name = value } else { properties.append((word, key, value)) }
    }
    let index: Int
    if let name, let known = named[name] {
      index = known
    } else {
      index = add(word.text, [], name: name)
    }
    for property in properties { try set(property, of: index) }
    var source: String?
    if let word = current, word.text.hasPrefix("."), !word.isQuoted, word.text.count > 1 {
      source = String(word.text.dropFirst())
      position += 1
    }
    return .element(index, sink: sink, source: source)
  }

  private mutating func set(
    _ property: (word: LaunchWord, name: String, value: String), of index: Int
  ) throws(LaunchLine.Problem) {
    if property.name.hasPrefix("@") {
      throw Problem(
        "pipeline files have no presets: write the properties that '\(property.value)' sets",
        property.word.column)
    }
    guard let colons = property.name.firstRange(of: "::") else {
      return elements[index].properties.append((property.name, property.value))
    }
    let child = String(property.name[..<colons.lowerBound])
    let name = String(property.name[colons.upperBound...])
    let type = registry.elementType(elements[index].type)
    guard type?.padTemplates.contains(where: { $0.matches(child) }) ?? true else {
      throw Problem(
        "'\(child)' is not a pad of \(elements[index].type); a file cannot set properties of an "
          + "element's own children", property.word.column)
    }
    if let place = elements[index].pads.firstIndex(where: { $0.pad == child }) {
      elements[index].pads[place].properties.append((name, property.value))
    } else {
      elements[index].pads.append((child, [(name, property.value)]))
    }
  }

  /// Parses `( … )` or `bin.( … )`, which is linked by the first and the last element of its chain.
  private mutating func bin() throws(LaunchLine.Problem) -> [Item] {
    let open = position
    position += 1
    while current?.assignment != nil { position += 1 }
    var inner: [[Item]] = []
    while let word = current, !word.isSyntax(")") { inner.append(try chain().items) }
    guard current != nil else { throw Problem("this bin is not closed", words[open].column) }
    position += 1
    let isLinked = current?.isSyntax("!") == true || open > 0 && words[open - 1].isSyntax("!")
    guard inner.count == 1 || !isLinked else {
      throw Problem(
        "a bin with several chains cannot be linked as a whole; link its elements by name",
        words[open].column)
    }
    guard isLinked else {
      chains += inner
      return []
    }
    return inner[0]
  }

  private mutating func add(
    _ type: String, _ properties: [(name: String, value: String)], name: String?
  ) -> Int {
    elements.append(
      LaunchLine.Element(
        name: name.map(Self.fileName) ?? freshName(type), type: type, properties: properties))
    if let name { named[name] = elements.count - 1 }
    return elements.count - 1
  }

  /// Returns an unused name for an element without one, derived from its type.
  private mutating func freshName(_ type: String) -> String {
    let base = Self.fileName(type)
    var name = base
    var number = 1
    while !taken.insert(name).inserted {
      number += 1
      name = "\(base)-\(number)"
    }
    return name
  }

  private static func isType(_ text: String) -> Bool {
    !text.isEmpty && !text.hasPrefix("-") && text.utf8.allSatisfy(isNameByte)
  }

  /// Returns a name with the characters that pipeline files permit.
  private static func fileName(_ name: String) -> String {
    let text = String(
      name.unicodeScalars.map { scalar in
        scalar.isASCII && isNameByte(UInt8(truncatingIfNeeded: scalar.value))
          ? Character(scalar) : "-"
      })
    return text.first.map { $0.isNumber || $0 == "-" } ?? true ? "_" + text : text
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A) || (byte >= 0x30 && byte <= 0x39)
      || byte == 0x2D || byte == 0x5F
  }
}
