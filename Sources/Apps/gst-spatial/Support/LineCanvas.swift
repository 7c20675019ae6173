// SPDX-License-Identifier: MPL-2.0

/// Characters in rows, on which lines are drawn that join where they meet.
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

  /// Text in the middle of `width` characters.
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

  /// By the ways: up 1, down 2, left 4, right 8.
  private static let signs: [Character] = [
    " ", "│", "│", "│", "─", "┘", "┐", "┤", "─", "└", "┌", "├", "─", "┴", "┬", "┼",
  ]
}
