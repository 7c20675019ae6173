// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Eight by eight samples of one source chart, with positions interpolated between the corners.
struct Tile {
  var x, y: Corners
  /// Second differences of the positions; nil if they are negligible.
  let bend: (x: Bend, y: Bend)?

  struct Corners {
    let upperLeft, upperRight, lowerLeft, lowerRight: Float

    @inline(__always) var least: Float {
      min(min(upperLeft, upperRight), min(lowerLeft, lowerRight))
    }
    @inline(__always) var most: Float {
      max(max(upperLeft, upperRight), max(lowerLeft, lowerRight))
    }
    /// Sum of the distances between opposite corners.
    @inline(__always) var spread: Float {
      abs(lowerRight - upperLeft) + abs(upperRight - lowerLeft)
    }

    @inline(__always) func scaled(_ scale: Float, _ shift: Float) -> Corners {
      Corners(
        upperLeft: upperLeft * scale + shift, upperRight: upperRight * scale + shift,
        lowerLeft: lowerLeft * scale + shift, lowerRight: lowerRight * scale + shift)
    }
  }

  /// Second differences along the edges.
  struct Bend {
    let top, bottom, left, right: Float

    /// Maximum distance of a position beyond the corners.
    fileprivate var bulge: Float { (max(abs(top), abs(bottom)) + max(abs(left), abs(right))) / 8 }
  }
}

/// Source positions of a tile's samples along one axis, row by row, in 65536ths of a sample.
struct TileRows {
  private(set) var positions: Integers
  private var step: Integers
  private var stepGrowth = Integers.zero

  /// Creates the positions of the first row.
  ///
  /// - Parameters:
  ///   - base: an integer near the corners, so that a Float has ten bits left for the fraction.
  ///   - columns: sample positions within a row, from 0 at the left edge to 1 at the right edge.
  ///   - row: position of the first row, from 0 at the upper edge.
  @inline(__always)
  init(_ corners: Tile.Corners, _ bend: Tile.Bend?, base: Float, columns: Floats, row: Float) {
    var upper = columns * (corners.upperRight - corners.upperLeft) + (corners.upperLeft - base)
    var lower = columns * (corners.lowerRight - corners.lowerLeft) + (corners.lowerLeft - base)
    if let bend {
      // Offset that a second difference of 1 adds between two points.
      let bulge = columns * (columns - 1) * 0.5
      upper += bulge * bend.top
      lower += bulge * bend.bottom
    }
    // Positions in the first row, and in the row eight rows later.
    var (first, last) = ((lower - upper) * row + upper, (lower - upper) * (row + 1) + upper)
    if let bend {
      let down = columns * (bend.right - bend.left) + bend.left
      first += down * (row * (row - 1) * 0.5)
      last += down * (row * (row + 1) * 0.5)
      stepGrowth = rounded(down * 1024)
    }
    let start = rounded(first * 1024)
    positions = (start &<< 6) &+ (Int32(base) &<< 16)
    // An eighth of the difference, minus half the growth of the steps.
    step = ((rounded(last * 1024) &- start) &<< 3) &- ((stepGrowth &* 7) &>> 1)
  }

  @inline(__always)
  mutating func advance() {
    positions = positions &+ step
    step = step &+ stepGrowth
  }
}

extension BlockCoordinates {
  enum Finding {
    case tile(Tile)
    case outside
    /// Not a tile: its positions must be computed one by one.
    case uneven
  }

