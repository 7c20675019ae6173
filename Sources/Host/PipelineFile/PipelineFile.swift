// SPDX-License-Identifier: MPL-2.0

/// A pipeline file with the files it includes, read and found to make sense in itself (stages 1
/// and 2). What it needs of GStreamer is checked on the graph it resolves to (stage 3).
///
/// ```swift
/// let (file, diagnostics) = PipelineFile.read(path: "sbs-to-mvhevc.yaml", loading: readBytes)
/// let (graph, more) = file.resolve(arguments: ["input=movie.mp4"], environment: getenv)
/// ```
public struct PipelineFile: Sendable {
  /// The files that make it up: the one that was read, and each include, depth first.
  let units: [IncludedUnit]

  /// The version of the format that is read.
  static let formatVersion = "1"

  /// What the pipeline does, in a sentence.
  public var description: String? { units.first?.unit.description }
  /// What can be given from outside.
  public var parameters: [Parameter] { units.first?.unit.parameters ?? [] }
  public var run: RunSettings { units.first?.unit.run ?? RunSettings() }

  /// Reads a file and those it includes.
  ///
  /// - Parameters:
  ///   - path: of the file; messages show it as it is given. Includes are meant relative to it.
  ///   - load: gives the bytes of the file at a path; what it throws becomes a diagnostic.
  /// - Returns: the file, where no error was found; and all errors and warnings of the last
  ///   stage that was reached.
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
  /// Finds the mistakes of all stages at once: where a file has some, what is left of it is compared
  /// with the elements and files all the same, as far as it can be told what was meant.
  ///
  /// - Returns: the graph, where there are no mistakes before it; and all errors and warnings.
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
    // What uses itself would be expanded for ever.
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
  /// With what another stage has found, but for what follows from errors that are here: those of
  /// the same line, and warnings.
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

/// A file in its place in a tree of includes.
struct IncludedUnit: Sendable {
  let unit: PipelineUnit
  /// The position of the unit that includes it; nil for the file that was read.
  let parent: Int?
  /// How it is included; nil for the file that was read.
  let include: Include?
  /// The values that the including file gives to its parameters.
  let arguments: [Argument]
}

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
