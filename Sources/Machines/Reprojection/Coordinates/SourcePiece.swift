// SPDX-License-Identifier: MPL-2.0

/// A rectangle of a level of the source, all that a block shows. It may go over the edges: on the other side of
/// the seam and of a pole the sphere goes on, elsewhere the outermost samples are repeated.
struct SourcePiece {
  /// In samples.
  let columns, rows: Range<Int>
  /// How often the source is halved.
  let level: Int
  /// The columns of the source where it closes; 0 elsewhere.
  let period: Float

  /// The most samples of one: what is larger costs more to copy than it saves.
  static let most = 4 * CoordinateBlock.side * CoordinateBlock.side
}

/// Which positions a block shows, from the least to the largest.
struct PositionRange {
  private(set) var low = Float.infinity, high = -Float.infinity

  var length: Float { high - low }

  @inline(__always)
  mutating func insert(_ position: Float) {
    (low, high) = (min(low, position), max(high, position))
  }

  /// The samples that are read for them, with a few to spare for positions between the points of the grid.
  func samples(_ scale: Float, _ shift: Float, _ interpolation: Interpolation) -> Range<Int> {
    guard low <= high else { return 0..<0 }
    // Positions are finite and below 2²⁰; see PictureGeometry.positions.
    let first = Int((low * scale + shift).rounded(.down)) - interpolation.before - 3
    return first..<Int((high * scale + shift).rounded(.up)) + interpolation.behind + 4
  }
}

extension BlockCoordinates {
  /// What a block shows of the source; nil where that is too much, or not from one part of it.
  func piece(_ block: Lattice.Block) -> SourcePiece? {
    guard source.charts.count == 1 else { return nil }
    let first =
      block.row * CoordinateBlock.tiles * lattice.stepY * grid.columns
      + block.column * CoordinateBlock.tiles * lattice.stepX
    let levelIndex = antialias ? grid.level[first] : 0
    var (x, turned, y) = (PositionRange(), PositionRange(), PositionRange())
    for row in 0...block.tileRows {
      var index = first + row * lattice.stepY * grid.columns
      for column in 0...block.tileColumns {
        if antialias, grid.level[index] != levelIndex, row < block.tileRows,
          column < block.tileColumns
        {
          return nil
        }
        if grid.region[index] >= 0 {
          x.insert(grid.x[index])
          turned.insert(grid.x[index] < period * 0.5 ? grid.x[index] + period : grid.x[index])
          y.insert(grid.y[index])
        }
        index += lattice.stepX
      }
    }
    let level = lattice.levels[Int(levelIndex)]
    let goesOverSeam = turned.length < x.length
    var columns = (goesOverSeam ? turned : x).samples(level.scaleX, level.shiftX, interpolation)
    let rows = y.samples(level.scaleY, level.shiftY, interpolation)
    // Half of an odd width is no whole number of samples, after which the picture would close.
    if period > 0, !level.isWhole { columns = columns.clamped(to: 0..<level.width) }
    guard !columns.isEmpty, columns.count < 32768, rows.count < 32768,
      columns.count * rows.count <= SourcePiece.most
    else { return nil }
    return SourcePiece(
      columns: columns, rows: rows, level: Int(levelIndex),
      period: level.isWhole && period > 0 ? Float(level.width) : 0)
  }
}
