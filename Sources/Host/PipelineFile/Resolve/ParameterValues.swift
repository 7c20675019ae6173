// SPDX-License-Identifier: MPL-2.0

/// Evaluates parameters: the given value, else the environment variable, else the default.
struct ParameterValues {
  let reporter: Reporter
  let environment: (String) -> String?
  /// Whether missing values are reported; otherwise they are unknown.
  let isComplete: Bool

  /// A given value, with its location for messages.
  struct Given {
    let value: ValueScope.Value
    /// Whether a duration is already in nanoseconds, as elements take it.
    let isNanoseconds: Bool
    let location: SourceLocation?
  }

  /// Evaluates the parameters.
  ///
  /// - Parameter given: the given values by parameter name; several only for lists.
  func scope(
    _ parameters: [Parameter], given: [String: [Given]], enclosing: ValueScope?
  ) -> ValueScope {
    var values: [String: (parameter: Parameter, value: ValueScope.Value)] = [:]
    for index in ParameterScope.dependencies(of: parameters).order {
      let parameter = parameters[index]
      let known = ValueScope(
        values, enclosing: enclosing, environment: environment, isComplete: isComplete)
      guard let value = value(of: parameter, given[parameter.name] ?? [], known) else { continue }
      values[parameter.name] = (parameter, value)
    }
    return ValueScope(
      values, enclosing: enclosing, environment: environment, isComplete: isComplete)
  }

  /// Evaluates arguments in the scope of the file or template that gives them.
  func given(_ arguments: [Argument], in scope: ValueScope, for parameters: [Parameter])
    -> [String: [Given]]
  {
    var given: [String: [Given]] = [:]
    for argument in arguments {
      // An error in the value has been reported; that the parameter lacks one is not another.
      let value = scope.evaluate(argument.value, reporter) ?? .unknown
      let type = parameters.first { $0.name == argument.name.text }?.type
      given[argument.name.text] = [
        Given(
          value: value,
          isNanoseconds: type == .duration
            && scope.parameter(namedBy: argument.value)?.type == .duration,
          location: argument.value.location)
      ]
    }
    return given
  }

  /// Nil if an error was reported.
  private func value(
    of parameter: Parameter, _ given: [Given], _ known: ValueScope
  ) -> ValueScope.Value? {
    // An argument that is unset does not override the default.
    let values = given.filter { if case .unset = $0.value { false } else { true } }
    if !values.isEmpty {
      return joined(
        values.map { checked($0.value, parameter, $0.isNanoseconds, $0.location, "") }, parameter)
    }
    if let name = parameter.environment, let text = environment(name) {
      return checked(
        .text(text), parameter, false, parameter.location,
        " (from the environment variable \(name))")
    }
    if !parameter.defaults.isEmpty {
      let values = parameter.defaults.map { text -> ValueScope.Value? in
        guard let value = known.evaluate(text, reporter) else { return nil }
        let isNanoseconds =
          parameter.type == .duration && known.parameter(namedBy: text)?.type == .duration
        return checked(value, parameter, isNanoseconds, text.location, " (from its default)")
      }
      return joined(values, parameter)
    }
    guard parameter.isRequired else { return .unset }
    guard isComplete else { return .unknown }
    let help = parameter.help.map { ": \($0)" } ?? ""
    reporter.error(
      "'\(parameter.name)' needs a value\(help)", at: parameter.location,
      help: "give \(parameter.name)=\(parameter.placeholder)")
    return nil
  }

  /// Returns the values of a list as one value; nil if one of them is.
  private func joined(
    _ values: [ValueScope.Value?], _ parameter: Parameter
  ) -> ValueScope.Value? {
    guard parameter.isList else { return values.first ?? nil }
    var texts: [String] = []
    for value in values {
      switch value {
      case .text(let text): texts.append(text)
      case .list(let more): texts += more
      case .unset: continue
      case .unknown: return .unknown
      case nil: return nil
      }
    }
    return .list(texts)
  }

  private func checked(
    _ value: ValueScope.Value, _ parameter: Parameter, _ isNanoseconds: Bool,
    _ location: SourceLocation?, _ origin: String
  ) -> ValueScope.Value? {
    func checked(_ text: String) -> String? {
      let text = isNanoseconds ? text + "ns" : text
      guard let problem = parameter.problem(with: text, reporter) else {
        return parameter.normalized(text)
      }
      reporter.error(problem.message + origin, at: location, help: problem.help)
      return nil
    }
    switch value {
    case .text(let text): return checked(text).map { .text($0) }
    case .list(let texts):
      guard parameter.isList else {
        reporter.error("'\(parameter.name)' has one value, not a list\(origin)", at: location)
        return nil
      }
      let values = texts.map(checked)
      return values.contains(nil) ? nil : .list(values.compactMap(\.self))
    case .unset, .unknown: return value
    }
  }
}

