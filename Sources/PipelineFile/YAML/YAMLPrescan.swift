// SPDX-License-Identifier: MPL-2.0

/// What must be refused before a YAML parser sees the text: what it cannot place rightly, and
/// what could keep it busy for ever.
///
/// Looks at characters, not at YAML, so that nothing slips through; hence it may refuse a line
/// inside a block of text, too, if that line could be mistaken.
struct YAMLPrescan {
  let file: SourceFile
  let reporter: Reporter

  /// False where an error was reported.
  func check() -> Bool {
    var isFine = true
    var anchors = Set<String>()
    var aliases: [(name: String, SourceLocation)] = []
    var number = 0
    while let line = file.scalars(line: number + 1) {
      number += 1
      isFine = checkCharacters(line, number) && isFine
      let scalars = Array(line)
      for (index, scalar) in scalars.enumerated() {
        guard scalar == "&" || scalar == "*" || scalar == "?", startsToken(scalars, index) else {
          continue
        }
        if scalar == "?" {
          guard index + 1 == scalars.count || " \t".unicodeScalars.contains(scalars[index + 1])
          else { continue }
          isFine = false
          reporter.error(
            "keys introduced by '?' are not supported", at: location(number, index + 1),
            help: "write 'key: value', or quote the text")
        } else {
          let name = anchorName(scalars[(index + 1)...])
          guard !name.isEmpty else { continue }
          if scalar == "&" {
            anchors.insert(name)
          } else {
            aliases.append((name, location(number, index + 1, length: name.utf8.count + 1)))
          }
        }
      }
    }
    // An alias can stand for a document of any size, and needs its anchor.
    var reported = Set<String>()
    for (name, place) in aliases where anchors.contains(name) && reported.insert(name).inserted {
      isFine = false
      reporter.error(
        "YAML aliases such as '*\(name)' are not supported", at: place,
        help: "share settings by a parameter or a template; quote a text that begins with *")
    }
    return isFine
  }

  private func location(_ line: Int, _ column: Int, length: Int = 1) -> SourceLocation {
    SourceLocation(file: file, line: line, column: column, length: length)
  }

  private func checkCharacters(_ line: ArraySlice<Unicode.Scalar>, _ number: Int) -> Bool {
    var isFine = true
    var isIndentation = true
    for (index, scalar) in line.enumerated() {
      if isIndentation, scalar == "\t" {
        // A tab before a comment or in an empty line does no harm.
        let rest = line.dropFirst(index).drop { $0 == "\t" || $0 == " " }
        if let first = rest.first, first != "#" {
          reporter.error(
            "a tab cannot indent YAML", at: location(number, index + 1), help: "use spaces")
          isFine = false
        }
      }
      isIndentation = isIndentation && (scalar == " ")
      switch scalar.value {
      case 0x85, 0x2028, 0x2029:
        // YAML sees a new line there, an editor does not: every later line number would differ.
        reporter.error(
          "the invisible character \(spelled(scalar)) ends a line in YAML",
          at: location(number, index + 1), help: "remove it")
        isFine = false
      case 0x9, 0x20...0x7E, 0xA0...0xFFFD, 0x10000...: break
      default:
        reporter.error(
          "the control character \(spelled(scalar)) cannot stand in YAML",
          at: location(number, index + 1), help: "remove it; is this a text file?")
        return false
      }
    }
    return isFine
  }

  private func spelled(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  /// Whether a token of YAML could begin here: only signs that open something stand before it.
  private func startsToken(_ scalars: [Unicode.Scalar], _ index: Int) -> Bool {
    var before = index
    while before > 0, scalars[before - 1] == " " || scalars[before - 1] == "\t" { before -= 1 }
    return before == 0 || "-?:,[{".unicodeScalars.contains(scalars[before - 1])
      || (before < index && startsWithProperty(scalars, before))
  }

  /// Whether the word that ends here is a tag or an anchor, which may precede an anchor or tag.
  private func startsWithProperty(_ scalars: [Unicode.Scalar], _ end: Int) -> Bool {
    let start = scalars[..<end].lastIndex { $0 == " " || $0 == "\t" }.map { $0 + 1 } ?? 0
    return scalars[start] == "!" || scalars[start] == "&"
  }

  private func anchorName(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    var name = String.UnicodeScalarView()
    name.append(
      contentsOf: scalars.prefix { scalar in
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "-": true
        default: false
        }
      })
    return String(name)
  }
}
