// SPDX-License-Identifier: MPL-2.0

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