extension Parameter {
  /// Placeholder for the value in help texts: `PATH`, `left|right`.
  public var placeholder: String {
    (type == .choice ? choices.joined(separator: "|") : type.rawValue.uppercased())
      + (isList ? "…" : "")
  }
}

/// The values of the parameters that a text may refer to.
final class ValueScope {
  enum Value {
    /// The value in the form that elements take.
    case text(String)
    /// The values of a list.
    case list([String])
    /// Neither given nor required.
    case unset
    /// Required but not given, or wrong; only in graphs that are checked and not run.
    case unknown
  }

  private let parameters: [String: (parameter: Parameter, value: Value)]
  private let enclosing: ValueScope?
  private let environment: (String) -> String?
  /// Whether environment variables that are not set are reported; otherwise they are unknown.
  private let isComplete: Bool

  /// Longer than any property value. Without a limit, nested references could grow excessively.
  private static let lengthLimit = 65536

  init(
    _ parameters: [String: (parameter: Parameter, value: Value)], enclosing: ValueScope?,
    environment: @escaping (String) -> String?, isComplete: Bool
  ) {
    self.parameters = parameters
    self.enclosing = enclosing
    self.environment = environment
    self.isComplete = isComplete
  }

  /// Returns the text with references replaced by values; nil if an error was reported.
  func evaluate(_ text: InterpolatedText, _ reporter: Reporter) -> Value? {
    if let literal = text.literal { return .text(literal) }
    if text.segments.count == 1, case .reference(let reference) = text.segments[0] {
      return evaluate(reference, reporter)
    }
    var result = ""
    var isUnknown = false
    for segment in text.segments {
      switch segment {
      case .literal(let literal): result += literal
      case .reference(let reference):
        switch evaluate(reference, reporter) {
        case .text(let value): result += value
        case .unknown: isUnknown = true
        case .list:
          reporter.error(
            "a list cannot be part of a text", at: reference.location,
            help: "a link that refers to a list is made for each of its values")
          return nil
        case .unset:
          reporter.error(
            "a parameter without a value cannot be part of a text", at: reference.location,
            help: "give it a value or a default")
          return nil
        case nil: return nil
        }
      }
      guard result.utf8.count <= Self.lengthLimit else {
        reporter.error("the text becomes longer than \(Self.lengthLimit) bytes", at: text.location)
        return nil
      }
    }
    return isUnknown ? .unknown : .text(result)
  }

  /// Returns the parameter if the text consists of a single reference to it.
  func parameter(namedBy text: InterpolatedText) -> Parameter? {
    guard text.segments.count == 1, case .reference(let reference) = text.segments[0],
      case .parameter(let name, nil) = reference.target
    else { return nil }
    return lookUp(name)?.parameter
  }

  /// Returns the scopes in which a link is made: one for each value of the list that it refers to;
  /// only this one without such a list.
  func scopes(for link: LinkDeclaration) -> [ValueScope] {
    guard let name = link.parameterNames.first(where: { lookUp($0)?.parameter.isList == true }),
      let list = lookUp(name)
    else { return [self] }
    let values: [Value] =
      switch list.value {
      case .list(let texts): texts.map { .text($0) }
      case .unset: []
      case .text, .unknown: [list.value]
      }
    return values.map {
      ValueScope(
        [name: (list.parameter, $0)], enclosing: self, environment: environment,
        isComplete: isComplete)
    }
  }

  private func lookUp(_ name: String) -> (parameter: Parameter, value: Value)? {
    parameters[name] ?? enclosing?.lookUp(name)
  }

  private func evaluate(_ reference: InterpolatedText.Reference, _ reporter: Reporter) -> Value? {
    switch reference.target {
    case .environment(let name):
      guard let value = environment(name) else {
        guard isComplete else { return .unknown }
        reporter.error(
          "the environment variable '\(name)' is not set", at: reference.location)
        return nil
      }
      return .text(value)
    case .parameter(let name, let part):
      // A missing value was reported when the parameter was evaluated.
      guard let value = lookUp(name)?.value else { return nil }
      guard let part else { return value }
      switch value {
      case .text(let path): return .text(part(of: path))
      case .list(let paths): return .list(paths.map { part(of: $0) })
      case .unset, .unknown: return value
      }
    }
  }
}
