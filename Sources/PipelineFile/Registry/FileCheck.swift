/// Looks at the files that elements read and write: those named by `location`.
struct FileCheck {
  let elements: RegistryCheck
  let files: any FileProbe
  let reporter: Reporter

  func check() {
    // By canonical path.
    var inputs: [String: SourceLocation] = [:]
    var outputs: [String: SourceLocation] = [:]
    for (element, type) in zip(elements.graph.elements, elements.types) {
      guard let type, let property = element.properties.first(where: { $0.name == "location" }),
        case .text(.known(let path), _) = property.value, isPath(path)
      else { continue }
      let directions = Set(type.padTemplates.map(\.direction))
      let place = property.location
      if directions == [.source] {
        checkInput(path, place)
        inputs[files.canonicalPath(of: path)] = place
      } else if directions == [.sink] {
        checkOutput(path, place)
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

  /// Numbered files and addresses are not looked for.
  private func isPath(_ text: String) -> Bool {
    !text.isEmpty && !text.contains("%") && !text.contains("://")
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
