// SPDX-License-Identifier: MPL-2.0

/// Compares a property's value with the property's type.
struct PropertyCheck {
  let registry: any ElementRegistry
  let reporter: Reporter

  /// Checks a property.
  ///
  /// - Parameter owner: the element or pad that has the property, for messages.
  func check(
    _ property: ResolvedGraph.Property, of properties: [PropertyDescription], owner: String
  ) {
    guard let description = properties.first(where: { $0.name == property.name }) else {
      let names = properties.filter(\.isWritable).map(\.name)
      reporter.error(
        "\(owner) has no property '\(property.name)'", at: property.nameLocation,
        help: reporter.didYouMean(property.name, among: names)
          ?? (names.isEmpty ? "it has no properties" : listed(names)))
      return
    }
    guard description.isWritable else {
      reporter.error(
        "the property '\(property.name)' of \(owner) is read-only",
        at: property.nameLocation)
      return
    }
    switch property.value {
    case .text(let text, _):
      guard let known = text.known else { return }
      if let problem = problem(with: known, description) {
        reporter.error(problem.message, at: property.location, help: problem.help)
      }
    case .list(let items): check(items, property, description)
    case .fields:
      guard case .structure = description.type else {
        reporter.error(
          "'\(property.name)' takes \(description.type.expectation), not a mapping",
          at: property.location)
        return
      }
    }
  }

  private func listed(_ names: [String]) -> String? {
    names.count > 12 ? nil : "it has \(names.joined(separator: ", "))"
  }

  private func check(
    _ items: [ResolvedGraph.Value], _ property: ResolvedGraph.Property,
    _ description: PropertyDescription
  ) {
    switch description.type {
    case .array: break
    case .flags(let nicks):
      for case .text(let text, let location) in items {
        guard let known = text.known, let problem = problem(with: known, flags: nicks, description)
        else { continue }
        reporter.error(problem.message, at: location, help: problem.help)
      }
    default:
      reporter.error(
        "'\(property.name)' takes \(description.type.expectation), not a list",
        at: property.location)
    }
  }

  private typealias Problem = (message: String, help: String?)

  private func problem(with written: String, _ property: PropertyDescription) -> Problem? {
    var text = written
    switch property.type {
    case .integer, .unsigned: text = property.unit?.number(written) ?? written
    default: break
    }
    func wrong(help: String? = nil) -> Problem {
      ("'\(property.name)' takes \(property.type.expectation), not '\(text)'", help)
    }
    switch property.type {
    case .string, .array: return nil
    case .boolean: return Quantity.boolean(text) == nil ? wrong() : nil
    case .integer(let range):
      guard let value = Integer(text) else { return wrong(help: Self.unitHelp(text)) }
      return value.outside(range).map { Self.outside(property, $0, text) }
    case .unsigned(let range):
      guard let value = Integer(text) else { return wrong(help: Self.unitHelp(text)) }
      return value.outside(range).map { Self.outside(property, $0, text) }
    case .number(let range):
      guard let value = Quantity.number(text) else { return wrong() }
      if value < range.lowerBound {
        return Self.outside(property, .below(Self.text(range.lowerBound)), text)
      }
      return value > range.upperBound
        ? Self.outside(property, .above(Self.text(range.upperBound)), text) : nil
    case .fraction: return Quantity.fraction(text) == nil ? wrong() : nil
    case .enumeration(let nicks):
      guard !nicks.contains(where: { $0.nick == text || String($0.value) == text }) else {
        return nil
      }
      return ("'\(property.name)' cannot be '\(text)'", nickHelp(text, nicks))
    case .flags(let nicks): return problem(with: text, flags: nicks, property)
    case .caps:
      return registry.problem(inCaps: text).map {
        ("'\(property.name)' takes caps, but '\(text)' is not valid: \($0)", nil)
      }
    case .structure:
      return registry.problem(inStructure: text).map {
        ("'\(property.name)' takes a structure, but '\(text)' is not valid: \($0)", nil)
      }
    case .other(let type):
      return ("'\(property.name)' is of type \(type), which cannot be set in a file", nil)
    }
  }

  private func problem(
    with text: String, flags nicks: [PropertyType.Nick], _ property: PropertyDescription
  ) -> Problem? {
    guard Integer(text) == nil else { return nil }
    for word in text.split(separator: "+") {
      let word = String(word.drop { $0 == " " }.prefix { $0 != " " })
      guard !nicks.contains(where: { $0.nick == word }) else { continue }
      return ("'\(property.name)' has no flag '\(word)'", nickHelp(word, nicks))
    }
    return nil
  }

  private func nickHelp(_ text: String, _ nicks: [PropertyType.Nick]) -> String {
    let names = nicks.map(\.nick)
    return reporter.didYouMean(text, among: names)
      ?? "it is one of \(names.prefix(20).joined(separator: ", "))"
      + (names.count > 20 ? ", …" : "")
  }

  private static func text(_ number: Double) -> String {
    let text = "\(number)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// Returns help for a value with a unit. If the element does not state the property's unit, the
  /// number cannot be converted safely.
  private static func unitHelp(_ text: String) -> String? {
    if let time = Quantity.nanoseconds(text) { return "in nanoseconds, that is \(time)" }
    return Quantity.bytes(text).map { "in bytes, that is \($0)" }
  }

  private static func outside(
    _ property: PropertyDescription, _ limit: Integer.Limit, _ text: String
  ) -> Problem {
    switch limit {
    case .below(let least): ("'\(property.name)' must be at least \(least), not \(text)", nil)
    case .above(let most): ("'\(property.name)' must be at most \(most), not \(text)", nil)
    }
  }
}

/// An integer in the range of any property, decimal or `0x…`.
private struct Integer {
  enum Limit {
    case below(String)
    case above(String)
  }

  private let value: Int128

  init?(_ text: String) {
    let isHex = text.hasPrefix("0x") || text.hasPrefix("0X")
    guard let value = isHex ? Int128(text.dropFirst(2), radix: 16) : Int128(text) else {
      return nil
    }
    self.value = value
  }

  func outside(_ range: ClosedRange<some BinaryInteger>) -> Limit? {
    if value < Int128(range.lowerBound) { return .below("\(range.lowerBound)") }
    return value > Int128(range.upperBound) ? .above("\(range.upperBound)") : nil
  }
}

extension PropertyType {
  /// A description of valid values, for messages.
  fileprivate var expectation: String {
    switch self {
    case .boolean: "true or false"
    case .integer, .unsigned: "a whole number"
    case .number: "a number"
    case .string: "a text"
    case .enumeration: "one value"
    case .flags: "flags joined by '+'"
    case .caps: "caps"
    case .fraction: "a fraction such as 30000/1001"
    case .structure: "a structure"
    case .array: "a list"
    case .other(let type): "a value of type \(type)"
    }
  }
}
