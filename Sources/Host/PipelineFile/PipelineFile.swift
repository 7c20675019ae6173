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
