// SPDX-License-Identifier: MPL-2.0

internal import PipelineFile

/// A graph in layers from top to bottom: each node is below all nodes that lead to it. A link
/// across several layers has a node without a box in each of those in between.
struct GraphLayers {
  struct Node {
    /// Nil for a node without a box.
    let title: String?
    let layer: Int
    var inputs: [Int] = []
    var outputs: [Int] = []
    /// The left edge.
    var x = 0
    var width = 1
  }

  struct Edge {
    let source: Int
    let sink: Int
    /// The label in the source's box.
    let sourceLabel: String
    /// The label in the sink's box.
    let sinkLabel: String
  }

  private(set) var nodes: [Node] = []
  private(set) var edges: [Edge] = []
  private(set) var layers: [[Int]] = []

  /// The distance between boxes.
  private static let gap = 2

  init(_ graph: ResolvedGraph, title: (Int) -> String) {
    let depths = Self.depths(graph)
    for index in graph.elements.indices {
      nodes.append(Node(title: title(index), layer: depths[index]))
    }
    for (index, link) in graph.links.enumerated() {
      let caps = (link.padCaps ?? link.filter).map { Self.short("(\($0.text))") }
      let begins = graph.isConditional(index) && !graph.elements[link.source.element].isOptional
      let labels = [begins ? "?" : nil, link.source.pad, caps]
      connect(
        link.source.element, link.sink.element,
        labels.compactMap { $0 }.joined(separator: " "), link.sink.pad ?? "")
    }
    layers = Array(repeating: [], count: (nodes.map(\.layer).max() ?? -1) + 1)
    for (index, node) in nodes.enumerated() { layers[node.layer].append(index) }
    sortLayers()
    for index in nodes.indices { nodes[index].width = width(of: index) }
    placeLayers()
  }

  private static func short(_ text: String) -> String {
    text.count > 24 ? text.prefix(22) + "…)" : text
  }

  /// Returns the number of links before each element, on the longest path.
  private static func depths(_ graph: ResolvedGraph) -> [Int] {
    var depths = graph.elements.map { _ in 0 }
    // Without a cycle, no path is longer.
    for _ in graph.elements.indices {
      var isSettled = true
      for link in graph.links where depths[link.sink.element] <= depths[link.source.element] {
        depths[link.sink.element] = depths[link.source.element] + 1
        isSettled = false
      }
      if isSettled { break }
    }
    // Places an element without inputs directly above the element that it feeds.
    let targets = Set(graph.links.map(\.sink.element))
    for index in depths.indices where !targets.contains(index) {
      let next = graph.links.filter { $0.source.element == index }.map { depths[$0.sink.element] }
      depths[index] = max(0, (next.min() ?? 1) - 1)
    }
    return depths
  }

  private mutating func connect(
    _ source: Int, _ sink: Int, _ sourceLabel: String, _ sinkLabel: String
  ) {
    var from = source
    var label = sourceLabel
    for layer in stride(from: nodes[source].layer + 1, to: nodes[sink].layer, by: 1) {
      nodes.append(Node(title: nil, layer: layer))
      join(from, nodes.count - 1, label, "")
      (from, label) = (nodes.count - 1, "")
    }
    join(from, sink, label, sinkLabel)
  }

  private mutating func join(_ source: Int, _ sink: Int, _ sourceLabel: String, _ sinkLabel: String)
  {
    edges.append(Edge(source: source, sink: sink, sourceLabel: sourceLabel, sinkLabel: sinkLabel))
    nodes[source].outputs.append(edges.count - 1)
    nodes[sink].inputs.append(edges.count - 1)
  }

  /// Reduces crossings by moving each node towards the middle of its neighbours, alternately those
  /// above and below.
  private mutating func sortLayers() {
    var places = nodes.map { _ in 0.0 }
    func number() {
      for layer in layers { for (i, n) in layer.enumerated() { places[n] = Double(i) } }
    }
    number()
    for round in 0..<8 {
      let order = round.isMultiple(of: 2) ? Array(layers.indices) : layers.indices.reversed()
      for layer in order {
        let wanted = layers[layer].map { node -> Double in
          let near =
            round.isMultiple(of: 2)
            ? nodes[node].inputs.map { places[edges[$0].source] }
            : nodes[node].outputs.map { places[edges[$0].sink] }
          return near.isEmpty ? places[node] : near.reduce(0, +) / Double(near.count)
        }
        let sorted = zip(wanted, layers[layer]).enumerated().sorted {
          ($0.element.0, $0.offset) < ($1.element.0, $1.offset)
        }
        layers[layer] = sorted.map(\.element.1)
        number()
      }
    }
    for index in nodes.indices {
      nodes[index].inputs.sort { places[edges[$0].source] < places[edges[$1].source] }
      nodes[index].outputs.sort { places[edges[$0].sink] < places[edges[$1].sink] }
    }
  }

