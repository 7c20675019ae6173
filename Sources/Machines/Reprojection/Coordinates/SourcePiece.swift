// SPDX-License-Identifier: MPL-2.0

/// A rectangle of a source level that contains everything a block shows. It may extend beyond the
/// edges: across the seam and the poles with the rest of the sphere, elsewhere with the outermost
/// samples repeated.
struct SourcePiece {
  /// In samples.
  let columns, rows: Range<Int>
  /// Number of halvings of the source.
  let level: Int
  /// Number of columns if the source wraps around, else 0.
  let period: Float

  /// Maximum number of samples; copying a larger piece costs more than it saves.
  static let most = 4 * CoordinateBlock.side * CoordinateBlock.side
}

/// The range of positions that a block shows.
struct PositionRange {
  private(set) var low = Float.infinity, high = -Float.infinity

  var length: Float { high - low }

  @inline(__always)
  mutating func insert(_ position: Float) {
    (low, high) = (min(low, position), max(high, position))
  }

  /// Returns the samples read for these positions, with a margin for positions between grid points.
  func samples(_ scale: Float, _ shift: Float, _ interpolation: Interpolation) -> Range<Int> {
    guard low <= high else { return 0..<0 }
    // Positions are finite and below 2²⁰; see PictureGeometry.positions.
    let first = Int((low * scale + shift).rounded(.down)) - interpolation.before - 3
    return first..<Int((high * scale + shift).rounded(.up)) + interpolation.after + 4
  }
}

extension BlockCoordinates {
  /// Returns the piece of the source that a block shows; nil if it is too large or not in a single
  /// chart and level.
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
    let crossesSeam = turned.length < x.length
    var columns = (crossesSeam ? turned : x).samples(level.scaleX, level.shiftX, interpolation)
    let rows = y.samples(level.scaleY, level.shiftY, interpolation)
    // Half of an odd width is not a whole number of samples, so the picture would not wrap exactly.
    if period > 0, !level.isWhole { columns = columns.clamped(to: 0..<level.width) }
    guard !columns.isEmpty, columns.count < 32768, rows.count < 32768,
      columns.count * rows.count <= SourcePiece.most
    else { return nil }
    return SourcePiece(
      columns: columns, rows: rows, level: Int(levelIndex),
      period: level.isWhole && period > 0 ? Float(level.width) : 0)
  }
}
