// SPDX-License-Identifier: MPL-2.0

/// Reads what stands in the parentheses of a template or a new element: `name=left, fov=63.4`.
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
            ? "an argument is missing" : "'\(scanner.placed.text(part))' is no argument",
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
