// SPDX-License-Identifier: MPL-2.0

/// A pipeline file and its includes, parsed and checked for consistency (stages 1 and 2). Its
/// requirements on GStreamer are checked on the resolved graph (stage 3).
///
/// ```swift
/// let (file, diagnostics) = PipelineFile.read(path: "sbs-to-mvhevc.yaml", loading: readBytes)
/// let (graph, more) = file.resolve(arguments: ["input=movie.mp4"], environment: getenv)
/// ```
public struct PipelineFile: Sendable {
  /// The files of the pipeline: the main file and its includes, depth first.
  let units: [IncludedUnit]

  /// The supported version of the format.
  static let formatVersion = "1"

  /// One-sentence description of the pipeline.
  public var description: String? { units.first?.unit.description }
  /// The parameters that the user can set.
  public var parameters: [Parameter] { units.first?.unit.parameters ?? [] }
  /// The settings of `run`.
  public var run: RunSettings { units.first?.unit.run ?? RunSettings() }

  /// Reads a file and its includes.
  ///
  /// - Parameters:
  ///   - path: path of the file, shown in messages as given. Includes are relative to it.
  ///   - load: returns the bytes of the file at a path; a thrown error becomes a diagnostic.
  /// - Returns: the file if there are no errors, and all diagnostics of the last stage reached.
  public static func read(
    path: String, loading load: @escaping (String) throws -> [UInt8]
  ) -> (file: PipelineFile?, diagnostics: Diagnostics) {
    let reporter = Reporter()
    guard let units = Loader(reporter: reporter, load: load).units(from: path) else {
      return (nil, reporter.diagnostics())
    }
    let file = PipelineFile(units: units)
    ModelCheck(file: file, reporter: reporter).check()
    return (reporter.hasErrors ? nil : file, reporter.diagnostics())
  }
}

extension PipelineFile {
  /// Finds the errors of all stages at once: if a file has errors, the rest of it is still compared
  /// with the installed elements and the files, as far as it can be interpreted.
  ///
  /// - Returns: the graph if there are no errors before stage 3, and all diagnostics.
  public static func check(
    path: String, loading load: @escaping (String) throws -> [UInt8], arguments: [String],
    environment: @escaping (String) -> String?, registry: some ElementRegistry,
    files: (any FileProbe)?
  ) -> (graph: ResolvedGraph?, diagnostics: Diagnostics) {
    let reporter = Reporter()
    guard let units = Loader(reporter: reporter, load: load).units(from: path) else {
      return (nil, reporter.diagnostics())
    }
    let file = PipelineFile(units: units)
    let model = ModelCheck(file: file, reporter: reporter)
    model.check()
    let found = reporter.diagnostics()
    // Templates that use themselves would expand forever.
    guard model.canBeExpanded else { return (nil, found) }
    let resolving = Reporter()
    let graph = file.graph(
      arguments: arguments, environment: environment, purpose: .check, resolving)
    let isSound = !found.hasErrors && !resolving.hasErrors
    let all = found.adding(resolving.diagnostics())
      .adding(graph.check(against: registry, files: files))
    return (isSound ? graph : nil, all)
  }
}

extension Diagnostics {
  /// Adds the diagnostics of another stage. If there are errors already, its warnings and its
  /// errors on the same lines are left out, because they may be consequences.
  fileprivate func adding(_ other: Diagnostics) -> Diagnostics {
    guard hasErrors else { return self + other }
    return self
      + Diagnostics(
        other.errors.filter { error in
          !errors.contains { known in
            guard let one = known.location, let two = error.location else {
              return known.message == error.message
            }
            return one.file === two.file && one.line == two.line
          }
        })
  }
}

/// A file with its position in the tree of includes.
struct IncludedUnit: Sendable {
  let unit: PipelineUnit
  /// Index of the including unit; nil for the main file.
  let parent: Int?
  /// The include entry; nil for the main file.
  let include: Include?
  /// The arguments that the including file gives.
  let arguments: [Argument]
}

extension PipelineFile {
  /// The purpose of a graph: to be run, or only to be checked.
  public enum Purpose: Sendable {
    /// Each required parameter needs a value.
    case run
    /// Required parameters without a value, and environment variables that are not set, stay
    /// unknown.
    case check
  }

  /// Evaluates the parameters and expands templates and includes.
  ///
  /// - Parameters:
  ///   - arguments: command line arguments: `name=value`.
  ///   - environment: returns the value of an environment variable, or nil.
  ///   - purpose: whether missing values are errors.
  /// - Returns: the graph if there are no errors, and all diagnostics.
  public func resolve(
    arguments: [String], environment: @escaping (String) -> String?, purpose: Purpose
  ) -> (graph: ResolvedGraph?, diagnostics: Diagnostics) {
    let reporter = Reporter()
    let graph = graph(
      arguments: arguments, environment: environment, purpose: purpose, reporter)
    return (reporter.hasErrors ? nil : graph, reporter.diagnostics())
  }

  /// Returns the graph as far as it can be determined.
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
  ) -> [String: [ParameterValues.Given]] {
    var given: [String: [ParameterValues.Given]] = [:]
    for argument in arguments {
      let line = SourceFile(name: "command line", text: argument)
      guard let equals = argument.firstIndex(of: "=") else {
        let wanted = parameters.first { parameter in
          parameter.isRequired && !arguments.contains { $0.hasPrefix(parameter.name + "=") }
        }
        reporter.error(
          "'\(argument)' is not an argument", at: SourceLocation(file: line, line: 1, column: 1),
          help: wanted.map { "did you mean \($0.name)=\(argument)?" }
            ?? "arguments are written as name=value")
        continue
      }
      let name = String(argument[..<equals])
      let place = SourceLocation(
        file: line, line: 1, column: 1, length: name.unicodeScalars.count)
      guard let parameter = parameters.first(where: { $0.name == name }) else {
        let known = parameters.map(\.name)
        reporter.error(
          "the file has no parameter '\(name)'", at: place,
          help: reporter.didYouMean(name, among: known)
            ?? (known.isEmpty
              ? "it has no parameters" : "its parameters are \(known.joined(separator: ", "))"))
        continue
      }
      guard given[name] == nil || parameter.isList else {
        reporter.error("'\(name)' is given twice", at: place)
        continue
      }
      let value = String(argument[argument.index(after: equals)...])
      given[name, default: []].append(
        .init(
          value: .text(value), isNanoseconds: false,
          location: SourceLocation(
            file: line, line: 1, column: name.unicodeScalars.count + 2,
            length: value.unicodeScalars.count)))
    }
    return given
  }
}
