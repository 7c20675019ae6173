// SPDX-License-Identifier: MPL-2.0

internal import PipelineFile

/// Draws a graph as boxes and arrows, from top to bottom.
struct GraphBoxes {
  private let layout: GraphLayers
  /// Maximum number of elements; larger graphs are not legible.
  private static let elementLimit = 150

  /// Nil if the graph has no elements or too many.
  init?(_ graph: ResolvedGraph, title: (Int) -> String) {
    guard !graph.elements.isEmpty, graph.elements.count <= Self.elementLimit else { return nil }
    layout = GraphLayers(graph, title: title)
  }

  var width: Int { layout.nodes.map { $0.x + $0.width }.max() ?? 0 }

  var text: String {
    var tops: [Int] = []
    var routes: [[Route]] = []
    var y = 0
    for layer in layout.layers.indices {
      tops.append(y)
      let channel = Route.lay(edges(below: layer))
      routes.append(channel)
      // Rows for the tracks, if any, and one for the arrowheads.
      let bends = channel.filter { $0.source != $0.sink }
      let tracks = bends.map { $0.track + 1 }.max() ?? 0
      y += height(of: layer) + (channel.isEmpty ? 0 : tracks + 1)
    }
    var canvas = LineCanvas(width: width, height: y)
    for layer in layout.layers.indices {
      for node in layout.layers[layer] { draw(node, tops[layer], height(of: layer), &canvas) }
      for route in routes[layer] where layer + 1 < tops.count {
        draw(route, from: tops[layer] + height(of: layer), to: tops[layer + 1], &canvas)
      }
    }
    return canvas.text
  }

  /// Returns the height of a layer: a title row, rows for labels above and below it if any node has
  /// some, and the borders.
  private func height(of layer: Int) -> Int {
    3 + (hasLabels(layer, isAbove: true) ? 1 : 0) + (hasLabels(layer, isAbove: false) ? 1 : 0)
  }

  private func hasLabels(_ layer: Int, isAbove: Bool) -> Bool {
    layout.layers[layer].contains { node in
      isAbove
        ? layout.nodes[node].inputs.contains { !layout.edges[$0].sinkLabel.isEmpty }
        : layout.nodes[node].outputs.contains { !layout.edges[$0].sourceLabel.isEmpty }
    }
  }

  private func edges(below layer: Int) -> [Route] {
    layout.layers[layer].flatMap { node in
      layout.nodes[node].outputs.map { edge in
        Route(
          source: layout.port(of: edge, at: node, isAbove: false),
          sink: layout.port(of: edge, at: layout.edges[edge].sink, isAbove: true),
          pointsAtBox: layout.nodes[layout.edges[edge].sink].title != nil)
      }
    }
  }

  private func draw(_ index: Int, _ top: Int, _ height: Int, _ canvas: inout LineCanvas) {
    let node = layout.nodes[index]
    guard let title = node.title else {
      return canvas.vertical(node.x, from: top - 1, to: top + height)
    }
    canvas.box(left: node.x, top: top, width: node.width, height: height)
    let above = hasLabels(node.layer, isAbove: true)
    for field in layout.fields(index, isAbove: true) where above {
      canvas.text(layout.edges[field.edge].sinkLabel, left: field.x, y: top + 1, width: field.width)
    }
    canvas.text(title, left: node.x + 1, y: top + (above ? 2 : 1), width: node.width - 2)
    for field in layout.fields(index, isAbove: false) {
      let label = layout.edges[field.edge].sourceLabel
      canvas.text(label, left: field.x, y: top + height - 2, width: label.isEmpty ? 0 : field.width)
    }
  }

  /// - Parameters:
  ///   - top: the row below the source's layer.
  ///   - bottom: the first row of the sink's layer.
  private func draw(_ route: Route, from top: Int, to bottom: Int, _ canvas: inout LineCanvas) {
    let track = top + route.track
    canvas.vertical(route.source, from: top - 1, to: track)
    canvas.horizontal(track, from: route.source, to: route.sink)
    canvas.vertical(route.sink, from: track, to: route.pointsAtBox ? bottom - 1 : bottom)
    if route.pointsAtBox { canvas.text("▼", left: route.sink, y: bottom - 1, width: 1) }
  }
}

