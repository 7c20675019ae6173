import Yams

/// Reads the YAML of one file: stage 1.
struct YAMLReader {
  let file: SourceFile
  let reporter: Reporter

  /// More than a pipeline of tens of thousands of elements needs.
  static let byteLimit = 4 << 20
  /// More than the format nests; far less than the stack holds.
  static let depthLimit = 24
  /// How often a document is composed again to find a further duplicate key.
  private static let duplicateLimit = 12

  /// The document's root; nil where an error was reported.
  func read() -> YAMLNode? {
    guard YAMLPrescan(file: file, reporter: reporter).check() else { return nil }
    var text = file.text
    var renamed: [String: String] = [:]
    for _ in 0..<Self.duplicateLimit {
      do {
        // The parser keeps the document's anchors alive: it must outlive the conversion.
        let parser = try Parser(yaml: text, resolver: .basic, encoding: .utf8)
        guard let root = try parser.singleRoot() else {
          reporter.error(
            "the file is empty", at: SourceLocation(file: file, line: 1, column: 1),
            help: "a pipeline file has at least 'elements:' and 'links:'")
          return nil
        }
        let count = reporter.errorCount
        let node = convert(root, renamed: renamed, depth: 0)
        return reporter.errorCount == count ? node : nil
      } catch YamlError.duplicatedKeysInMapping(let duplicates, let context) {
        // Yams gives up at the first mapping with a duplicate. Rename one of the two without
        // moving anything, so that all duplicates and all other mistakes are found at once.
        guard let name = duplicates.min(),
          let (changed, newName) = rename(name, at: context.mark, in: text, number: renamed.count)
        else {
          reporter.error(
            "a key stands here twice: \(duplicates.sorted().joined(separator: ", "))",
            at: location(context.mark))
          return nil
        }
        text = changed
        renamed[newName] = name
      } catch {
        YAMLSyntaxErrors(file: file, reporter: reporter).report(error)
        return nil
      }
    }
    for name in Set(renamed.values).sorted() {
      reporter.error(
        "too many keys stand twice in their mapping, among them '\(name)'",
        at: SourceLocation(file: file, line: 1, column: 1))
    }
    return nil
  }

  private func location(_ mark: Mark?, length: Int = 1) -> SourceLocation {
    SourceLocation(file: file, line: mark?.line ?? 1, column: mark?.column ?? 1, length: length)
  }

  /// From a quote to the one that closes it, if that is in the same line.
  private func quotedLength(_ mark: Mark?) -> Int {
    guard let mark, let line = file.scalars(line: mark.line)?.dropFirst(mark.column - 1),
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

  private func convert(_ node: Node, renamed: [String: String], depth: Int) -> YAMLNode? {
    guard depth < Self.depthLimit else {
      reporter.error(
        "lists and mappings are nested more than \(Self.depthLimit) deep", at: location(node.mark))
      return nil
    }
    guard isPlainYAML(node) else { return nil }
    switch node {
    case .scalar(let scalar):
      let isPlain = scalar.style == .plain
      let length = isPlain ? scalar.string.unicodeScalars.count : quotedLength(scalar.mark)
      return YAMLNode(
        content: .scalar(scalar.string, isPlain: isPlain),
        location: location(scalar.mark, length: length))
    case .sequence(let sequence):
      let items = sequence.compactMap { convert($0, renamed: renamed, depth: depth + 1) }
      return YAMLNode(content: .sequence(items), location: location(sequence.mark))
    case .mapping(let mapping):
      return YAMLNode(
        content: .mapping(entries(of: mapping, renamed: renamed, depth: depth)),
        location: location(mapping.mark))
    case .alias(let alias):
      reporter.error("YAML aliases are not supported", at: location(alias.mark))
      return nil
    }
  }

  private func entries(
    of mapping: Node.Mapping, renamed: [String: String], depth: Int
  ) -> [YAMLNode.Entry] {
    var seen: [String: SourceLocation] = [:]
    var entries: [YAMLNode.Entry] = []
    for (keyNode, valueNode) in mapping {
      guard case .scalar(let scalar) = keyNode, isPlainYAML(keyNode) else {
        reporter.error(
          "a key must be a single word", at: location(keyNode.mark),
          help: "put quotes around a text that begins with [ or {")
        continue
      }
      let name = renamed[scalar.string] ?? scalar.string
      let place = location(scalar.mark, length: name.unicodeScalars.count)
      if let first = seen[name] {
        reporter.error(
          "'\(name)' stands here twice", at: place,
          notes: [.init(message: "it stands here first", location: first)])
      }
      seen[name] = seen[name] ?? place
      guard var value = convert(valueNode, renamed: renamed, depth: depth + 1) else { continue }
      // A value that is left out has its place where the next thing begins.
      if case .scalar("", isPlain: true) = value.content {
        value = YAMLNode(content: value.content, location: place)
      }
      entries.append(.init(key: LocatedText(text: name, location: place), value: value))
    }
    return entries
  }

  /// Anchors and tags change what a document means; none has a meaning here.
  private func isPlainYAML(_ node: Node) -> Bool {
    if let anchor = node.anchor {
      reporter.error(
        "YAML anchors are not supported", at: location(node.mark),
        help: "quote a text that begins with '&\(anchor.rawValue)'; share settings by a template")
      return false
    }
    let tag: Tag =
      switch node {
      case .scalar(let scalar): scalar.tag
      case .sequence(let sequence): sequence.tag
      case .mapping(let mapping): mapping.tag
      case .alias(let alias): alias.tag
      }
    guard [Tag.Name.implicit.rawValue, Tag.Name.str.rawValue, "!"].contains(tag.description)
    else {
      reporter.error(
        "YAML tags such as '\(tag.description)' are not supported", at: location(node.mark),
        help: "quote a text that begins with !")
      return false
    }
    return true
  }

  /// The text with the key at a place renamed to something as long that stands nowhere else.
  private func rename(
    _ name: String, at mark: Mark, in text: String, number: Int
  ) -> (text: String, name: String)? {
    let length = name.unicodeScalars.count
    guard length > 0, let unused = Unicode.Scalar(UInt32(0xE000 + number)) else { return nil }
    var scalars = Array(text.unicodeScalars)
    guard var start = index(of: mark, in: scalars) else { return nil }
    if start < scalars.count, scalars[start] == "\"" || scalars[start] == "'" { start += 1 }
    guard start + length <= scalars.count,
      scalars[start..<(start + length)].elementsEqual(name.unicodeScalars),
      !scalars.contains(unused)
    else { return nil }
    var newName = String.UnicodeScalarView()
    for index in start..<(start + length) {
      scalars[index] = unused
      newName.append(unused)
    }
    var changed = String.UnicodeScalarView()
    changed.append(contentsOf: scalars)
    return (String(changed), String(newName))
  }

  private func index(of mark: Mark, in scalars: [Unicode.Scalar]) -> Int? {
    var line = 1
    var index = 0
    while line < mark.line, index < scalars.count {
      if scalars[index] == "\n"
        || (scalars[index] == "\r" && !scalars[(index + 1)...].starts(with: ["\n"]))
      {
        line += 1
      }
      index += 1
    }
    let target = index + mark.column - 1
    return line == mark.line && target < scalars.count ? target : nil
  }
}
