// SPDX-License-Identifier: MPL-2.0

extension Diagnostics {
  /// Returns the diagnostics as a compiler prints them: file, line and column, the problem, the
  /// line with a caret below the location, and what was probably meant. Each line ends with a line
  /// feed; empty if there are no diagnostics.
  ///
  /// - Parameter color: whether to use terminal escape sequences.
  public func text(color: Bool = false) -> String {
    let style = Style(isOn: color)
    return all.map { $0.text(style) }.joined()
  }
}

/// Applies terminal escape sequences, or none.
struct Style {
  let isOn: Bool

  func callAsFunction(_ code: String, _ text: String) -> String {
    isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}

extension Diagnostic {
  fileprivate func text(_ style: Style) -> String {
    let code = severity == .error ? "1;31" : "1;35"
    var lines = [
      Self.head(
        location, style(code, severity.rawValue + ":"), style("1", printable(message)), style)
    ]
    let excerpt = location.flatMap { SourceExcerpt($0) }
    if let excerpt { lines += excerpt.lines(style, code: code) }
    if let help {
      let indent = String(repeating: " ", count: excerpt?.gutter ?? 0)
      lines.append("\(indent) = \(style("36", printable(help)))")
    }
    for note in notes {
      lines.append(
        Self.head(note.location, style("1;36", "note:"), printable(note.message), style))
      if let excerpt = note.location.flatMap({ SourceExcerpt($0) }) {
        lines += excerpt.lines(style, code: "1;36")
      }
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private static func head(
    _ location: SourceLocation?, _ kind: String, _ message: String, _ style: Style
  ) -> String {
    guard let location else { return "\(kind) \(message)" }
    return "\(style("1", printable(location.description) + ":")) \(kind) \(message)"
  }
}

/// An excerpt of a source line with a mark below some of its characters.
private struct SourceExcerpt {
  private let number: String
  private let before: [Unicode.Scalar]
  private let marked: Int
  private let shown: [Unicode.Scalar]

  /// Maximum number of columns shown; of longer lines, those around the location.
  private static let width = 100

  init?(_ location: SourceLocation) {
    guard let line = location.file.scalars(line: location.line) else { return nil }
    number = String(location.line)
    let scalars = Array(line.prefix(location.column - 1 + 4 * Self.width))
    let column = min(location.column - 1, scalars.count)
    let start = column < Self.width * 3 / 4 ? 0 : column - Self.width / 2
    let end = min(scalars.count, start + Self.width)
    let head: [Unicode.Scalar] = start > 0 ? ["…"] : []
    let tail: [Unicode.Scalar] = end < scalars.count ? ["…"] : []
    before = head + scalars[start..<max(start, column)]
    marked = max(1, min(location.length, end - column))
    shown = head + scalars[start..<end] + tail
  }

  fileprivate var gutter: Int { number.count }

  func lines(_ style: Style, code: String) -> [String] {
    let indent = before.map { $0 == "\t" ? "\t" : " " }.joined()
    let mark = "^" + String(repeating: "~", count: marked - 1)
    let blank = String(repeating: " ", count: gutter)
    var line = String.UnicodeScalarView()
    line.append(contentsOf: shown)
    return [
      "\(style("34", "\(number) |")) \(printable(String(line), tabs: true))",
      "\(style("34", "\(blank) |")) \(indent)\(style(code, mark))",
    ]
  }
}

/// Returns the text with each character that could control a terminal replaced by "�".
func printable(_ text: String, tabs: Bool = false) -> String {
  func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control: tabs && scalar == "\t"
    case .format, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
  guard !text.unicodeScalars.allSatisfy(isHarmless) else { return text }
  var result = String.UnicodeScalarView()
  for scalar in text.unicodeScalars { result.append(isHarmless(scalar) ? scalar : "\u{FFFD}") }
  return String(result)
}

extension String {
  /// The text in double quotes, in a form valid both as JSON (RFC 8259 7) and as YAML 1.2 (7.3.1).
  package var doubleQuoted: String {
    var result = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      default:
        if scalar.value < 0x20 || (0x7F...0xA0).contains(scalar.value)
          || (0x2028...0x2029).contains(scalar.value) || scalar.value == 0xFEFF
        {
          let digits = String(scalar.value, radix: 16)
          result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }
}
