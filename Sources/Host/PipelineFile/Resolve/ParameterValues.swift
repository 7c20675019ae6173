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
