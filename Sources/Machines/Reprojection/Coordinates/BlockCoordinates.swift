// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Computes the source positions of the samples of a block.
struct BlockCoordinates {
  let grid: DirectionGrid
  let source: PictureGeometry
  var target: PictureGeometry
  var rotation: LaneRotation
  let lattice: Lattice
  let interpolation: Interpolation
  var antialias: Bool
  /// Largest error of an interpolated position, in samples.
  var tolerance = DirectionGrid.tolerance
  /// Width of the source if it wraps around, else 0.
  let period: Float
  /// For each of the lattice's charts, the positions for which all samples that a kernel reads are
  /// in the chart, with a margin for rounding.
  private let reaches: [Reach]

  struct Reach {
    let left, top, right, bottom: Float

    /// Creates the reach for the first and last samples that a kernel may read.
    init(left: Int, top: Int, right: Int, bottom: Int, _ interpolation: Interpolation) {
      let before = Float(interpolation.before) + 0.125
      let after = Float(interpolation.after) + 0.125
      (self.left, self.right) = (Float(left) + before, Float(right) - after)
      (self.top, self.bottom) = (Float(top) + before, Float(bottom) - after)
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

  static let ramp = Floats(0, 1, 2, 3, 4, 5, 6, 7)

  func fill(_ coordinates: CoordinateBlock, _ block: Lattice.Block) {
    coordinates.patches.removeAll(keepingCapacity: true)
    let piece = piece(block)
    coordinates.piece = piece
    for tileRow in 0..<block.tileRows {
      let rows = min(8, block.height - tileRow * 8)
      for tileColumn in 0..<block.tileColumns {
        let place = TilePosition(
          column: tileColumn, row: tileRow,
          x: block.column * CoordinateBlock.tiles + tileColumn,
          y: block.row * CoordinateBlock.tiles + tileRow)
        let gridIndex = place.y * lattice.stepY * grid.columns + place.x * lattice.stepX
        let levelIndex = antialias ? Int(grid.level[gridIndex]) : 0
        coordinates.levels[tileRow * CoordinateBlock.tiles + tileColumn] =
          UInt8(truncatingIfNeeded: levelIndex)
        let level = lattice.levels[levelIndex]
        guard piece != nil || level.hasFastPath else {
          fillIndividually(coordinates, place, rows, level, nil, allowsFastPath: false)
          continue
        }
        let stride = SIMD8(
          repeating: UInt16(truncatingIfNeeded: piece?.columns.count ?? level.stride))
        switch tile(gridIndex, level, piece) {
        case .tile(let tile):
          // Called in two places, so that the common case is compiled without bend.
          if let bend = tile.bend {
            fill(coordinates, place, tile, bend, rows, stride)
          } else {
            fill(coordinates, place, tile, nil, rows, stride)
          }
        case .uneven: fillIndividually(coordinates, place, rows, level, piece, allowsFastPath: true)
        case .outside:
          for row in 0..<rows {
            append(
              place, row, Positions(x: .zero, y: .zero, isInside: .zero),
              Integers(repeating: -1), to: coordinates)
          }
        }
      }
    }
  }

  /// Position of a tile.
  struct TilePosition {
    /// In the block, in tiles.
    let column, row: Int
    /// In the target, in tiles.
    let x, y: Int

    /// Returns the index of the first sample of a row of the tile.
    @inline(__always)
    func start(_ line: Int) -> Int { ((row &* 8 &+ line) &* CoordinateBlock.tiles &+ column) &* 8 }
  }

  /// Returns the positions allowed for a tile of a chart or of a piece.
  @inline(__always)
  func reach(_ level: Lattice.Level, _ chart: Int, _ piece: SourcePiece?) -> Reach {
    guard let piece else { return reaches[level.firstChart + chart] }
    return Reach(
      left: 0, top: 0, right: piece.columns.count - 1, bottom: piece.rows.count - 1, interpolation)
  }

  /// Offset from a position to the first sample read, in 65536ths, including rounding to the
  /// nearest sample or to 1/256 sample.
  var origin: Int32 {
    let round: Int32 = interpolation == .nearest ? 32768 : 128
    return round - Int32(interpolation.before) << 16
  }

  /// Stores the offsets and fractions of eight positions in 65536ths.
  @inline(__always)
  func store(
    _ x: Integers, _ y: Integers, _ stride: SIMD8<UInt16>, _ block: CoordinateBlock, _ index: Int
  ) {
    // Rows and strides have 15 bits, their products 30.
    let rows = (y &>> 16).lanes(as: UInt16.self)
    let low = (rows &* stride).lanes(as: Int32.self)
    let high = multiplyHigh(rows, stride).lanes(as: Int32.self)
    UnsafeMutableRawPointer(block.offsets + index).storeBytes(
      of: (low | high &<< 16) &+ (x &>> 16), as: Integers.self)
    let fractions = ((x &>> 8) & 0xFF) | (y & 0xFF00)
    UnsafeMutableRawPointer(block.fractions + index).storeBytes(
      of: fractions.lanes(as: UInt16.self), as: SIMD8<UInt16>.self)
  }

  /// Computes every position of a tile.
  private func fillIndividually(
    _ coordinates: CoordinateBlock, _ place: TilePosition, _ rows: Int, _ level: Lattice.Level,
    _ piece: SourcePiece?, allowsFastPath: Bool
  ) {
    let (stepX, stepY) = (Float(lattice.stepX), Float(lattice.stepY))
    let columns = (Self.ramp + Float(place.x * 8)) * stepX + lattice.offsetX
    let stride = SIMD8(repeating: UInt16(truncatingIfNeeded: piece?.columns.count ?? level.stride))
    for row in 0..<rows {
      let line = Float(place.y * 8 + row) * stepY + lattice.offsetY
      let rays = target.rays(x: columns, y: line)
      var positions = source.positions(of: rays.turned(by: rotation))
      let region = positions.region(seenFrom: rays)
      positions.x = positions.x * level.scaleX + level.shiftX
      positions.y = positions.y * level.scaleY + level.shiftY
      var (x, y) = (positions.x, positions.y)
      if let piece {
        x -= Float(piece.columns.lowerBound)
        x = select(isNegative(x), x + piece.period, x)
        y -= Float(piece.rows.lowerBound)
      }
      guard allowsFastPath, isInReach(x, y, region, level, piece) else {
        append(place, row, positions, region, to: coordinates)
        continue
      }
      let (wholeX, wholeY) = (rounded(x - 0.5), rounded(y - 0.5))
      let partX = rounded((x - floats(exactly: wholeX)) * 65536)
      let partY = rounded((y - floats(exactly: wholeY)) * 65536)
      store(
        (wholeX &<< 16) &+ partX &+ origin, (wholeY &<< 16) &+ partY &+ origin, stride,
        coordinates, place.start(row))
    }
  }

  /// Whether everything that a kernel reads around eight positions lies in one chart.
  @inline(__always)
  private func isInReach(
    _ x: Floats, _ y: Floats, _ region: Integers, _ level: Lattice.Level, _ piece: SourcePiece?
  ) -> Bool {
    let first = region[0]
    guard first >= 0, anyBits(region ^ first) == 0 else { return false }
    let reach = reach(level, source.chartOfCell[Int(first & 7)], piece)
    let outside =
      bits(x - reach.left) | bits(reach.right - x) | bits(y - reach.top) | bits(reach.bottom - y)
    return anyBits(outside) >= 0
  }

  @inline(__always)
  private func anyBits(_ value: Integers) -> Int32 {
    let four = value.lowHalf | value.highHalf
    let two = four.lowHalf | four.highHalf
    return two[0] | two[1]
  }

  private func append(
    _ place: TilePosition, _ row: Int, _ positions: Positions, _ region: Integers,
    to coordinates: CoordinateBlock
  ) {
    var chart = SIMD8<Int8>(repeating: -1)
    for lane in 0..<8 where region[lane] >= 0 {
      chart[lane] = Int8(truncatingIfNeeded: source.chartOfCell[Int(region[lane] & 7)])
    }
    coordinates.patches.append(
      CoordinateBlock.Patch(
        column: Int32(truncatingIfNeeded: place.column),
        row: Int32(truncatingIfNeeded: place.row * 8 + row),
        x: positions.x, y: positions.y, chart: chart, isEmpty: region.max() < 0))
    let start = place.start(row)
    UnsafeMutableRawPointer(coordinates.offsets + start).storeBytes(
      of: SIMD8<UInt32>.zero, as: SIMD8<UInt32>.self)
    UnsafeMutableRawPointer(coordinates.fractions + start).storeBytes(
      of: SIMD8<UInt16>.zero, as: SIMD8<UInt16>.self)
  }
}

/// The source positions of the samples of a target block, in rows of ``side`` samples.
final class CoordinateBlock {
  /// Number of tiles of eight by eight samples per row and per column of a block.
  static let tiles = 16
  /// Number of samples per row and per column.
  static let side = tiles * 8

