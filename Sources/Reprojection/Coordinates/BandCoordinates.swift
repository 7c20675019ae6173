// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Finds where the samples of bands come from.
struct BandCoordinates {
  let grid: DirectionGrid
  let source: PictureGeometry
  var target: PictureGeometry
  var rotation: LaneRotation
  let lattice: Lattice
  let interpolation: Interpolation
  var antialias: Bool
  /// The largest error of an interpolated position, in samples.
  var tolerance = DirectionGrid.tolerance
  /// The source's width where it closes; 0 elsewhere.
  private let period: Float
  /// Of each of the lattice's charts, the positions around which all samples that a kernel reads
  /// lie in it, with some to spare for what rounding does.
  private let reaches: [Reach]
  /// In place of the first of them, where rows are in pairs: those of a region.
  private var paired: Paired?

  private struct Paired {
    let level: Lattice.Level
    let near: Reach
    /// The part that lies over the edge.
    let beyond: Reach
  }

  private struct Reach {
    var left, top, right, bottom: Float

    /// Of the first and the last samples that a kernel may read.
    init(left: Int, top: Int, right: Int, bottom: Int, _ interpolation: Interpolation) {
      let before = Float(interpolation.before) + 0.125
      let behind = Float(interpolation.behind) + 0.125
      (self.left, self.right) = (Float(left) + before, Float(right) - behind)
      (self.top, self.bottom) = (Float(top) + before, Float(bottom) - behind)
    }
  }

  init(
    grid: DirectionGrid, source: PictureGeometry, target: PictureGeometry, lattice: Lattice,
    interpolation: Interpolation, antialias: Bool
  ) {
    self.grid = grid
    (self.source, self.target) = (source, target)
    rotation = LaneRotation(.identity)
    self.lattice = lattice
    self.interpolation = interpolation
    self.antialias = antialias
    period = source.charts[0].wraps ? Float(source.width) : 0
    reaches = lattice.charts.map {
      Reach(left: $0.left, top: $0.top, right: $0.right, bottom: $0.bottom, interpolation)
    }
  }

  /// Has kernels read the pairs of rows of a region, and nothing else; nil for the source as it is.
  mutating func usePairs(of region: SourceRegion?) {
    paired = nil
    guard let region, let level = lattice.pairs else { return }
    let samples = region.samples(level)
    // Of no columns, the last comes before the first, and no position is in reach.
    func reach(_ columns: Range<Int>) -> Reach {
      Reach(
        left: columns.lowerBound, top: samples.rows.lowerBound, right: columns.upperBound - 1,
        bottom: samples.rows.upperBound - 1, interpolation)
    }
    paired = Paired(level: level, near: reach(samples.columns), beyond: reach(samples.beyond))
  }

  private static let ramp = Floats(0, 1, 2, 3, 4, 5, 6, 7)

  /// Positions at the corners of a tile of eight by eight samples, which lie in one part of the
  /// source, and between which they can be interpolated.
  private struct Tile {
    var x00: Float, x10: Float, x01: Float, x11: Float
    var y00: Float, y10: Float, y01: Float, y11: Float
    var chart: Int
  }

  private enum Finding {
    case smooth(Tile)
    case outside
    case uneven
  }

  func fill(_ band: CoordinateBand, _ index: Int) {
    band.patches.removeAll(keepingCapacity: true)
    let rows = min(8, lattice.height - index * 8)
    for group in 0..<lattice.groups {
      let gridIndex = index * lattice.stepY * grid.columns + group * lattice.stepX
      let levelIndex = antialias ? Int(grid.level[gridIndex]) : 0
      let level = paired?.level ?? lattice.levels[levelIndex]
      band.levels[group] = UInt8(truncatingIfNeeded: levelIndex)
      guard level.hasFastWay else {
        fillOneByOne(band, index, group, rows, level, allowsFastWay: false)
        continue
      }
      switch tile(gridIndex, level) {
      case .smooth(let tile): fill(band, group, tile, rows, level)
      case .uneven: fillOneByOne(band, index, group, rows, level, allowsFastWay: true)
      case .outside:
        for row in 0..<rows {
          append(
            group, row, Positions(x: .zero, y: .zero, isInside: .zero),
            Integers(repeating: -1), to: band)
        }
      }
    }
  }

