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
        let (path, location) = element.file
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
  /// The file that its `location` names, with the place that names it. Numbered files, addresses,
  /// devices and pipes are none.
  var file: (path: String, location: SourceLocation)? {
    guard let property = properties.first(where: { $0.name == "location" }),
      case .text(.known(let path), _) = property.value, !path.isEmpty, !path.contains("%"),
      !path.contains("://")
    else { return nil }
    var status = stat()
    guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else { return nil }
    return (path, property.location)
  }
}
