// SPDX-License-Identifier: MPL-2.0

/// A chart of a plane of the source, which goes on over its edges: on the other side of the seam and of a pole lies
/// the rest of the sphere; elsewhere the outermost samples are repeated.
struct SourcePlane {
  let base: UnsafeRawPointer
  /// From a row to the next, in bytes.
  let stride: Int
  /// Of the plane, in samples.
  let width: Int
  let chart: Chart

  struct Row {
    let start: UnsafeRawPointer
    /// How many columns further its samples stand: half a turn beyond a pole.
    let turn: Int
  }

  /// The row that stands for one which may lie beyond the chart.
  @inline(__always)
  func row(_ y: Int) -> Row {
    var (y, turn) = (y, 0)
    if chart.crossesPoles, y < chart.top || y > chart.bottom {
      y = y < chart.top ? 2 * chart.top - 1 - y : 2 * chart.bottom + 1 - y
      turn = width / 2
    }
    return Row(start: base + min(max(y, chart.top), chart.bottom) * stride, turn: turn)
  }

  /// The column that stands for one which may lie beyond the chart, and how many from there on stand for the next
  /// ones.
  @inline(__always)
  func run(_ column: Int) -> (first: Int, count: Int) {
    var column = column
    if chart.wraps {
      // At most half a turn and some taps outside, but for a picture of few columns.
      while column < 0 { column += width }
      while column >= width { column -= width }
    }
    if column < chart.left { return (chart.left, 1) }
    return column > chart.right ? (chart.right, 1) : (column, chart.right + 1 - column)
  }
}
