// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import PipelineFile

/// The files that a graph reads. One that is cut short while it is read looks to most elements
/// like one that has ended, and would make an output that only seems to be whole.
struct InputFiles: Sendable {
  private struct Input: Sendable {
    let path: String
    let size: Int
    let location: SourceLocation
  }

  private let inputs: [Input]

  /// Notes how large the files are now.
  init(of graph: ResolvedGraph, registry: InstalledElements) {
    inputs = graph.elements.compactMap { element in
      let directions = registry.elementType(element.type.text)?.padTemplates.map(\.direction)
      guard let directions, directions.allSatisfy({ $0 == .source }),
        let (path, location) = element.regularFile, let size = Self.size(of: path)
      else { return nil }
      return Input(path: path, size: size, location: location)
    }
  }

  /// What to say where a file has become shorter since then.
  func complaint() -> Diagnostic? {
    for input in inputs {
      guard let size = Self.size(of: input.path), size < input.size else { continue }
      return Diagnostic(
        .error, "'\(input.path)' was cut short while it was read", at: input.location,
        help: "it had \(input.size) bytes, and has \(size) now")
    }
    return nil
  }

  private static func size(of path: String) -> Int? {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : nil
  }
}
