// SPDX-License-Identifier: MPL-2.0

/// Parses `parameters:` of a file or a template.
struct ParameterReader {
  let reporter: Reporter

  func parameters(_ node: YAMLNode?) -> [Parameter] {
    node?.mapping?.map(parameter) ?? []
  }

  /// Parses a parameter. Broken parts are left out; the parameter is kept, so that references to it
  /// stay valid.
  private func parameter(_ entry: YAMLNode.Entry) -> Parameter {
    let node = entry.value
    let name = entry.key
    if !Name.isValid(name.text) || name.text == "env" {
      reporter.error(
        "'\(name.text)' cannot be the name of a parameter", at: name.location,
        help: name.text == "env"
          ? "${env.NAME} refers to an environment variable"
          : "a name is made of letters, digits, '_' and '-', and does not begin with a digit")
    }
    let type = node["type"]?.text.flatMap { ParameterType(rawValue: $0.text) }
    let isList = node["list"]?.text.flatMap { Quantity.boolean($0.text) } ?? false
    if isList, let variable = node["environment"]?.text {
      reporter.error(
        "a list cannot come from an environment variable", at: variable.location,
        help: "${env.\(variable.text)} can be one of the values of its default")
    }
    let (choices, meanings) = choices(node, type)
    let parameter = Parameter(
      name: name.text, type: type ?? .string, help: node["help"]?.text?.text,
      unit: node["unit"]?.text?.text, minimum: limit(node["minimum"], type, "minimum"),
      maximum: limit(node["maximum"], type, "maximum"), choices: choices,
      meanings: meanings, endings: endings(node, type),
      isList: isList, defaults: defaults(node, isList: isList),
      environment: isList ? nil : environment(node["environment"]?.text),
      isRequired: node["required"]?.text.flatMap { Quantity.boolean($0.text) } ?? false,
      location: name.location)
    checkLimits(parameter, node)
    checkDefault(parameter, node)
    return parameter
  }

  private func defaults(_ node: YAMLNode, isList: Bool) -> [InterpolatedText] {
    guard let value = node["default"] else { return [] }
    if let items = value.sequence, !isList {
      reporter.error(
        "a default of \(items.count) values needs 'list: true'", at: value.location)
    }
    return (value.sequence ?? [value]).compactMap {
      $0.text.map { InterpolatedText($0, reporter) }
    }
  }

  private func limit(_ node: YAMLNode?, _ type: ParameterType?, _ key: String) -> String? {
    guard let text = node?.text, let type else { return nil }
    guard type.isOrdered else {
      reporter.error(
        "a parameter of type \(type.rawValue) has no \(key)", at: text.location)
      return nil
    }
    guard type.number(text.text) != nil else {
      reporter.error(
        "'\(key)' must be \(type.expectation), not '\(text.text)'", at: text.location)
      return nil
    }
    return text.text
  }

  private func endings(_ node: YAMLNode, _ type: ParameterType?) -> [String] {
    guard let list = node["endings"] else { return [] }
    if let type, type != .path {
      reporter.error(
        "a parameter of type \(type.rawValue) has no endings", at: list.location,
        help: "use type 'path'")
    }
    return (list.sequence ?? []).compactMap { item in
      item.text.map { $0.text.hasPrefix(".") ? String($0.text.dropFirst()) : $0.text }
    }
  }

  private func choices(
    _ node: YAMLNode, _ type: ParameterType?
  ) -> (choices: [String], meanings: [String: String]) {
    guard let list = node["choices"] else {
      if type == .choice {
        reporter.error(
          "a parameter of type choice needs 'choices'", at: node["type"]?.location,
          help: "write 'choices: [left, right]'")
      }
      return ([], [:])
    }
    if let type, type != .choice {
      reporter.error(
        "a parameter of type \(type.rawValue) has no choices", at: list.location,
        help: "use type 'choice'")
    }
    if let entries = list.mapping {
      let meanings = entries.compactMap { entry in
        entry.value.text.map { (entry.key.text, $0.text) }
      }
      return (entries.map(\.key.text), Dictionary(meanings) { first, _ in first })
    }
    var choices: [String] = []
    for case let text? in list.sequence?.map(\.text) ?? [] {
      if choices.contains(text.text) {
        reporter.error("the choice '\(text.text)' is listed twice", at: text.location)
      } else {
        choices.append(text.text)
      }
    }
    if list.sequence?.isEmpty == true {
      reporter.error("the list of choices is empty", at: list.location)
    }
    return (choices, [:])
  }

