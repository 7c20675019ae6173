// SPDX-License-Identifier: MPL-2.0

/// Looks at the files that elements read and write: those named by `location`.
struct FileCheck {
  let elements: RegistryCheck
  let files: any FileProbe
  let reporter: Reporter

  func check() {
    // By canonical path.
    var inputs: [String: SourceLocation] = [:]
    var outputs: [String: SourceLocation] = [:]
    let repeated = repeatedElements
    for (index, element) in elements.graph.elements.enumerated() {
      guard let type = elements.types[index], let (path, place) = element.namedFile else {
        continue
      }
      let directions = Set(type.padTemplates.map(\.direction))
      if directions == [.source] {
        checkInput(path, place)
        inputs[files.canonicalPath(of: path)] = place
      } else if directions == [.sink] {
        checkOutput(path, place)
        if repeated.contains(index) {
          reporter.error(
            "'\(path)' would be written once for each pad", at: place,
            help: "'*' makes the branch for each pad; '?' makes it for one")
        }
        if let first = outputs.updateValue(place, forKey: files.canonicalPath(of: path)) {
          reporter.error(
            "'\(path)' is written twice", at: place,
            notes: [.init(message: "it is written here, too", location: first)])
        }
      }
    }
    for (path, place) in outputs {
      guard let input = inputs[path] else { continue }
      reporter.error(
        "the output is the input, '\(path)'", at: place, help: "write to another file",
        notes: [.init(message: "it is read here", location: input)])
    }
  }

  /// What is made for each pad that appears.
  private var repeatedElements: Set<Int> {
    let links = elements.graph.links
    return Set(
      links.indices.filter { links[$0].repetition == .each }
        .flatMap { elements.graph.parts(ofBranch: $0).elements })
  }

  private func checkInput(_ path: String, _ location: SourceLocation) {
    switch files.state(of: path) {
    case .file(isReadable: true, _): break
    case .file: reporter.error("'\(path)' cannot be read", at: location)
    case .folder: reporter.error("'\(path)' is a folder, not a file", at: location)
    case .missing: reporter.error("there is no file '\(path)'", at: location)
    }
  }

  private func checkOutput(_ path: String, _ location: SourceLocation) {
    switch files.state(of: path) {
    case .file(_, isWritable: true): return
    case .file: return reporter.error("'\(path)' cannot be written", at: location)
    case .folder: return reporter.error("'\(path)' is a folder, not a file", at: location)
    case .missing: break
    }
    let folder = PathPart.directory(of: path)
    switch files.state(of: folder) {
    case .folder(isWritable: true): break
    case .folder:
      reporter.error("nothing can be written to the folder '\(folder)'", at: location)
    case .file: reporter.error("'\(folder)' is a file, not a folder", at: location)
    case .missing: reporter.error("there is no folder '\(folder)'", at: location)
    }
  }
}