  /// Returns the tile whose upper left corner is a grid point.
  @inline(__always)
  func tile(_ index: Int, _ level: Lattice.Level, _ piece: SourcePiece?) -> Finding {
    let (right, below) = (lattice.stepX, lattice.stepY * grid.columns)
    let (x, y, region) = (grid.x + index, grid.y + index, grid.region + index)
    let here = region[0]
    guard here == region[right], here == region[below], here == region[below + right] else {
      return .uneven
    }
    guard here >= 0 else { return .outside }
    guard here == region[2 * right], here == region[2 * below] else { return .uneven }
    let chart = source.chartOfCell[Int(here & 7)]
    let x00 = x[0]
    let x10 = x00 + shortest(x[right] - x00, period)
    let x01 = x00 + shortest(x[below] - x00, period)
    let x11 = x00 + shortest(x[below + right] - x00, period)
    let x20 = x10 + shortest(x[2 * right] - x10, period)
    let x02 = x01 + shortest(x[2 * below] - x01, period)
    let (y00, y10, y01, y11) = (y[0], y[right], y[below], y[below + right])
    let weight = source.rowScale(atY: (y00 + y11) * 0.5)
    let bendX = (abs(x00 - 2 * x10 + x20) + abs(x00 - 2 * x01 + x02)) * weight * level.scaleX
    let bendY =
      (abs(y00 - 2 * y10 + y[2 * right]) + abs(y00 - 2 * y01 + y[2 * below])) * level.scaleY
    var bend: (x: Tile.Bend, y: Tile.Bend)?
    if !(bendX <= 4 * tolerance && bendY <= 4 * tolerance) {
      bend = self.bend(index, level, weight)
      guard bend != nil else { return .uneven }
    }
    var tile = Tile(
      x: Tile.Corners(upperLeft: x00, upperRight: x10, lowerLeft: x01, lowerRight: x11)
        .scaled(level.scaleX, level.shiftX),
      y: Tile.Corners(upperLeft: y00, upperRight: y10, lowerLeft: y01, lowerRight: y11)
        .scaled(level.scaleY, level.shiftY),
      bend: bend)
    if let piece {
      let left = Float(piece.columns.lowerBound)
      // A piece that crosses the seam begins before it.
      let turn = tile.x.least < left ? piece.period : 0
      tile.x = tile.x.scaled(1, turn - left)
      tile.y = tile.y.scaled(1, -Float(piece.rows.lowerBound))
    }
    let reach = reach(level, chart, piece)
    let (bulgeX, bulgeY) = bend.map { ($0.x.bulge, $0.y.bulge) } ?? (0, 0)
    guard tile.x.least - bulgeX >= reach.left, tile.x.most + bulgeX <= reach.right,
      tile.y.least - bulgeY >= reach.top, tile.y.most + bulgeY <= reach.bottom,
      tile.x.spread < 2048, tile.y.spread < 2048
    else { return .uneven }
    return .tile(tile)
  }

  /// Returns the second differences of a tile; nil if they change too much between points.
  private func bend(
    _ index: Int, _ level: Lattice.Level, _ weight: Float
  ) -> (x: Tile.Bend, y: Tile.Bend)? {
    let (right, below) = (lattice.stepX, lattice.stepY * grid.columns)
    let (x, y, region) = (grid.x + index, grid.y + index, grid.region + index)
    guard region[0] == region[3 * right], region[0] == region[3 * below],
      region[0] == region[2 * right + below], region[0] == region[2 * below + right]
    else { return nil }
    /// Second difference of three consecutive points.
    func bendX(_ first: Int, _ step: Int) -> Float {
      let (one, two, three) = (x[first], x[first + step], x[first + 2 * step])
      return (shortest(three - two, period) - shortest(two - one, period)) * level.scaleX
    }
    func bendY(_ first: Int, _ step: Int) -> Float {
      (y[first] - 2 * y[first + step] + y[first + 2 * step]) * level.scaleY
    }
    let bend = (
      x: Tile.Bend(
        top: bendX(0, right), bottom: bendX(below, right), left: bendX(0, below),
        right: bendX(right, below)),
      y: Tile.Bend(
        top: bendY(0, right), bottom: bendY(below, right), left: bendY(0, below),
        right: bendY(right, below))
    )
    let changeX = abs(bendX(right, right) - bend.x.top) + abs(bendX(below, below) - bend.x.left)
    let changeY = abs(bendY(right, right) - bend.y.top) + abs(bendY(below, below) - bend.y.left)
    guard changeX * weight <= 4 * tolerance, changeY <= 4 * tolerance,
      bend.x.bulge < 256, bend.y.bulge < 256
    else { return nil }
    return bend
  }

  /// Stores interpolated positions for a tile.
  @inline(__always)
  func fill(
    _ block: CoordinateBlock, _ place: TilePosition, _ tile: Tile,
    _ bend: (x: Tile.Bend, y: Tile.Bend)?, _ rows: Int, _ stride: SIMD8<UInt16>
  ) {
    let columns = Self.ramp * 0.125 + lattice.offsetX / Float(8 * lattice.stepX)
    let row = lattice.offsetY / Float(8 * lattice.stepY)
    var x = TileRows(
      tile.x, bend?.x, base: tile.x.upperLeft.rounded(.down), columns: columns, row: row)
    var y = TileRows(
      tile.y, bend?.y, base: tile.y.upperLeft.rounded(.down), columns: columns, row: row)
    let shift = origin
    for line in 0..<rows {
      store(x.positions &+ shift, y.positions &+ shift, stride, block, place.start(line))
      x.advance()
      y.advance()
    }
  }
}
