// SPDX-License-Identifier: MPL-2.0

/// The text of a file, split into lines, for messages that refer to it.
public final class SourceFile: Sendable {
  /// The name of the file in messages: its path as given.
  public let name: String
  let text: String
  private let lines: [ArraySlice<Unicode.Scalar>]

  package init(name: String, text: String) {
    self.name = name
    self.text = text
    let scalars = Array(text.unicodeScalars)
    var lines: [ArraySlice<Unicode.Scalar>] = []
    var start = 0
    for (index, scalar) in scalars.enumerated() {
      if scalar == "\n", index > 0, scalars[index - 1] == "\r" {
        start = index + 1
      } else if scalar == "\n" || scalar == "\r" {
        lines.append(scalars[start..<index])
        start = index + 1
      }
    }
    lines.append(scalars[start...])
    self.lines = lines
  }

  /// Returns a line without its line end, numbered from 1; nil outside the file.
  func scalars(line number: Int) -> ArraySlice<Unicode.Scalar>? {
    lines.indices.contains(number &- 1) ? lines[number - 1] : nil
  }

  /// Characters that end a line in YAML, but not in editors.
  var hiddenLineEnds: [(character: Unicode.Scalar, place: SourceLocation)] {
    var found: [(Unicode.Scalar, SourceLocation)] = []
    for (index, line) in lines.enumerated() {
      for (offset, scalar) in line.enumerated() where Self.isHiddenLineEnd(scalar) {
        found.append((scalar, SourceLocation(file: self, line: index + 1, column: offset + 1)))
      }
    }
    return found
  }

  private static func isHiddenLineEnd(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value == 0x85 || scalar.value == 0x2028 || scalar.value == 0x2029
  }
}

/// A range of characters in a line of a file.
public struct SourceLocation: Sendable, Equatable {
  /// The file.
  public let file: SourceFile
  /// Line number, from 1.
  public let line: Int
  /// Column in Unicode scalars, from 1.
  public let column: Int
  /// Length in Unicode scalars; at least 1.
  public let length: Int

  package init(file: SourceFile, line: Int, column: Int, length: Int = 1) {
    self.file = file
    self.line = max(1, line)
    self.column = max(1, column)
    self.length = max(1, length)
  }

  /// Compares file identity, line, column and length.
  public static func == (one: Self, other: Self) -> Bool {
    one.file === other.file && one.line == other.line && one.column == other.column
      && one.length == other.length
  }
}

extension SourceLocation: CustomStringConvertible {
  /// `file:line:column`
  public var description: String { "\(file.name):\(line):\(column)" }
}

/// A text with its location in a file.
struct LocatedText: Sendable {
  let text: String
  let location: SourceLocation
}

/// The scalars of a text, each with its location in the file.
struct LocatedScalars {
  let scalars: [Unicode.Scalar]
  private let whole: SourceLocation
  /// The column of the first scalar; nil if the text differs from the characters in the file
  /// (escapes, several lines).
  private let column: Int?

  package init(_ text: LocatedText) {
    scalars = Array(text.text.unicodeScalars)
    whole = text.location
    let line = whole.file.scalars(line: whole.line) ?? []
    let spelled = line.dropFirst(whole.column - 1)
    if spelled.starts(with: scalars) {
      column = whole.column
    } else if let quote = spelled.first, quote == "\"" || quote == "'",
      spelled.dropFirst().starts(with: scalars)
    {
      column = whole.column + 1
    } else {
      column = nil
    }
  }

  /// Returns the location of some of the scalars, or of the whole text if their own locations are
  /// unknown.
  func location(_ range: Range<Int>) -> SourceLocation {
    guard let column else { return whole }
    return SourceLocation(
      file: whole.file, line: whole.line, column: column + range.lowerBound, length: range.count)
  }

  /// Returns a part of the text, with its location.
  func part(_ range: Range<Int>) -> LocatedText {
    LocatedText(text: text(range), location: location(range))
  }

  func text(_ range: Range<Int>) -> String {
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars[range.clamped(to: scalars.indices)])
    return String(text)
  }
}
