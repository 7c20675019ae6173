// SPDX-License-Identifier: MPL-2.0

/// Splits the text of a link into parts, taking quotes, parentheses and braces into account.
struct LinkScanner {
  let placed: LocatedScalars
  private let scalars: [Unicode.Scalar]

  init(_ text: LocatedText) {
    placed = LocatedScalars(text)
    scalars = placed.scalars
  }

  var whole: Range<Int> { scalars.indices }

  /// Returns the range without blanks at its ends.
  func trimmed(_ range: Range<Int>) -> Range<Int> {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high, Self.isBlank(scalars[low]) { low += 1 }
    while low < high, Self.isBlank(scalars[high - 1]) { high -= 1 }
    return low..<high
  }

  /// Returns the parts of the range between separators outside quotes and brackets.
  func split(_ range: Range<Int>, by separator: String) -> [Range<Int>] {
    let separator = Array(separator.unicodeScalars)
    var parts: [Range<Int>] = []
    var start = range.lowerBound
    var next = start
    scan(range) { index in
      guard index >= next, scalars[index..<range.upperBound].starts(with: separator) else { return }
      parts.append(start..<index)
      start = index + separator.count
      next = start
    }
    parts.append(start..<range.upperBound)
    return parts
  }

  /// Returns the words of the range, separated by blanks outside quotes and brackets.
  func words(_ range: Range<Int>) -> [Range<Int>] {
    var words: [Range<Int>] = []
    var start = range.lowerBound
    scan(range) { index in
      guard Self.isBlank(scalars[index]) else { return }
      if start < index { words.append(start..<index) }
      start = index + 1
    }
    if start < range.upperBound { words.append(start..<range.upperBound) }
    return words
  }

  /// Returns the first position of the scalar outside quotes and brackets.
  func first(_ scalar: Unicode.Scalar, in range: Range<Int>) -> Int? {
    var found: Int?
    scan(range) { index in if found == nil, scalars[index] == scalar { found = index } }
    return found
  }

  /// Returns the position of a bracket or quote that is never closed.
  func unclosed(_ range: Range<Int>) -> Int? {
    scan(range) { _ in }
  }

  /// Visits the scalars outside quotes and brackets, including opening brackets.
  @discardableResult
  private func scan(_ range: Range<Int>, _ visit: (Int) -> Void) -> Int? {
    var open: [Int] = []
    var quote: (Unicode.Scalar, Int)?
    var index = range.lowerBound
    while index < range.upperBound {
      let scalar = scalars[index]
      if let (mark, _) = quote {
        if scalar == mark { quote = nil }
      } else if scalar == "\\" {
        index += 1
      } else if scalar == "\"" || scalar == "'" {
        quote = (scalar, index)
      } else if scalar == "(" || scalar == "{" || scalar == "[" {
        if open.isEmpty { visit(index) }
        open.append(index)
      } else if scalar == ")" || scalar == "}" || scalar == "]" {
        if open.popLast() == nil { visit(index) }
      } else if open.isEmpty {
        visit(index)
      }
      index += 1
    }
    return quote?.1 ?? open.last
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r"
  }

  /// Returns the content of the quotes if the whole range is quoted; nil otherwise.
  func quoted(_ range: Range<Int>) -> Range<Int>? {
    guard range.count >= 2, let mark = scalars[range].first, mark == "\"" || mark == "'",
      scalars[(range.lowerBound + 1)..<range.upperBound].firstIndex(of: mark)
        == range.upperBound - 1
    else { return nil }
    return trimmed((range.lowerBound + 1)..<(range.upperBound - 1))
  }

  /// Returns the text of the range without quotes and escaping backslashes.
  func unquoted(_ range: Range<Int>) -> LocatedText {
    let part = placed.part(range)
    guard scalars[range].contains(where: { "\"'\\".unicodeScalars.contains($0) }) else {
      return part
    }
    var text = String.UnicodeScalarView()
    var quote: Unicode.Scalar?
    var index = range.lowerBound
    while index < range.upperBound {
      let scalar = scalars[index]
      if scalar == "\\", index + 1 < range.upperBound {
        text.append(scalars[index + 1])
        index += 1
      } else if scalar == quote {
        quote = nil
      } else if quote == nil, scalar == "\"" || scalar == "'" {
        quote = scalar
      } else {
        text.append(scalar)
      }
      index += 1
    }
    return LocatedText(text: String(text), location: part.location)
  }
}