  private func width(of node: Int) -> Int {
    guard let title = nodes[node].title else { return 1 }
    let inner =
      [
        title.count, cells(nodes[node].inputs.map { edges[$0].sinkLabel }).reduce(0, +),
        cells(nodes[node].outputs.map { edges[$0].sourceLabel }).reduce(0, +),
      ].max() ?? 0
    return inner + 4
  }

  /// Returns the widths of the fields for labels in a row.
  private func cells(_ labels: [String]) -> [Int] { labels.map { max(1, $0.count) + 2 } }

  /// Returns the fields of a node's labels at its upper or lower edge, spread over its width.
  func fields(_ node: Int, isAbove: Bool) -> [(edge: Int, x: Int, width: Int)] {
    let ends = isAbove ? nodes[node].inputs : nodes[node].outputs
    guard nodes[node].title != nil else { return ends.map { ($0, nodes[node].x, 1) } }
    let cells = cells(ends.map { isAbove ? edges[$0].sinkLabel : edges[$0].sourceLabel })
    let room = nodes[node].width - 2
    let spare = room - cells.reduce(0, +)
    var x = nodes[node].x + 1
    return ends.indices.map { index in
      // Distributes the spare width evenly.
      let extra = spare * (index + 1) / ends.count - spare * index / ends.count
      defer { x += cells[index] + extra }
      return (ends[index], x, cells[index] + extra)
    }
  }

  /// Returns the column at which an edge meets a node.
  func port(of edge: Int, at node: Int, isAbove: Bool) -> Int {
    let field = fields(node, isAbove: isAbove).first { $0.edge == edge }
    return field.map { $0.x + ($0.width - 1) / 2 } ?? nodes[node].x
  }

  // MARK: Columns

  private mutating func placeLayers() {
    for layer in layers.indices { place(layer) { _ in nil } }
    for round in 0..<6 {
      let goesDown = round.isMultiple(of: 2)
      for layer in goesDown ? Array(layers.indices) : layers.indices.reversed() {
        let wanted = layers[layer].map { wantedX($0, fromAbove: goesDown) }
        place(layer) { wanted[$0] }
      }
    }
    let left = nodes.map(\.x).min() ?? 0
    for index in nodes.indices { nodes[index].x -= left }
  }

  /// Returns the left edge at which a node's links are straight, on average.
  private func wantedX(_ node: Int, fromAbove: Bool) -> Int? {
    let ends = fromAbove ? nodes[node].inputs : nodes[node].outputs
    guard !ends.isEmpty else { return nil }
    let shifts = ends.map { edge in
      fromAbove
        ? port(of: edge, at: edges[edge].source, isAbove: false)
          - port(of: edge, at: node, isAbove: true)
        : port(of: edge, at: edges[edge].sink, isAbove: true)
          - port(of: edge, at: node, isAbove: false)
    }
    return nodes[node].x + shifts.reduce(0, +) / shifts.count
  }

  /// Places each node at the wanted column, as far as the order and the widths permit.
  private mutating func place(_ layer: Int, _ wanted: (Int) -> Int?) {
    let order = layers[layer]
    var xs = order.indices.map { wanted($0) ?? nodes[order[$0]].x }
    for index in order.indices.dropFirst() {
      xs[index] = max(xs[index], xs[index - 1] + nodes[order[index - 1]].width + Self.gap)
    }
    // Moves those that were pushed to the right halfway back.
    for index in order.indices.reversed() {
      let want = wanted(index) ?? xs[index]
      let limit =
        index + 1 < order.count ? xs[index + 1] - Self.gap - nodes[order[index]].width : Int.max
      xs[index] = min((xs[index] + want) / 2, limit)
    }
    for index in order.indices.dropFirst() {
      xs[index] = max(xs[index], xs[index - 1] + nodes[order[index - 1]].width + Self.gap)
    }
    for (index, node) in order.enumerated() { nodes[node].x = xs[index] }
  }
}
