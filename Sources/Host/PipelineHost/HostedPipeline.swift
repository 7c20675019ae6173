// SPDX-License-Identifier: MPL-2.0

internal import Glibc
public import PipelineFile

/// A pipeline file that has been read, given its parameters and checked. It can be run any number
/// of times, even concurrently.
///
/// ```swift
/// let pipeline = try HostedPipeline.load("sbs-to-mvhevc.yaml", arguments: ["input=movie.mp4"])
/// let run = PipelineRun(pipeline)
/// Task { for await event in run.events { print(event) } }
/// try await run.run()
/// ```
public struct HostedPipeline: Sendable {
  /// The resolved graph.
  public let graph: ResolvedGraph
  /// Probable mistakes that do not prevent the pipeline from running.
  public let warnings: Diagnostics
  let registry: InstalledElements

  /// Reads and checks a file.
  ///
  /// - Parameters:
  ///   - path: path of the file.
  ///   - arguments: values of the file's parameters, as `name=value`.
  ///   - environment: returns the value of an environment variable, or nil.
  ///   - registry: the installed elements.
  /// - Throws: all errors of the first stage that has any.
  public static func load(
    _ path: String, arguments: [String] = [],
    environment: @escaping @Sendable (String) -> String? = Self.environment,
    registry: InstalledElements = InstalledElements()
  ) throws(PipelineProblems) -> HostedPipeline {
    let (file, found) = PipelineFile.read(path: path, loading: LocalFiles.bytes)
    guard let file else { throw PipelineProblems(found) }
    return try HostedPipeline(
      file, arguments: arguments, environment: environment, registry: registry, found: found)
  }

  /// Checks the text of a pipeline file.
  ///
  /// ```swift
  /// let text = "links: [\"videotestsrc(num-buffers=${count}) -> fakesink\"]\n"
  ///   + "parameters: { count: { type: integer } }"
  /// try await PipelineRun(HostedPipeline(yaml: text, arguments: ["count": "30"])).run()
  /// ```
  ///
  /// - Parameters:
  ///   - text: the YAML. Files that it includes are read; their paths are relative to the folder of
  ///     `name`.
  ///   - name: the name in messages; a path, if the text includes files.
  ///   - arguments: the values of its parameters, by name.
  ///   - environment: returns the value of an environment variable, or nil.
  ///   - registry: the installed elements.
  /// - Throws: all errors of the first stage that has any.
  public init(
    yaml text: String, name: String = "pipeline.yaml", arguments: [String: String] = [:],
    environment: @escaping @Sendable (String) -> String? = Self.environment,
    registry: InstalledElements = InstalledElements()
  ) throws(PipelineProblems) {
    let (file, found) = PipelineFile.read(path: name) { path in
      path == name ? Array(text.utf8) : try LocalFiles.bytes(of: path)
    }
    guard let file else { throw PipelineProblems(found) }
    try self.init(
      file, arguments: arguments.sorted { $0.key < $1.key }.map { "\($0)=\($1)" },
      environment: environment, registry: registry, found: found)
  }

  /// Evaluates the parameters of a file and checks the resulting graph.
  ///
  /// - Parameter found: warnings of the previous stages.
  public init(
    _ file: PipelineFile, arguments: [String],
    environment: @escaping @Sendable (String) -> String? = Self.environment,
    registry: InstalledElements = InstalledElements(), found: Diagnostics = Diagnostics([])
  ) throws(PipelineProblems) {
    let (graph, resolving) = file.resolve(
      arguments: arguments, environment: environment, purpose: .run)
    guard let graph else { throw PipelineProblems(found + resolving) }
    let checking = graph.check(against: registry, files: LocalFiles())
    guard !checking.hasErrors else { throw PipelineProblems(found + resolving + checking) }
    self.graph = graph
    self.registry = registry
    warnings = found + resolving + checking
  }

  /// Returns this pipeline with a changed graph, which is not checked again.
  package func with(_ graph: ResolvedGraph) -> HostedPipeline {
    HostedPipeline(graph: graph, warnings: warnings, registry: registry)
  }

  private init(graph: ResolvedGraph, warnings: Diagnostics, registry: InstalledElements) {
    (self.graph, self.warnings, self.registry) = (graph, warnings, registry)
  }

  /// The process's environment.
  public static let environment: @Sendable (String) -> String? = { name in
    getenv(name).map { String(cString: $0) }
  }

  /// The paths of the files that a run writes.
  public var outputPaths: [String] {
    OutputFiles(of: graph, registry: registry).outputs.map(\.path)
  }
}

/// The reasons why a pipeline cannot run or has failed, for the user.
public struct PipelineProblems: Error, Sendable, CustomStringConvertible {
  /// The errors and warnings.
  public let diagnostics: Diagnostics

  /// Creates an error from diagnostics.
  public init(_ diagnostics: Diagnostics) {
    self.diagnostics = diagnostics
  }

  /// The diagnostics as a compiler prints them.
  public var description: String { diagnostics.text() }
}
