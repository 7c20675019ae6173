// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import PipelineFile

/// The files that a graph reads. To most elements, truncation of a file while it is read looks like
/// its end, and the output would appear to be complete.
struct InputFiles: Sendable {
  private struct Input: Sendable {
    let path: String
    let size: Int
    let location: SourceLocation
  }

  private let inputs: [Input]
  /// Whether all data comes from files, so that what is lost of it can be read again.
  let provideAllData: Bool

  /// Records the current sizes of the files.
  init(of graph: ResolvedGraph, registry: InstalledElements) {
    let sources = graph.elements.filter { element in
      let directions = registry.elementType(element.type.text)?.padTemplates.map(\.direction)
      return directions?.allSatisfy { $0 == .source } ?? false
    }
    inputs = sources.compactMap { element in
      guard let (path, location) = element.regularFile, let size = Self.size(of: path)
      else { return nil }
      return Input(path: path, size: size, location: location)
    }
    provideAllData = !inputs.isEmpty && inputs.count == sources.count
  }

  /// Returns an error if a file has become shorter since then.
  func complaint() -> Diagnostic? {
    for input in inputs {
      guard let size = Self.size(of: input.path), size < input.size else { continue }
      return Diagnostic(
        .error, "'\(input.path)' was truncated while it was read", at: input.location,
        help: "it had \(input.size) bytes and now has \(size)")
    }
    return nil
  }

  private static func size(of path: String) -> Int? {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : nil
  }
}

/// The files that a graph writes.
struct OutputFiles: Sendable {
  struct Output: Sendable {
    /// Index of the sink in the graph.
    let element: Int
    /// The final path of the file.
    let path: String
    let location: SourceLocation
    /// Whether only an optional branch writes it.
    let isOptional: Bool
  }

  let outputs: [Output]
  /// The outputs of sinks with many files, for the user: a playlist, or the pattern of the names.
  let patterns: [String]

  private static let patternProperties = [
    "multivariant-playlist-location", "mpd-location", "playlist-location", "location",
  ]

  init(of graph: ResolvedGraph, registry: InstalledElements) {
    var outputs: [Output] = []
    var patterns: [String] = []
    for (index, element) in graph.elements.enumerated() {
      guard let type = registry.elementType(element.type.text), type.isSink else { continue }
      guard let (path, location) = element.regularFile else {
        let found = Self.patternProperties.lazy.compactMap { name in
          element.properties.first { $0.name == name }.flatMap(Self.path)
        }.first
        if let found, element.namedFile == nil { patterns.append(found) }
        continue
      }
      // The output is written to the target of a symbolic link.
      let target = Self.isLink(path) ? LocalFiles().canonicalPath(of: path) : path
      outputs.append(
        Output(element: index, path: target, location: location, isOptional: element.isOptional))
    }
    self.outputs = outputs
    self.patterns = patterns
  }

  private static func path(_ property: ResolvedGraph.Property) -> String? {
    guard case .text(.known(let text), _) = property.value, !text.isEmpty, !text.contains("://")
    else { return nil }
    return text.replacing("%%", with: "%")
  }

  /// Returns the outputs that already exist.
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
  /// The regular file that `location` names; nil for devices and pipes.
  fileprivate var regularFile: (path: String, location: SourceLocation)? {
    guard let file = namedFile else { return nil }
    var status = stat()
    guard stat(file.path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else { return nil }
    return file
  }
}
