// SPDX-License-Identifier: MPL-2.0

import PipelineFile

/// Reads a file from memory.
func read(
  _ text: String, includes: [String: String] = [:]
) -> (file: PipelineFile?, diagnostics: Diagnostics) {
  let files = includes.merging(["test.yaml": text]) { $1 }
  return PipelineFile.read(path: "test.yaml") { path in
    guard let text = files[path] else { throw NoSuchFile() }
    return Array(text.utf8)
  }
}

struct NoSuchFile: Error {}

/// The graph of a file that has no mistakes.
func graph(
  _ text: String, _ arguments: [String] = [], includes: [String: String] = [:],
  environment: [String: String] = [:], purpose: PipelineFile.Purpose = .run
) throws -> ResolvedGraph {
  let (file, diagnostics) = read(text, includes: includes)
  guard let file else { throw Mistakes(text: diagnostics.text()) }
  let (graph, more) = file.resolve(
    arguments: arguments, environment: { environment[$0] }, purpose: purpose)
  guard let graph else { throw Mistakes(text: more.text()) }
  return graph
}

struct Mistakes: Error, Equatable {
  let text: String
}

extension ResolvedGraph {
  /// `source.pad[caps] -[filter]-> sink.pad`, with `?` where optional.
  var linkTexts: [String] {
    links.map { link in
      func end(_ end: End) -> String {
        elements[end.element].name + (end.pad.map { "." + $0 } ?? "")
      }
      let caps = link.padCaps.map { "[\($0.text)]" } ?? ""
      let filter = link.filter.map { " -[\($0.text)]->" } ?? " ->"
      return end(link.source) + caps + (link.isOptional ? "?" : "") + filter + " " + end(link.sink)
    }
  }

  /// `name: type property=value …`
  var elementTexts: [String] {
    elements.map { element in
      let properties = element.properties.map { " \($0.name)=\($0.value.text)" }.joined()
      return "\(element.name): \(element.type.text)\(properties)"
    }
  }

  func value(_ element: String, _ property: String) -> String? {
    elements.first { $0.name == element }?.properties.first { $0.name == property }?.value.text
  }
}

extension ResolvedGraph.Value {
  var text: String {
    switch self {
    case .text(.known(let text), _): text
    case .text(.unknown(let source), _): "?" + source
    case .list(let items): "[" + items.map(\.text).joined(separator: ",") + "]"
    case .fields(let fields):
      "{" + fields.map { "\($0.name)=\($0.value.text)" }.joined(separator: ",") + "}"
    }
  }
}
