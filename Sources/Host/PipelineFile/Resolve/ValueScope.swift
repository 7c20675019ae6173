// SPDX-License-Identifier: MPL-2.0

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