  @inline(__always)
  private func tile(_ index: Int, _ level: Lattice.Level) -> Finding {
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
    let weight = source.rowScale(atY: (y00 + y11) * 0.5) * level.scaleX
    let bendX = (abs(x00 - 2 * x10 + x20) + abs(x00 - 2 * x01 + x02)) * weight
    let bendY =
      (abs(y00 - 2 * y10 + y[2 * right]) + abs(y00 - 2 * y01 + y[2 * below])) * level.scaleY
    let most = 8 * tolerance
    guard bendX <= most, bendY <= most else { return .uneven }
    var tile = Tile(
      x00: x00 * level.scaleX + level.shiftX, x10: x10 * level.scaleX + level.shiftX,
      x01: x01 * level.scaleX + level.shiftX, x11: x11 * level.scaleX + level.shiftX,
      y00: y00 * level.scaleY + level.shiftY, y10: y10 * level.scaleY + level.shiftY,
      y01: y01 * level.scaleY + level.shiftY, y11: y11 * level.scaleY + level.shiftY, chart: chart)
    var least = min(min(tile.x00, tile.x10), min(tile.x01, tile.x11))
    let turn = turn(level, least)
    tile.x00 += turn
    tile.x10 += turn
    tile.x01 += turn
    tile.x11 += turn
    least += turn
    let reach = reach(level, chart, least)
    guard least >= reach.left,
      max(max(tile.x00, tile.x10), max(tile.x01, tile.x11)) <= reach.right,
      min(min(tile.y00, tile.y10), min(tile.y01, tile.y11)) >= reach.top,
      max(max(tile.y00, tile.y10), max(tile.y01, tile.y11)) <= reach.bottom,
      abs(tile.x11 - tile.x00) + abs(tile.x10 - tile.x01) < 2048,
      abs(tile.y11 - tile.y00) + abs(tile.y10 - tile.y01) < 2048
    else { return .uneven }
    return .smooth(tile)
  }

  /// How far positions are moved whose first one is so: by a turn where it lies before the first sample, and
  /// samples behind the last one are there for it.
  @inline(__always)
  private func turn(_ level: Lattice.Level, _ x: Float) -> Float {
    level.repeated > 0 && x < reaches[0].left ? Float(level.width) : 0
  }

  /// The one that a position may lie in.
  @inline(__always)
  private func reach(_ level: Lattice.Level, _ chart: Int, _ x: Float) -> Reach {
    let index = level.firstChart + chart
    guard let paired else { return reaches[index] }
    return x >= paired.beyond.left && x <= paired.beyond.right ? paired.beyond : paired.near
  }

  /// Interpolates within a tile.
  @inline(__always)
  private func fill(
    _ band: CoordinateBand, _ group: Int, _ tile: Tile, _ rows: Int, _ level: Lattice.Level
  ) {
    // From the pixel of a corner, so that ten bits of fraction are left in a Float.
    let (baseX, baseY) = (tile.x00.rounded(.down), tile.y00.rounded(.down))
    let insideX = lattice.offsetX / Float(8 * lattice.stepX)
    let insideY = lattice.offsetY / Float(8 * lattice.stepY)
    let ramp = Self.ramp * 0.125 + insideX
    @inline(__always) func ends(
      _ a: Float, _ b: Float, _ c: Float, _ d: Float, _ base: Float
    ) -> (Integers, Integers) {
      let top = (ramp * (b - a) + (a - base)) * 1024
      let bottom = (ramp * (d - c) + (c - base)) * 1024
      let slope = bottom - top
      let first = rounded(slope * insideY + top)
      return (first, rounded(slope * (insideY + 1) + top) &- first)
    }
    let (x, stepX) = ends(tile.x00, tile.x10, tile.x01, tile.x11, baseX)
    let (y, stepY) = ends(tile.y00, tile.y10, tile.y01, tile.y11, baseY)
    let shift = origin
    var column = (x &<< 6) &+ ((Int32(baseX) &<< 16) &+ shift)
    var line = (y &<< 6) &+ ((Int32(baseY) &<< 16) &+ shift)
    let (moveX, moveY) = (stepX &<< 3, stepY &<< 3)
    let stride = SIMD8(repeating: UInt16(truncatingIfNeeded: level.stride))
    var place = group * 8
    for _ in 0..<rows {
      store(column, line, stride, band, place)
      column = column &+ moveX
      line = line &+ moveY
      place += lattice.groups * 8
    }
  }

  /// From a position to the first sample that is read, in 65536ths: rounded to the nearest sample,
  /// or to 256ths of one.
  private var origin: Int32 {
    let round: Int32 = interpolation == .nearest ? 32768 : 128
    return round - Int32(interpolation.before) << 16
  }