  /// Offset of the first sample that a kernel reads, in samples from the start of the plane or
  /// piece.
  let offsets: UnsafeMutablePointer<UInt32>
  /// Position within the pixel in 256ths: x in the low byte, y in the high byte.
  let fractions: UnsafeMutablePointer<UInt16>
  /// Level of each tile, row by row.
  let levels: UnsafeMutablePointer<UInt8>
  /// The piece that kernels read; nil if they read the source plane directly.
  var piece: SourcePiece?
  /// Groups of samples that the fast path cannot compute.
  var patches: [Patch] = []

  /// Eight samples in a row, near an edge or outside.
  struct Patch {
    /// Tile column, and sample row in the block.
    var column, row: Int32
    /// In samples of the level.
    var x, y: Floats
    /// Index of the source chart; below 0 if there is no picture.
    var chart: SIMD8<Int8>
    var isEmpty: Bool
  }

  private let arena: UnsafeMutableRawPointer

  init() {
    let (count, tiles) = (Self.side * Self.side, Self.tiles * Self.tiles)
    arena = .allocate(byteCount: count * 6 + tiles, alignment: 64)
    offsets = arena.bindMemory(to: UInt32.self, capacity: count)
    fractions = (arena + count * 4).bindMemory(to: UInt16.self, capacity: count)
    levels = (arena + count * 6).bindMemory(to: UInt8.self, capacity: tiles)
    offsets.initialize(repeating: 0, count: count)
    fractions.initialize(repeating: 0, count: count)
    levels.initialize(repeating: 0, count: tiles)
  }

  deinit { arena.deallocate() }
}
