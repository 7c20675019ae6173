// SPDX-License-Identifier: MPL-2.0

extension DirectionGrid {
  /// Which halves of the source a row of points needs, and which of its rows.
  struct Need {
    /// The highest level; 0 for the source as it is.
    var level = 0
    /// The first and the last row of the source's luma that a level above 0 takes from.
    var top = Float.infinity, bottom = -Float.infinity

    mutating func formUnion(_ other: Need) {
      level = max(level, other.level)
      top = min(top, other.top)
      bottom = max(bottom, other.bottom)
    }
  }

  /// Finds the levels around a row of points, of which the next row is known too.
  func findLevels(_ row: Int, _ source: PictureGeometry, most: Int) -> Need {
    var need = Need()
    let period = source.charts[0].wraps ? Float(source.width) : 0
    for column in 0..<columns {
      let here = row * columns + column
      level[here] = 0
      guard column + 1 < columns, row + 1 < rows, region[here] >= 0,
        region[here] == region[here + 1], region[here] == region[here + columns]
      else { continue }
      let weight = source.rowScale(atY: y[here])
      func step(to index: Int) -> Float {
        let across = shortest(x[index] - x[here], period) * weight
        let down = y[index] - y[here]
        return (across * across + down * down).squareRoot() / Float(Self.spacing)
      }
      let spacing = max(step(to: here + 1), step(to: here + columns))
      var found = 0
      while found < most, spacing > 1.5 * Float(1 << found) { found += 1 }
      guard found > 0 else { continue }
      level[here] = UInt8(found)
      need.level = max(need.level, found)
      // A point of chroma stands for two rows, which may reach further than the next point.
      let reach = 3 * Float(Self.spacing) * spacing + Float(8 << found)
      need.top = min(need.top, y[here] - reach)
      need.bottom = max(need.bottom, y[here] + reach)
    }
    return need
  }
}

/// A difference of columns, the short way round where the picture closes after `period` ones.
@inline(__always) func shortest(_ difference: Float, _ period: Float) -> Float {
  if difference > period * 0.5 { return difference - period }
  if difference < -period * 0.5 { return difference + period }
  return difference
}

extension PictureGeometry {
  /// How much a step along a row shows, in parts of what one along a column does.
  @inline(__always) func rowScale(atY y: Float) -> Float {
    if case .equirectangular(let shape) = shape { return shape.rowScale(atY: y) }
    return 1
  }
}
