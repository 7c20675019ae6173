internal import Glibc
internal import PipelineFile

/// The files that a graph writes. They are written under another name in the same folder and get
/// their own when they are finished, so that a failed run leaves nothing that looks like a movie.
struct OutputFiles: Sendable {
  struct Output: Sendable {
    /// Position in the graph's elements.
    let element: Int
    /// As the file says.
    let path: String
    /// Where it is written.
    let partialPath: String
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
      let (folder, name) = LocalFiles.split(target)
      outputs.append(
        Output(
          element: index, path: target, partialPath: "\(folder)/.\(name).\(getpid()).partial",
          location: location, isOptional: element.isOptional))
    }
    self.outputs = outputs
  }

  /// The `location` of each element that writes elsewhere.
  var locations: [Int: String] {
    Dictionary(outputs.map { ($0.element, $0.partialPath) }) { first, _ in first }
  }

  /// Those that are there already.
  func existing() -> [Output] { outputs.filter { access($0.path, F_OK) == 0 } }

  /// How many bytes are written so far.
  var size: Int {
    outputs.reduce(0) { size, output in
      var status = stat()
      return stat(output.partialPath, &status) == 0 ? size &+ Int(status.st_size) : size
    }
  }

  /// Gives the finished files their names, and tells which there are.
  func finish() throws(PipelineProblems) -> [String] {
    var paths: [String] = []
    for output in outputs {
      if rename(output.partialPath, output.path) == 0 {
        paths.append(output.path)
      } else if errno != ENOENT || !output.isOptional {
        let reason = FileError(errno)
        let isThere = access(output.partialPath, F_OK) == 0
        throw PipelineProblems(
          Diagnostic(
            .error, "'\(output.path)' could not get its name: \(reason)", at: output.location,
            help: isThere
              ? "the finished file is '\(output.partialPath)'"
              : "it vanished while it was written"))
      }
    }
    return paths
  }

  /// Removes what is not finished.
  func discard() {
    for output in outputs { unlink(output.partialPath) }
  }

  private static func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }
}

extension ElementType {
  fileprivate var isSink: Bool { padTemplates.allSatisfy { $0.direction == .sink } }
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
