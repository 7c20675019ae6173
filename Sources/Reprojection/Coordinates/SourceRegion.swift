// SPDX-License-Identifier: MPL-2.0

/// What a view shows of the source: a rectangle around it, which may go over the edge where the picture
/// closes.
struct SourceRegion {
  /// In pixels of the luma.
  private var columns = Interval(), rows = Interval()
  /// The columns where the left half of the source lies to the right of the right one.
  private var turned = Interval()
  /// The columns of the source where it closes; 0 elsewhere.
  private let period: Float

  private struct Interval {
    var low = Float.infinity, high = -Float.infinity

    var length: Float { max(0, high - low) }

    mutating func formUnion(_ other: Interval) {
      (low, high) = (min(low, other.low), max(high, other.high))
    }

    /// In samples, with some to spare for what lies between the points.
    func samples(_ scale: Float, _ shift: Float) -> Range<Int> {
      guard low <= high else { return 0..<0 }
      // Positions are finite and below 2²⁰; see PictureGeometry.positions.
      let first = Int((low * scale + shift).rounded(.down)) - 8
      return first..<max(first, Int((high * scale + shift).rounded(.up)) + 9)
    }
  }

  init(period: Float) { self.period = period }

  mutating func formUnion(_ other: SourceRegion) {
    columns.formUnion(other.columns)
    turned.formUnion(other.turned)
    rows.formUnion(other.rows)
  }

  fileprivate mutating func insert(x: Float, y: Float) {
    columns.formUnion(Interval(low: x, high: x))
    let place = x < period / 2 ? x + period : x
    turned.formUnion(Interval(low: place, high: place))
    rows.formUnion(Interval(low: y, high: y))
  }

  private var goesOverEdge: Bool { turned.length < columns.length }

  /// In pixels; 0 where a view shows nothing of the source.
  var area: Float { min(columns.length, turned.length) * rows.length }

  /// The region in samples of a plane.
  struct Samples {
    /// With those that are repeated behind the last one, where the region goes so far.
    let columns: Range<Int>
    /// What lies over the edge; empty where nothing does.
    let beyond: Range<Int>
    let rows: Range<Int>
  }

  func samples(_ level: Lattice.Level) -> Samples {
    let width = level.width
    let rows = rows.samples(level.scaleY, level.shiftY).clamped(to: 0..<level.height)
    let range = (goesOverEdge ? turned : columns).samples(level.scaleX, level.shiftX)
    let low = min(max(range.lowerBound, 0), width)
    let high = range.upperBound > width ? width + level.repeated : max(low, range.upperBound)
    let beyond = goesOverEdge ? range.lowerBound - width..<range.upperBound - width : 0..<0
    return Samples(columns: low..<high, beyond: beyond.clamped(to: 0..<width), rows: rows)
  }
}

extension DirectionGrid {
  /// What a row of points shows of the source.
  func region(_ row: Int, _ source: PictureGeometry) -> SourceRegion {
    var found = SourceRegion(period: source.charts[0].wraps ? Float(source.width) : 0)
    guard row < corners.rows else { return found }
    let first = row * columns
    for index in first..<first + corners.columns where region[index] >= 0 {
      found.insert(x: x[index], y: y[index])
    }
    return found
  }
}
