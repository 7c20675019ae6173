// SPDX-License-Identifier: MPL-2.0

extension ResolvedGraph {
  /// Stage 3: compares the graph with the installed elements and the existing files.
  ///
  /// - Parameters:
  ///   - registry: the installed elements.
  ///   - files: the file system; nil to leave files unchecked.
  /// - Returns: all diagnostics.
  public func check(against registry: some ElementRegistry, files: (any FileProbe)?) -> Diagnostics
  {
    let reporter = Reporter()
    let check = RegistryCheck(graph: self, registry: registry, reporter: reporter)
    check.check()
    if let files { FileCheck(elements: check, files: files, reporter: reporter).check() }
    return reporter.diagnostics()
  }
}

/// Checks each element, its properties, its pads and its links.
struct RegistryCheck {
  let graph: ResolvedGraph
  let registry: any ElementRegistry
  let reporter: Reporter
  /// The types by element index; nil if the type is unknown.
  let types: [ElementType?]

  init(graph: ResolvedGraph, registry: any ElementRegistry, reporter: Reporter) {
    self.graph = graph
    self.registry = registry
    self.reporter = reporter
    var known: [String: ElementType?] = [:]
    types = graph.elements.map { element in
      guard let name = element.type.known else { return nil }
      if let type = known[name] { return type }
      let type = registry.elementType(name)
      known[name] = .some(type)
      return type
    }
  }

  func check() {
    let properties = PropertyCheck(registry: registry, reporter: reporter)
    for (element, type) in zip(graph.elements, types) {
      guard let type else {
        reportUnknownType(element)
        continue
      }
      for property in element.properties {
        properties.check(property, of: type.properties, owner: "'\(type.name)'")
      }
    }
    for pad in graph.pads {
      guard let type = types[pad.element] else { continue }
      let matching = type.padTemplates.filter { $0.matches(pad.name) }
      guard let template = matching.first else {
        reportUnknownPad(pad.name, of: pad.element, matching: type.padTemplates, pad.location)
        continue
      }
      for property in pad.properties {
        properties.check(
          property, of: type.properties(ofPads: template),
          owner: "the pad '\(pad.name)' of '\(type.name)'")
      }
    }
    LinkCheck(elements: self).check()
  }

  private func reportUnknownType(_ element: ResolvedGraph.Element) {
    guard let name = element.type.known else { return }
    var help: String?
    if let package = registry.package(providing: name) {
      help = "it is in the package \(package)"
    } else if let typed = typingMistake(name, element) {
      help = typed
    } else {
      help = "'gst-inspect-1.0' lists the types that are installed"
    }
    reporter.error(
      "no element type '\(name)' is installed", at: element.typeLocation, help: help)
  }

  private func typingMistake(_ name: String, _ element: ResolvedGraph.Element) -> String? {
    // The name in a link may be meant to refer to an element of the file.
    if !element.isNamed {
      let named = graph.elements.filter(\.isNamed).map(\.name)
      if let help = reporter.didYouMean(name, among: named) { return help }
    }
    return reporter.didYouMean(name, among: registry.elementTypeNames)
  }

  func reportUnknownPad(
    _ pad: String, of element: Int, matching templates: [PadDescription],
    _ location: SourceLocation
  ) {
    let names = templates.map(\.name)
    reporter.error(
      "\(graph.elements[element].title) has no pad '\(pad)'", at: location,
      help: reporter.didYouMean(pad, among: names)
        ?? (names.isEmpty ? nil : "it has \(names.joined(separator: ", "))"))
  }
}

extension ResolvedGraph.Element {
  /// The name and the type, for messages; only the type if the name is generated.
  var title: String { isNamed ? "'\(name)' (\(type.text))" : "'\(type.text)'" }
}

/// Checks the files that elements read and write, i.e. those named by `location`.
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
            notes: [.init(message: "it is also written here", location: first)])
        }
      }
    }
    for (path, place) in outputs {
      guard let input = inputs[path] else { continue }
      reporter.error(
        "output and input are the same file, '\(path)'", at: place, help: "write to another file",
        notes: [.init(message: "it is read here", location: input)])
    }
  }

  /// Indexes of the elements that are created for each pad that appears.
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

extension ResolvedGraph.Element {
  /// The file that the element's `location` names, and the location of the property's value.
  ///
  /// Nil for URLs and for patterns of numbered files, in which `%05d` stands for the number.
  public var namedFile: (path: String, location: SourceLocation)? {
    guard let property = properties.first(where: { $0.name == "location" }),
      case .text(.known(let path), _) = property.value, !path.isEmpty, !path.contains("://")
    else { return nil }
    // These elements take file names literally.
    let isLiteral = ["filesrc", "filesink"].contains(type.text)
    guard isLiteral || !path.contains("%") else { return nil }
    return (path, property.location)
  }
}
