// SPDX-License-Identifier: MPL-2.0

extension Repetition {
  /// The mark in a link.
  var mark: String {
    switch self {
    case .once: ""
    case .optional: "?"
    case .each: "*"
    }
  }
}

/// The part of stage 2 that needs the whole file: names, references, cycles and unused items.
final class ModelCheck {
  let file: PipelineFile
  let reporter: Reporter
  let names: NameTable
  /// The names for suggestions; sorted, so that messages are reproducible.
  lazy var elementNames = names.elementNames.sorted()
  /// Warnings about unused parameters, reported only if there are no errors.
  private var warnings: [() -> Void] = []
  /// Elements that a link refers to.
  var linked = Set<String>()
  /// Pads that a link refers to, with their direction.
  var usedPads: [String: SourceLocation] = [:]
  /// Whether templates neither use themselves nor expand excessively.
  var canBeExpanded = true
  /// Templates that a link or a chain refers to.
  var usedTemplates = Set<String>()
  /// The scopes of the files checked so far.
  private var scopes: [ParameterScope] = []

  init(file: PipelineFile, reporter: Reporter) {
    self.file = file
    self.reporter = reporter
    names = NameTable(file.units, reporter)
  }

  func check() {
    for included in file.units { check(included) }
    checkTemplateNesting()
    checkLoops()
    // Items may be unused only because of an error.
    guard !reporter.hasErrors else { return }
    for warn in warnings { warn() }
    for included in file.units { warnOfUnused(in: included.unit) }
  }

  private func check(_ included: IncludedUnit) {
    let unit = included.unit
    let scope = ParameterScope(unit.parameters, enclosing: nil, reporter)
    scopes.append(scope)
    scope.checkDefaults()
    for element in unit.elements { check(element.specification, scope) }
    for pad in unit.pads {
      checkPad(pad)
      for property in pad.properties { check(property.value, scope) }
    }
    for template in unit.templates {
      let inner = ParameterScope(template.parameters, enclosing: scope, reporter)
      inner.checkDefaults()
      for (position, step) in template.chain.enumerated() {
        check(step, scope: inner)
        checkChainItem(step, isLast: position == template.chain.count - 1, in: template, inner)
      }
      warnings.append { inner.warnOfUnused(in: "the template '\(template.name.text)'") }
    }
    for link in unit.links {
      for step in link.steps { check(step, scope: scope) }
      check(link, scope: scope)
    }
    if let include = included.include, let parent = included.parent {
      for argument in included.arguments { scopes[parent].check(argument.value) }
      checkArguments(
        included.arguments, against: unit.parameters, of: "'\(include.file.text)'",
        at: include.file.location,
        help: include.inherits.map { _ in "this file has no parameter of that name to inherit" })
      if unit.run != nil {
        reporter.warning(
          "'run' has no effect in an included file",
          at: SourceLocation(file: unit.file, line: 1, column: 1))
      }
    }
    warnings.append { scope.warnOfUnused(in: "the file") }
  }

  private func check(_ specification: ElementSpecification, _ scope: ParameterScope) {
    scope.check(specification.type)
    for property in specification.properties { check(property.value, scope) }
  }

  private func check(_ value: PropertyValue, _ scope: ParameterScope) {
    for text in value.texts { scope.check(text) }
  }

  private func check(_ step: LinkStep, scope: ParameterScope) {
    switch step.content {
    case .named: break
    case .caps(let caps): scope.check(caps)
    case .element(let specification): check(specification, scope)
    }
  }

  private func checkPad(_ pad: PadDeclaration) {
    switch names[pad.element.text] {
    case .element: break
    case .template, nil:
      reporter.error(
        "no element is named '\(pad.element.text)'", at: pad.location,
        help: reporter.didYouMean(pad.element.text, among: elementNames))
    }
  }

  /// Checks the arguments of an include or a template: each must exist and have the right type as
  /// far as that is known, and none may be missing.
  ///
  /// - Parameter help: help text for a missing argument.
  func checkArguments(
    _ arguments: [Argument], against parameters: [Parameter], of what: String,
    at location: SourceLocation, help: String? = nil
  ) {
    // A misspelled argument is not reported as missing too.
    var meant = Set<String>()
    for argument in arguments {
      guard let parameter = parameters.first(where: { $0.name == argument.name.text }) else {
        let known = parameters.map(\.name)
        let suggestion = reporter.suggestion(for: argument.name.text, among: known)
        if let suggestion { meant.insert(suggestion) }
        reporter.error(
          "\(what) has no parameter '\(argument.name.text)'", at: argument.name.location,
          help: suggestion.map { "did you mean '\($0)'?" }
            ?? (known.isEmpty
              ? "it has no parameters" : "its parameters are \(known.joined(separator: ", "))"))
        continue
      }
      guard let literal = argument.value.literal,
        let problem = parameter.problem(with: literal, reporter)
      else { continue }
      reporter.error(problem.message, at: argument.value.location, help: problem.help)
    }
    for parameter in parameters
    where parameter.isRequired && !meant.contains(parameter.name)
      && !arguments.contains(where: { $0.name.text == parameter.name })
    {
      reporter.error(
        "\(what) needs a value for '\(parameter.name)'", at: location, help: help,
        notes: [.init(message: "it is required here", location: parameter.location)])
    }
  }

  private func warnOfUnused(in unit: PipelineUnit) {
    for element in unit.elements where !linked.contains(element.name.text) {
      reporter.warning(
        "the element '\(element.name.text)' is not linked", at: element.name.location)
    }
    for template in unit.templates where !usedTemplates.contains(template.name.text) {
      reporter.warning(
        "the template '\(template.name.text)' is not used", at: template.name.location)
    }
  }
}

/// The meanings of the names in a pipeline file and its includes, which share one namespace.
struct NameTable {
  enum Meaning {
    case element(ElementDeclaration, unit: Int)
    case template(Template, unit: Int)
  }

  private(set) var meanings: [String: (meaning: Meaning, location: SourceLocation)] = [:]

  /// Collects the names and reports duplicates; the first meaning is kept.
  init(_ units: [IncludedUnit], _ reporter: Reporter) {
    for (index, included) in units.enumerated() {
      for element in included.unit.elements {
        add(element.name, .element(element, unit: index), reporter)
      }
      for template in included.unit.templates {
        add(template.name, .template(template, unit: index), reporter)
      }
    }
  }

  private mutating func add(_ name: LocatedText, _ meaning: Meaning, _ reporter: Reporter) {
    guard let first = meanings[name.text] else {
      meanings[name.text] = (meaning, name.location)
      return
    }
    // The YAML reader has reported duplicates within one mapping.
    let isSameFile = first.location.file === name.location.file
    switch (first.meaning, meaning) {
    case (.element, .element) where isSameFile, (.template, .template) where isSameFile: return
    default: break
    }
    reporter.error(
      "the name '\(name.text)' is taken", at: name.location,
      notes: [.init(message: "it is given here first", location: first.location)])
  }

  subscript(name: String) -> Meaning? { meanings[name]?.meaning }

  var elementNames: [String] {
    meanings.compactMap { name, entry in
      if case .template = entry.meaning { nil } else { name }
    }
  }
}
