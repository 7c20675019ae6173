// SPDX-License-Identifier: MPL-2.0

extension PipelineFile {
  /// Whether a graph is to run, or only to be looked at.
  public enum Purpose: Sendable {
    /// Each required parameter needs a value.
    case run
    /// Required parameters without a value, and environment variables, stay unknown.
    case check
  }

  /// Gives the parameters their values and expands templates and includes.
  ///
  /// - Parameters:
  ///   - arguments: values as a command line gives them: `name=value`.
  ///   - environment: the value of an environment variable, or nil.
  /// - Returns: the graph, where no error was found; and all errors.
  public func resolve(
    arguments: [String], environment: @escaping (String) -> String?, purpose: Purpose
  ) -> (graph: ResolvedGraph?, diagnostics: Diagnostics) {
    let reporter = Reporter()
    let graph = graph(
      arguments: arguments, environment: environment, purpose: purpose, reporter)
    return (reporter.hasErrors ? nil : graph, reporter.diagnostics())
  }

  /// The graph as far as it can be told.
  func graph(
    arguments: [String], environment: @escaping (String) -> String?, purpose: Purpose,
    _ reporter: Reporter
  ) -> ResolvedGraph {
    let given = given(arguments, reporter)
    let values = ParameterValues(
      reporter: reporter, environment: environment, isComplete: purpose == .run)
    return GraphBuilder(self, values, reporter).build(given: given)
  }

  private func given(
    _ arguments: [String], _ reporter: Reporter
  ) -> [String: ParameterValues.Given] {
    var given: [String: ParameterValues.Given] = [:]
    for argument in arguments {
      let line = SourceFile(name: "command line", text: argument)
      guard let equals = argument.firstIndex(of: "=") else {
        let wanted = parameters.first { parameter in
          parameter.isRequired && !arguments.contains { $0.hasPrefix(parameter.name + "=") }
        }
        reporter.error(
          "'\(argument)' is no argument", at: SourceLocation(file: line, line: 1, column: 1),
          help: wanted.map { "did you mean \($0.name)=\(argument)?" }
            ?? "arguments are written as name=value")
        continue
      }
      let name = String(argument[..<equals])
      let place = SourceLocation(
        file: line, line: 1, column: 1, length: name.unicodeScalars.count)
      guard parameters.contains(where: { $0.name == name }) else {
        let known = parameters.map(\.name)
        reporter.error(
          "the file has no parameter '\(name)'", at: place,
          help: reporter.didYouMean(name, among: known)
            ?? (known.isEmpty
              ? "it has no parameters" : "its parameters are \(known.joined(separator: ", "))"))
        continue
      }
      guard given[name] == nil else {
        reporter.error("'\(name)' is given twice", at: place)
        continue
      }
      let value = String(argument[argument.index(after: equals)...])
      given[name] = .init(
        value: .text(value), isNanoseconds: false,
        location: SourceLocation(
          file: line, line: 1, column: name.unicodeScalars.count + 2,
          length: value.unicodeScalars.count))
    }
    return given
  }
}
