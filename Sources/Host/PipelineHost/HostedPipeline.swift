// SPDX-License-Identifier: MPL-2.0

internal import Glibc
public import PipelineFile

/// A pipeline file that was read, got its parameters and was checked: ready to run, any number of
/// times, several at once.
///
/// ```swift
/// let pipeline = try HostedPipeline.load("sbs-to-mvhevc.yaml", arguments: ["input=movie.mp4"])
/// let run = PipelineRun(pipeline)
/// Task { for await event in run.events { print(event) } }
/// try await run.run()
/// ```
public struct HostedPipeline: Sendable {
  public let graph: ResolvedGraph
  /// What is likely not meant, but does not keep the pipeline from running.
  public let warnings: Diagnostics
  let registry: InstalledElements

  /// Reads and checks a file. Throws all errors of the first stage that has any.
  ///
  /// - Parameters:
  ///   - arguments: values of the file's parameters, as `name=value`.
  ///   - environment: the value of an environment variable, or nil.
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

  /// Gives a file's parameters their values, and checks what comes out.
  ///
  /// - Parameter found: the warnings of the stages before.
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

  /// The process's environment.
  public static let environment: @Sendable (String) -> String? = { name in
    getenv(name).map { String(cString: $0) }
  }

  /// The files that a run writes.
  public var outputPaths: [String] {
    OutputFiles(of: graph, registry: registry).outputs.map(\.path)
  }
}

/// Why a pipeline cannot be run, or why it failed: what a person reads.
public struct PipelineProblems: Error, Sendable, CustomStringConvertible {
  public let diagnostics: Diagnostics

  public init(_ diagnostics: Diagnostics) {
    self.diagnostics = diagnostics
  }

  /// As a compiler would print it.
  public var description: String { diagnostics.text() }
}
