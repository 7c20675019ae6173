// SPDX-License-Identifier: MPL-2.0

/// The parameters that a text may refer to; tracks which of them are used.
final class ParameterScope {
  private let parameters: [Parameter]
  private let byName: [String: Int]
  private let enclosing: ParameterScope?
  private let reporter: Reporter
  private var used = Set<String>()

  init(_ parameters: [Parameter], enclosing: ParameterScope?, _ reporter: Reporter) {
    self.parameters = parameters
    self.enclosing = enclosing
    self.reporter = reporter
    byName = Dictionary(
      parameters.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    for parameter in parameters {
      guard let hidden = enclosing?.parameter(parameter.name) else { continue }
      reporter.warning(
        "'\(parameter.name)' hides the file's parameter of that name", at: parameter.location,
        notes: [.init(message: "the file's parameter", location: hidden.location)])
    }
  }

  private func parameter(_ name: String) -> Parameter? { byName[name].map { parameters[$0] } }

  /// Checks that the parameters a text refers to exist, and that those with a part are paths.
  func check(_ text: InterpolatedText) {
    for reference in text.references {
      guard case .parameter(let name, let part) = reference.target else { continue }
      guard let parameter = use(name) else {
        let known = knownNames()
        reporter.error(
          "no parameter is named '\(name)'", at: reference.location,
          help: reporter.didYouMean(name, among: known)
            ?? (known.isEmpty
              ? "'parameters:' declares them" : "the parameters are \(Self.list(known))"))
        continue
      }
      if let part, parameter.type != .path {
        reporter.error(
          "'\(name)' is not a path and has no \(part.rawValue)", at: reference.location,
          notes: [
            .init(message: "it is of type \(parameter.type.rawValue)", location: parameter.location)
          ])
      }
    }
  }

  /// Checks the defaults: they may refer to each other, but not in a cycle.
  func checkDefaults() {
    for parameter in parameters {
      for text in parameter.defaults { check(text) }
    }
    for cycle in Self.dependencies(of: parameters).cycles {
      let names = (cycle + [cycle[0]]).map { parameters[$0].name }
      reporter.error(
        "the default of '\(names[0])' refers to itself: \(names.joined(separator: " -> "))",
        at: parameters[cycle[0]].defaults.first?.location)
    }
  }

  /// Returns the order in which the defaults can be evaluated.
  static func dependencies(of parameters: [Parameter]) -> DependencyOrder {
    let byName = Dictionary(
      parameters.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    return DependencyOrder(
      parameters.map { parameter in
        let names = parameter.defaults.flatMap(\.references).compactMap { reference -> String? in
          if case .parameter(let name, _) = reference.target { name } else { nil }
        }
        return Set(names).compactMap { byName[$0] }.sorted()
      })
  }

  func warnOfUnused(in place: String) {
    for parameter in parameters where !used.contains(parameter.name) {
      reporter.warning(
        "nothing in \(place) refers to the parameter '\(parameter.name)'",
        at: parameter.location, help: "'${\(parameter.name)}' stands for its value")
    }
  }

  private func use(_ name: String) -> Parameter? {
    guard let parameter = parameter(name) else { return enclosing?.use(name) }
    used.insert(name)
    return parameter
  }

  /// Whether a name, here or in an enclosing scope, is that of a list.
  func isList(_ name: String) -> Bool {
    parameter(name)?.isList ?? enclosing?.isList(name) ?? false
  }

  private func knownNames() -> [String] {
    parameters.map(\.name) + (enclosing?.knownNames() ?? [])
  }

  private static func list(_ names: [String]) -> String {
    names.prefix(8).joined(separator: ", ") + (names.count > 8 ? ", …" : "")
  }
}
