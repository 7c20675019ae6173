// SPDX-License-Identifier: MPL-2.0

internal import PipelineFile

/// Draws a graph as DOT or as text.
struct GraphDrawing {
  private let graph: ResolvedGraph

  init(_ graph: ResolvedGraph) {
    self.graph = graph
  }

  /// The graph in Graphviz's language DOT.
  var dot: String {
    var lines = [
      "digraph pipeline {", "  rankdir=LR;",
      "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=sans];",
      "  edge [fontname=sans, fontsize=10];",
    ]
    for (index, element) in graph.elements.enumerated() {
      let style = element.isOptional ? ", style=\"rounded,dashed\"" : ""
      lines.append("  e\(index) [label=\(Self.quoted(title(index)))\(style)];")
    }
    for (index, link) in graph.links.enumerated() {
      let labels = [link.source.pad, caps(link), link.sink.pad].compactMap { $0 }
      let style = graph.isConditional(index) ? ", style=dashed" : ""
      lines.append(
        "  e\(link.source.element) -> e\(link.sink.element) "
          + "[label=\(Self.quoted(labels.joined(separator: "\n")))\(style)];")
    }
    return lines.joined(separator: "\n") + "\n}\n"
  }

  /// Returns boxes and arrows or, if these are too wide, one line for each branch.
  func text(columns: Int) -> String {
    if let boxes = GraphBoxes(graph, title: title), boxes.width <= columns { return boxes.text }
    return lines
  }

  private var lines: String {
    var drawn: Set<Int> = []
    var lines: [String] = []
    let targets = Set(graph.links.map(\.sink.element))
    let roots = graph.elements.indices.filter { !targets.contains($0) }
    for root in roots { draw(root, "", "", &drawn, &lines) }
    // Elements that only cycles reach.
    for index in graph.elements.indices where !drawn.contains(index) {
      draw(index, "", "", &drawn, &lines)
    }
    return lines.map { $0 + "\n" }.joined()
  }

  /// - Parameters:
  ///   - head: the text before the element in its line.
  ///   - margin: the text before its branches in their lines.
  private func draw(
    _ first: Int, _ head: String, _ margin: String, _ drawn: inout Set<Int>,
    _ lines: inout [String]
  ) {
    var line = head
    var element = first
    while true {
      line += title(element)
      guard drawn.insert(element).inserted else {
        lines.append(line + " ↑")
        return
      }
      let links = graph.links.filter { $0.source.element == element }
      guard links.count == 1, let link = links.first else {
        lines.append(line)
        for (index, link) in links.enumerated() {
          let isLast = index == links.count - 1
          draw(
            link.sink.element, margin + (isLast ? "└─" : "├─") + arrow(link),
            margin + (isLast ? "  " : "│ "), &drawn, &lines)
        }
        return
      }
      line += " ─" + arrow(link)
      element = link.sink.element
    }
  }

  private func arrow(_ link: ResolvedGraph.Link) -> String {
    let from = [link.source.pad, caps(link)].compactMap { $0 }.joined(separator: " ")
    let to = link.sink.pad.map { " \($0):" } ?? ""
    return (from.isEmpty ? "" : "\(from)─") + (link.isOptional ? "?" : "") + "▶\(to) "
  }

  private func caps(_ link: ResolvedGraph.Link) -> String? {
    (link.padCaps ?? link.filter).map { "(\($0.text))" }
  }

  private func title(_ index: Int) -> String {
    let element = graph.elements[index]
    return element.isNamed && element.name != element.type.text
      ? "\(element.name) [\(element.type.text)]" : "[\(element.type.text)]"
  }

  private static func quoted(_ text: String) -> String {
    let escaped = text.map { character -> String in
      switch character {
      case "\"", "\\": "\\\(character)"
      case "\n": "\\n"
      default: String(character)
      }
    }
    return "\"\(escaped.joined())\""
  }
}