  private func environment(_ text: LocatedText?) -> String? {
    guard let text else { return nil }
    guard Name.isValid(text.text), !text.text.contains("-") else {
      reporter.error(
        "'\(text.text)' cannot be the name of an environment variable", at: text.location,
        help: text.text.hasPrefix("$") ? "write the name without '$'" : nil)
      return nil
    }
    return text.text
  }

  private func checkLimits(_ parameter: Parameter, _ node: YAMLNode) {
    guard let low = parameter.minimum.flatMap(parameter.type.number),
      let high = parameter.maximum.flatMap(parameter.type.number), low > high
    else { return }
    reporter.error(
      "the minimum of '\(parameter.name)' is more than its maximum", at: node["minimum"]?.location)
  }

  private func checkDefault(_ parameter: Parameter, _ node: YAMLNode) {
    if parameter.isRequired, let first = parameter.defaults.first {
      reporter.error(
        "a required parameter cannot have a default", at: first.location,
        help: "remove 'default' or 'required'")
    }
    guard node["type"]?.text.flatMap({ ParameterType(rawValue: $0.text) }) != nil else { return }
    for text in parameter.defaults {
      guard let literal = text.literal, let problem = parameter.problem(with: literal, reporter)
      else { continue }
      reporter.error("the default of \(problem.message)", at: text.location, help: problem.help)
    }
  }
}

extension Parameter {
  /// Returns the problem with a value, such as "'fov' must be a number, not 'x'"; nil if it is
  /// valid.
  func problem(with text: String, _ reporter: Reporter) -> (message: String, help: String?)? {
    if type == .choice {
      guard !choices.isEmpty, !choices.contains(text) else { return nil }
      return (
        "'\(name)' cannot be '\(text)'",
        reporter.didYouMean(text, among: choices)
          ?? "it is one of \(choices.joined(separator: ", "))"
      )
    }
    if type == .path, let problem = endingProblem(with: text) { return (problem, nil) }
    // Only a minimum below 0 makes negative durations useful.
    let isNegative = type == .duration && minimum == nil && text.hasPrefix("-")
    guard type.normalized(text) != nil, !isNegative else {
      return ("'\(name)' must be \(type.expectation), not '\(text)'", nil)
    }
    guard let number = type.number(text) else { return nil }
    let suffix = unit.map { " " + $0 } ?? ""
    if let minimum, let low = type.number(minimum), number < low {
      return ("'\(name)' must be at least \(minimum)\(suffix), not \(text)", nil)
    }
    if let maximum, let high = type.number(maximum), number > high {
      return ("'\(name)' must be at most \(maximum)\(suffix), not \(text)", nil)
    }
    return nil
  }

  private func endingProblem(with path: String) -> String? {
    let ending = PathPart.extension(of: path)
    guard !endings.isEmpty, !endings.contains(ending) else { return nil }
    let known = endings.map { ".\($0)" }
    let list =
      known.count > 1
      ? known.dropLast().joined(separator: ", ") + " or \(known[known.count - 1])" : known[0]
    return
      "'\(name)' must end in \(list), not \(ending.isEmpty ? "as '\(path)' does" : "in .\(ending)")"
  }

  /// Returns the value in the form that elements take; nil if the text is not a valid value.
  func normalized(_ text: String) -> String? {
    type == .choice ? meanings[text] ?? text : type.normalized(text)
  }
}