  /// Makes offsets and fractions of eight positions in 65536ths.
  @inline(__always)
  private func store(
    _ x: Integers, _ y: Integers, _ stride: SIMD8<UInt16>, _ band: CoordinateBand, _ place: Int
  ) {
    // Rows and strides have 15 bits, and their products 30.
    let rows = (y &>> 16).lanes(as: UInt16.self)
    let low = (rows &* stride).lanes(as: Int32.self)
    let high = multiplyHigh(rows, stride).lanes(as: Int32.self)
    UnsafeMutableRawPointer(band.offsets + place).storeBytes(
      of: (low | high &<< 16) &+ (x &>> 16), as: Integers.self)
    let fractions = ((x &>> 8) & 0xFF) | (y & 0xFF00)
    UnsafeMutableRawPointer(band.fractions + place).storeBytes(
      of: fractions.lanes(as: UInt16.self), as: SIMD8<UInt16>.self)
  }

  /// Computes every position of a tile.
  private func fillOneByOne(
    _ band: CoordinateBand, _ index: Int, _ group: Int, _ rows: Int, _ level: Lattice.Level,
    allowsFastWay: Bool
  ) {
    let (stepX, stepY) = (Float(lattice.stepX), Float(lattice.stepY))
    let columns = (Self.ramp + Float(group * 8)) * stepX + lattice.offsetX
    let stride = SIMD8(repeating: UInt16(truncatingIfNeeded: level.stride))
    for row in 0..<rows {
      let line = Float(index * 8 + row) * stepY + lattice.offsetY
      let rays = target.rays(x: columns, y: line)
      var positions = source.positions(of: rays.turned(by: rotation))
      let region = positions.region(seenFrom: rays)
      positions.x = positions.x * level.scaleX + level.shiftX
      positions.y = positions.y * level.scaleY + level.shiftY
      guard allowsFastWay, isInReach(positions, region, level) else {
        append(group, row, positions, region, to: band)
        continue
      }
      let (wholeX, wholeY) = (rounded(positions.x - 0.5), rounded(positions.y - 0.5))
      let partX = rounded((positions.x - floats(exactly: wholeX)) * 65536)
      let partY = rounded((positions.y - floats(exactly: wholeY)) * 65536)
      store(
        (wholeX &<< 16) &+ partX &+ origin, (wholeY &<< 16) &+ partY &+ origin, stride, band,
        row * lattice.groups * 8 + group * 8)
    }
  }

  /// Whether all that a kernel reads around eight positions lies in one chart.
  @inline(__always)
  private func isInReach(
    _ positions: Positions, _ region: Integers, _ level: Lattice.Level
  ) -> Bool {
    let first = region[0]
    guard first >= 0, anyBits(region ^ first) == 0 else { return false }
    let reach = reach(level, source.chartOfCell[Int(first & 7)], positions.x[0])
    let outside =
      bits(positions.x - reach.left) | bits(reach.right - positions.x)
      | bits(positions.y - reach.top) | bits(reach.bottom - positions.y)
    return anyBits(outside) >= 0
  }

  @inline(__always)
  private func anyBits(_ value: Integers) -> Int32 {
    let four = value.lowHalf | value.highHalf
    let two = four.lowHalf | four.highHalf
    return two[0] | two[1]
  }

  private func append(
    _ group: Int, _ row: Int, _ positions: Positions, _ region: Integers, to band: CoordinateBand
  ) {
    var chart = SIMD8<Int8>(repeating: -1)
    for lane in 0..<8 where region[lane] >= 0 {
      chart[lane] = Int8(truncatingIfNeeded: source.chartOfCell[Int(region[lane] & 7)])
    }
    band.patches.append(
      CoordinateBand.Patch(
        group: Int32(truncatingIfNeeded: group), row: Int32(truncatingIfNeeded: row),
        x: positions.x, y: positions.y, chart: chart, isEmpty: region.max() < 0))
    let place = row * lattice.groups * 8 + group * 8
    UnsafeMutableRawPointer(band.offsets + place).storeBytes(
      of: SIMD8<UInt32>.zero, as: SIMD8<UInt32>.self)
    UnsafeMutableRawPointer(band.fractions + place).storeBytes(
      of: SIMD8<UInt16>.zero, as: SIMD8<UInt16>.self)
  }
}
