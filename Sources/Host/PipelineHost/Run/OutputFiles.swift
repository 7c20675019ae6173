// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import PipelineFile

/// The files that a graph writes.
struct OutputFiles: Sendable {
  struct Output: Sendable {
    /// Position in the graph's elements.
    let element: Int
    /// The name that the finished file gets.
    let path: String
    let location: SourceLocation
    /// Only an optional branch writes it.
    let isOptional: Bool
  }

  let outputs: [Output]

  init(of graph: ResolvedGraph, registry: InstalledElements) {
    var outputs: [Output] = []
    for (index, element) in graph.elements.enumerated() {
      guard let type = registry.elementType(element.type.text), type.isSink,
        let (path, location) = element.regularFile
      else { continue }
      // A link's target is the one that gets the file.
      let target = Self.isLink(path) ? LocalFiles().canonicalPath(of: path) : path
      outputs.append(
        Output(element: index, path: target, location: location, isOptional: element.isOptional))
    }
    self.outputs = outputs
  }

  /// Those that are there already.
  func existing() -> [Output] { outputs.filter { access($0.path, F_OK) == 0 } }

  private static func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }
}

extension ElementType {
  var isSink: Bool { padTemplates.allSatisfy { $0.direction == .sink } }
}

extension ResolvedGraph.Element {
  /// The file that its `location` names; devices and pipes are none.
  var regularFile: (path: String, location: SourceLocation)? {
    guard let file = namedFile else { return nil }
    var status = stat()
    guard stat(file.path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else { return nil }
    return file
  }
}
