// SPDX-License-Identifier: MPL-2.0

/// Reads the part of gst-launch syntax that describes a chain: `queue max-size-buffers=0 !
/// video/x-raw,format=NV12 ! videoconvert name=convert`.
struct LaunchParser {
  let reporter: Reporter
  let scanner: LinkScanner

  func steps(_ parts: [Range<Int>]) -> [LinkStep] {
    parts.compactMap { part in
      guard !part.isEmpty else {
        reporter.error(
          "an end of '!' is missing",
          at: scanner.placed.location(max(0, part.lowerBound - 1)..<max(1, part.lowerBound)))
        return nil
      }
      return step(part)
    }
  }

  private func step(_ range: Range<Int>) -> LinkStep? {
    let location = scanner.placed.location(range)
    let words = scanner.words(range)
    let type = scanner.unquoted(words[0])
    if type.text.contains("/") {
      let caps = InterpolatedText(scanner.unquoted(range), reporter)
      return LinkStep(content: .caps(caps), location: location)
    }
    if type.text.hasSuffix(".") {
      reporter.error(
        "gst-launch syntax cannot refer to an element here", at: type.location,
        help: "link it with '->'")
      return nil
    }
    guard Name.isValidType(type.text) || type.text.hasPrefix("${") else {
      reporter.error("'\(type.text)' is not the type of an element", at: type.location)
      return nil
    }
    var name: LocatedText?
    var properties: [PropertyAssignment] = []
    if let equals = words.first(where: { scanner.placed.text($0) == "=" }) {
      reporter.error(
        "no blanks may stand around '='", at: scanner.placed.location(equals))
      return nil
    }
    for word in words.dropFirst() {
      guard let property = assignment(word) else { continue }
      if property.name.text == "name", case .text(let text) = property.value {
        name = LocatedText(text: text.source, location: text.location)
      } else {
        properties.append(property)
      }
    }
    let specification = ElementSpecification(
      type: InterpolatedText(type, reporter), properties: properties)
    return LinkStep(content: .element(specification, name: name), location: location)
  }

  private func assignment(_ range: Range<Int>) -> PropertyAssignment? {
    guard let equals = scanner.first("=", in: range), equals > range.lowerBound else {
      reporter.error(
        "'\(scanner.placed.text(range))' is no property", at: scanner.placed.location(range),
        help: "properties are written as name=value; '!' stands between elements")
      return nil
    }
    return PropertyAssignment(
      name: scanner.placed.part(range.lowerBound..<equals),
      value: .text(
        InterpolatedText(scanner.unquoted((equals + 1)..<range.upperBound), reporter)))
  }
}

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
