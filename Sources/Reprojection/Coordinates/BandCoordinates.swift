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
  let period: Float
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

  struct Reach {
    let left, top, right, bottom: Float

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

  static let ramp = Floats(0, 1, 2, 3, 4, 5, 6, 7)

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
      case .tile(let tile):
        // Twice, so that the usual way has no more to do than it needs.
        if let bend = tile.bend {
          fill(band, group, tile, bend, rows, level)
        } else {
          fill(band, group, tile, nil, rows, level)
        }
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

  /// Before it, kernels reach over the left edge.
  var firstColumn: Float { reaches[0].left }

  /// The one that a position may lie in.
  @inline(__always)
  func reach(_ level: Lattice.Level, _ chart: Int, _ x: Float) -> Reach {
    let index = level.firstChart + chart
    guard let paired else { return reaches[index] }
    return x >= paired.beyond.left && x <= paired.beyond.right ? paired.beyond : paired.near
  }

  /// From a position to the first sample that is read, in 65536ths: rounded to the nearest sample,
  /// or to 256ths of one.
  var origin: Int32 {
    let round: Int32 = interpolation == .nearest ? 32768 : 128
    return round - Int32(interpolation.before) << 16
  }

  /// Makes offsets and fractions of eight positions in 65536ths.
  @inline(__always)
  func store(
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
