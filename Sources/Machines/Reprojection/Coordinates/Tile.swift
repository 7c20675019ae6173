// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Eight by eight samples of one part of the source, whose positions are interpolated between the corners.
struct Tile {
  var x, y: Corners
  /// How the positions bend away from straight lines; nil where they hardly do.
  let bend: (x: Bend, y: Bend)?

  struct Corners {
    let upperLeft, upperRight, lowerLeft, lowerRight: Float

    @inline(__always) var least: Float {
      min(min(upperLeft, upperRight), min(lowerLeft, lowerRight))
    }
    @inline(__always) var most: Float {
      max(max(upperLeft, upperRight), max(lowerLeft, lowerRight))
    }
    /// How far the corners are from the opposite ones, together.
    @inline(__always) var spread: Float {
      abs(lowerRight - upperLeft) + abs(upperRight - lowerLeft)
    }

    @inline(__always) func scaled(_ scale: Float, _ shift: Float) -> Corners {
      Corners(
        upperLeft: upperLeft * scale + shift, upperRight: upperRight * scale + shift,
        lowerLeft: lowerLeft * scale + shift, lowerRight: lowerRight * scale + shift)
    }
  }

  /// The second differences along the edges.
  struct Bend {
    let top, bottom, left, right: Float

    /// The furthest that a position lies beyond the corners.
    var bulge: Float { (max(abs(top), abs(bottom)) + max(abs(left), abs(right))) / 8 }
  }
}

/// Where the samples of a tile come from along one axis, row by row, in 65536ths of a sample.
struct TileRows {
  private(set) var positions: Integers
  private var step: Integers
  private var stepGrowth = Integers.zero

  /// - Parameters:
  ///   - base: a whole number near the corners, so that ten bits of fraction are left in a Float.
  ///   - columns: where the samples of a row stand, from 0 at the left edge to 1 at the right one.
  ///   - row: where the first row stands, from 0 at the upper edge.
  @inline(__always)
  init(_ corners: Tile.Corners, _ bend: Tile.Bend?, base: Float, columns: Floats, row: Float) {
    var upper = columns * (corners.upperRight - corners.upperLeft) + (corners.upperLeft - base)
    var lower = columns * (corners.lowerRight - corners.lowerLeft) + (corners.lowerLeft - base)
    if let bend {
      // What a second difference of 1 adds between two points.
      let bulge = columns * (columns - 1) * 0.5
      upper += bulge * bend.top
      lower += bulge * bend.bottom
    }
    // Of the first row, and of the one that would come eight rows later.
    var (first, last) = ((lower - upper) * row + upper, (lower - upper) * (row + 1) + upper)
    if let bend {
      let down = columns * (bend.right - bend.left) + bend.left
      first += down * (row * (row - 1) * 0.5)
      last += down * (row * (row + 1) * 0.5)
      stepGrowth = rounded(down * 1024)
    }
    let start = rounded(first * 1024)
    positions = (start &<< 6) &+ (Int32(base) &<< 16)
    // An eighth of the way, less what the steps grow by until the middle of it.
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
    /// No tile: its positions have to be computed one by one.
    case uneven
  }

  /// Where the tile lies whose upper left corner is a point of the grid.
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
      // A piece that goes over the seam begins before it.
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

  /// How a tile is bent; nil where that changes too much from point to point.
  private func bend(
    _ index: Int, _ level: Lattice.Level, _ weight: Float
  ) -> (x: Tile.Bend, y: Tile.Bend)? {
    let (right, below) = (lattice.stepX, lattice.stepY * grid.columns)
    let (x, y, region) = (grid.x + index, grid.y + index, grid.region + index)
    guard region[0] == region[3 * right], region[0] == region[3 * below],
      region[0] == region[2 * right + below], region[0] == region[2 * below + right]
    else { return nil }
    /// Of three points that follow each other.
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

  /// Interpolates within a tile.
  @inline(__always)
  func fill(
    _ block: CoordinateBlock, _ place: TilePlace, _ tile: Tile,
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
