// SPDX-License-Identifier: MPL-2.0

/// Finds the value of each parameter: the one that is given, else the environment's, else the
/// default.
struct ParameterValues {
  let reporter: Reporter
  let environment: (String) -> String?
  /// Missing values are reported; otherwise they count as unknown.
  let isComplete: Bool

  /// A value that is given, with its place for messages.
  struct Given {
    let value: ValueScope.Value
    /// A duration as elements take it, no longer as people write it.
    let isNanoseconds: Bool
    let location: SourceLocation?
  }

  /// - Parameter given: by name; each is one of the parameters.
  func scope(
    _ parameters: [Parameter], given: [String: Given], enclosing: ValueScope?
  ) -> ValueScope {
    var values: [String: (parameter: Parameter, value: ValueScope.Value)] = [:]
    for index in ParameterScope.dependencies(of: parameters).order {
      let parameter = parameters[index]
      let known = ValueScope(
        values, enclosing: enclosing, environment: environment, isComplete: isComplete)
      guard let value = value(of: parameter, given[parameter.name], known) else { continue }
      values[parameter.name] = (parameter, value)
    }
    return ValueScope(
      values, enclosing: enclosing, environment: environment, isComplete: isComplete)
  }

  /// Evaluates arguments in the scope of the one who gives them.
  func given(_ arguments: [Argument], in scope: ValueScope, for parameters: [Parameter])
    -> [String: Given]
  {
    var given: [String: Given] = [:]
    for argument in arguments {
      guard let value = scope.evaluate(argument.value, reporter) else { continue }
      let type = parameters.first { $0.name == argument.name.text }?.type
      given[argument.name.text] = Given(
        value: value,
        isNanoseconds: type == .duration
          && scope.parameter(behind: argument.value)?.type == .duration,
        location: argument.value.location)
    }
    return given
  }

  /// Nil where an error was reported.
  private func value(
    of parameter: Parameter, _ given: Given?, _ known: ValueScope
  ) -> ValueScope.Value? {
    if let given {
      // What has no value leaves the default in place.
      if case .unset = given.value {
      } else {
        return checked(given.value, parameter, given.isNanoseconds, given.location, "")
      }
    }
    if let name = parameter.environment, let text = environment(name) {
      return checked(
        .text(text), parameter, false, parameter.location,
        " (from the environment variable \(name))")
    }
    if let text = parameter.defaultValue {
      guard let value = known.evaluate(text, reporter) else { return nil }
      let isNanoseconds =
        parameter.type == .duration && known.parameter(behind: text)?.type == .duration
      return checked(value, parameter, isNanoseconds, text.location, " (from its default)")
    }
    guard parameter.isRequired else { return .unset }
    guard isComplete else { return .unknown }
    let help = parameter.help.map { ": \($0)" } ?? ""
    reporter.error(
      "'\(parameter.name)' needs a value\(help)", at: parameter.location,
      help: "give \(parameter.name)=\(parameter.placeholder)")
    return nil
  }

  private func checked(
    _ value: ValueScope.Value, _ parameter: Parameter, _ isNanoseconds: Bool,
    _ location: SourceLocation?, _ origin: String
  ) -> ValueScope.Value? {
    guard case .text(var text) = value else { return value }
    if isNanoseconds { text += "ns" }
    if let problem = parameter.problem(with: text, reporter) {
      reporter.error(problem.message + origin, at: location, help: problem.help)
      return nil
    }
    return parameter.normalized(text).map { .text($0) }
  }
}

extension Parameter {
  /// What stands for the value in a help text: `PATH`, `left|right`.
  public var placeholder: String {
    type == .choice ? choices.joined(separator: "|") : type.rawValue.uppercased()
  }
}

/// The values of the parameters that a text may refer to.
final class ValueScope {
  enum Value {
    /// As elements take it.
    case text(String)
    /// Neither given nor required.
    case unset
    /// Required, but not given; stands only in graphs that are checked and not run.
    case unknown
  }

  private let parameters: [String: (parameter: Parameter, value: Value)]
  private let enclosing: ValueScope?
  private let environment: (String) -> String?
  /// Variables that are not set are reported; otherwise they count as unknown.
  private let isComplete: Bool

  /// More than any property takes; without a limit, references to references grow beyond measure.
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

  /// The text with values in place of references; nil where an error was reported.
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

  /// The parameter that the text is nothing but a reference to.
  func parameter(behind text: InterpolatedText) -> Parameter? {
    guard text.segments.count == 1, case .reference(let reference) = text.segments[0],
      case .parameter(let name, nil) = reference.target
    else { return nil }
    return lookUp(name)?.parameter
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
      // What has no value here was reported where its value is wrong.
      guard let value = lookUp(name)?.value else { return nil }
      guard let part, case .text(let path) = value else { return value }
      return .text(part(of: path))
    }
  }
}
