// SPDX-License-Identifier: MPL-2.0

/// A text with references to parameters and environment variables: `${input.stem}_3D.mov`.
///
/// `$${` is the escape for a literal `${`. Braces without a dollar sign have no special meaning.
public struct InterpolatedText: Sendable {
  enum Segment: Sendable {
    case literal(String)
    case reference(Reference)
  }

  /// `${name}`, `${name.part}` or `${env.NAME}`.
  struct Reference: Sendable {
    enum Target: Sendable, Equatable {
      case parameter(String, PathPart?)
      case environment(String)
    }

    let target: Target
    let location: SourceLocation
  }

  /// The text as written in the file.
  public let source: String
  /// The location in the file.
  public let location: SourceLocation
  let segments: [Segment]

  /// Parses the references; reports malformed ones.
  init(_ text: LocatedText, _ reporter: Reporter) {
    source = text.text
    location = text.location
    guard text.text.utf8.contains(UInt8(ascii: "$")) else {
      segments = [.literal(text.text)]
      return
    }
    segments = Self.parse(text, reporter)
  }

  /// Creates a text without references.
  init(literal: String, at location: SourceLocation) {
    source = literal
    self.location = location
    segments = [.literal(literal)]
  }

  /// Creates a text that consists of a reference to a parameter.
  init(parameter name: String, at location: SourceLocation) {
    source = "${\(name)}"
    self.location = location
    segments = [.reference(Reference(target: .parameter(name, nil), location: location))]
  }

  var references: [Reference] {
    segments.compactMap { if case .reference(let reference) = $0 { reference } else { nil } }
  }

  /// The text if it has no references, else nil.
  var literal: String? {
    var result = ""
    for segment in segments {
      guard case .literal(let text) = segment else { return nil }
      result += text
    }
    return result
  }

  private static func parse(_ text: LocatedText, _ reporter: Reporter) -> [Segment] {
    let placed = LocatedScalars(text)
    let scalars = placed.scalars
    var segments: [Segment] = []
    var literal = String.UnicodeScalarView()
    var index = 0
    func finishLiteral() {
      if !literal.isEmpty { segments.append(.literal(String(literal))) }
      literal = .init()
    }
    while index < scalars.count {
      if scalars[index...].starts(with: "$${".unicodeScalars) {
        literal.append(contentsOf: "${".unicodeScalars)
        index += 3
      } else if scalars[index...].starts(with: "${".unicodeScalars) {
        guard let end = scalars[index...].firstIndex(of: "}") else {
          reporter.error(
            "'${' is not closed by '}'", at: placed.location(index..<(index + 2)),
            help: "write $${ for a literal ${")
          return segments
        }
        finishLiteral()
        let place = placed.location(index..<(end + 1))
        if let target = target(placed.text((index + 2)..<end), place, reporter) {
          segments.append(.reference(Reference(target: target, location: place)))
        }
        index = end + 1
      } else {
        literal.append(scalars[index])
        index += 1
      }
    }
    finishLiteral()
    return segments.isEmpty ? [.literal("")] : segments
  }

  private static func target(
    _ name: String, _ place: SourceLocation, _ reporter: Reporter
  ) -> Reference.Target? {
    let words = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard words.count <= 2, words.allSatisfy(Name.isValid) else {
      reporter.error(
        "'${\(name)}' does not name a parameter", at: place,
        help: "write ${name}, ${name.stem} or ${env.NAME}; $${ for a literal ${")
      return nil
    }
    guard words.count == 2 else {
      guard words[0] != "env" else {
        reporter.error(
          "'${env}' does not name a variable", at: place, help: "write ${env.NAME}")
        return nil
      }
      return .parameter(words[0], nil)
    }
    if words[0] == "env" { return .environment(words[1]) }
    guard let part = PathPart(rawValue: words[1]) else {
      let parts = PathPart.allCases.map(\.rawValue)
      reporter.error(
        "a path has no part '\(words[1])'", at: place,
        help: reporter.didYouMean(words[1], among: parts)
          ?? "its parts are \(parts.joined(separator: ", "))")
      return nil
    }
    return .parameter(words[0], part)
  }
}

/// The syntax of the names of parameters, elements and templates.
enum Name {
  /// Whether the text is a letter or `_`, followed by letters, digits, `_` and `-`.
  static func isValid(_ text: String) -> Bool {
    guard let first = text.utf8.first, isLetter(first), text.utf8.count <= 100 else {
      return false
    }
    return text.utf8.allSatisfy(isInner)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
      || byte == UInt8(ascii: "_")
  }

  private static func isInner(_ byte: UInt8) -> Bool {
    isLetter(byte) || byte == UInt8(ascii: "-")
      || (byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"))
  }
}