/// The route of a link between two layers: down, across in a track, and down.
struct Route {
  let source: Int
  let sink: Int
  let pointsAtBox: Bool
  var track = 0

  init(source: Int, sink: Int, pointsAtBox: Bool) {
    self.source = source
    self.sink = sink
    self.pointsAtBox = pointsAtBox
  }

  /// Assigns a track to each route so that no two of them overlap.
  static func lay(_ routes: [Route]) -> [Route] {
    var laid: [Route] = []
    for var route in routes.sorted(by: { ($0.sink, $0.source) < ($1.sink, $1.source) }) {
      while laid.contains(where: route.collides) { route.track += 1 }
      laid.append(route)
    }
    return laid
  }

  private func collides(with other: Route) -> Bool {
    let (low, high) = (min(source, sink), max(source, sink))
    let (otherLow, otherHigh) = (min(other.source, other.sink), max(other.source, other.sink))
    if track == other.track, source != other.source, low <= otherHigh, otherLow <= high {
      return true
    }
    // One route ends in the column in which the other one begins.
    if sink == other.source, source != other.source, track < other.track { return true }
    return source == other.sink && source != other.source && track > other.track
  }
}

/// A grid of characters with lines that join where they meet.
struct LineCanvas {
  private struct Ways: OptionSet {
    let rawValue: UInt8
    static let up = Ways(rawValue: 1)
    static let down = Ways(rawValue: 2)
    static let left = Ways(rawValue: 4)
    static let right = Ways(rawValue: 8)
  }

  private enum Cell {
    case blank
    case line(Ways)
    case text(Character)
  }

  private var rows: [[Cell]]

  init(width: Int, height: Int) {
    rows = Array(repeating: Array(repeating: .blank, count: width), count: height)
  }

  mutating func horizontal(_ y: Int, from: Int, to: Int) {
    let (low, high) = (min(from, to), max(from, to))
    guard low < high else { return }
    for x in low...high {
      add((x > low ? Ways.left : []).union(x < high ? .right : []), x, y)
    }
  }

  mutating func vertical(_ x: Int, from: Int, to: Int) {
    let (low, high) = (min(from, to), max(from, to))
    guard low < high else { return }
    for y in low...high {
      add((y > low ? Ways.up : []).union(y < high ? .down : []), x, y)
    }
  }

  mutating func box(left: Int, top: Int, width: Int, height: Int) {
    let (right, bottom) = (left + width - 1, top + height - 1)
    horizontal(top, from: left, to: right)
    horizontal(bottom, from: left, to: right)
    vertical(left, from: top, to: bottom)
    vertical(right, from: top, to: bottom)
  }

  /// Draws text, centred in `width` characters.
  mutating func text(_ text: String, left: Int, y: Int, width: Int) {
    var x = left + max(0, (width - text.count) / 2)
    for character in text {
      set(.text(character), x, y)
      x += 1
    }
  }

  private mutating func add(_ ways: Ways, _ x: Int, _ y: Int) {
    guard rows.indices.contains(y), rows[y].indices.contains(x) else { return }
    switch rows[y][x] {
    case .blank: rows[y][x] = .line(ways)
    case .line(let there): rows[y][x] = .line(there.union(ways))
    case .text: break
    }
  }

  private mutating func set(_ cell: Cell, _ x: Int, _ y: Int) {
    guard rows.indices.contains(y), rows[y].indices.contains(x) else { return }
    rows[y][x] = cell
  }

  var text: String {
    var text = ""
    for row in rows {
      var line = ""
      for cell in row {
        switch cell {
        case .blank: line.append(" ")
        case .text(let character): line.append(character)
        case .line(let ways): line.append(Self.signs[Int(ways.rawValue)])
        }
      }
      while line.last == " " { line.removeLast() }
      text += line + "\n"
    }
    return text
  }

  /// Indexed by the raw value of `Ways`.
  private static let signs: [Character] = [
    " ", "│", "│", "│", "─", "┘", "┐", "┤", "─", "└", "┌", "├", "─", "┴", "┬", "┼",
  ]
}
