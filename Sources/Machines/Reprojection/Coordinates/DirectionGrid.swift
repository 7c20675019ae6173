// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The target's directions at every eighth pixel, and their positions in the source.
///
/// Positions between the points are interpolated: linearly if a quarter of the second differences
/// of neighbouring points, eight pixels apart, is at most 1/32 pixel, and quadratically if a
/// quarter of the third differences is. Both bounds exceed the actual error. Elsewhere, close to a
/// pole, positions are computed one by one.
final class DirectionGrid {
  static let spacing = 8
  /// Largest error of a position between points, in pixels.
  static let tolerance: Float = 1.0 / 32

  /// Returns the tolerance to use: lower if that costs little, because the view stays or the
  /// interpolation has many taps.
  static func tolerance(_ interpolation: Interpolation, viewStays: Bool) -> Float {
    if viewStays { return tolerance / 8 }
    return interpolation.before > 0 ? tolerance * 0.75 : tolerance
  }

  let columns, rows: Int
  /// Points that are corners of tiles.
  let corners: (columns: Int, rows: Int)
  /// The directions of the target, before rotation.
  private let rayX, rayY, rayZ: UnsafeMutablePointer<Float>
  private let rayFace: UnsafeMutablePointer<Int32>
  /// Positions in the source's luma plane.
  let x, y: UnsafeMutablePointer<Float>
  /// Source cell and target cell around a point, combined; -1 if there is no picture.
  let region: UnsafeMutablePointer<Int32>
  /// Number of halvings of the source around a point, so that no samples are skipped.
  let level: UnsafeMutablePointer<UInt8>

  private let arena: UnsafeMutableRawPointer

  init(width: Int, height: Int) {
    // Chroma tiles are two steps wide. Two more points are needed to compute the bend of the last
    // tiles.
    corners = (2 * ((width + 15) / 16) + 1, 2 * ((height + 15) / 16) + 1)
    columns = (corners.columns + 4 + 7) & ~7
    rows = corners.rows + 4
    let count = columns * rows
    let arena = UnsafeMutableRawPointer.allocate(byteCount: count * 29 + 64, alignment: 64)
    self.arena = arena
    func numbers(_ index: Int) -> UnsafeMutablePointer<Float> {
      (arena + index * count * 4).bindMemory(to: Float.self, capacity: count)
    }
    (rayX, rayY, rayZ, x, y) = (numbers(0), numbers(1), numbers(2), numbers(3), numbers(4))
    rayFace = (arena + 5 * count * 4).bindMemory(to: Int32.self, capacity: count)
    region = (arena + 6 * count * 4).bindMemory(to: Int32.self, capacity: count)
    level = (arena + 7 * count * 4).bindMemory(to: UInt8.self, capacity: count)
    level.initialize(repeating: 0, count: count)
  }

  deinit { arena.deallocate() }

  private static let ramp = Floats(0, 8, 16, 24, 32, 40, 48, 56)

  /// Computes a row of directions for a target of this grid's size.
  func aim(_ row: Int, _ target: PictureGeometry) {
    for column in stride(from: 0, to: columns, by: 8) {
      let rays = target.rays(x: Self.ramp + Float(column * 8), y: Float(row * 8))
      let index = row * columns + column
      store(rays.x, rayX + index)
      store(rays.y, rayY + index)
      store(rays.z, rayZ + index)
      UnsafeMutableRawPointer(rayFace + index).storeBytes(of: rays.face, as: Integers.self)
    }
  }

  /// Computes the source positions of a row of points.
  func evaluate(_ row: Int, _ rotation: LaneRotation, _ source: PictureGeometry) {
    for column in stride(from: 0, to: columns, by: 8) {
      let index = row * columns + column
      var rays = Rays(x: load(rayX + index), y: load(rayY + index), z: load(rayZ + index))
      rays.face = UnsafeRawPointer(rayFace + index).loadUnaligned(as: Integers.self)
      let positions = source.positions(of: rays.turned(by: rotation))
      store(positions.x, x + index)
      store(positions.y, y + index)
      UnsafeMutableRawPointer(region + index).storeBytes(
        of: positions.region(seenFrom: rays), as: Integers.self)
    }
  }
}

extension Positions {
  /// Returns the source cell and target cell, combined; -1 if either shows nothing.
  @inline(__always) func region(seenFrom rays: Rays) -> Integers {
    let isSeen = isInside & ~(rays.face &>> 31)
    return ((face | (rays.face &<< 3)) & isSeen) | ~isSeen
  }
}

@inline(__always) func load(_ pointer: UnsafePointer<Float>) -> Floats {
  UnsafeRawPointer(pointer).loadUnaligned(as: Floats.self)
}

@inline(__always) func store(_ value: Floats, _ pointer: UnsafeMutablePointer<Float>) {
  UnsafeMutableRawPointer(pointer).storeBytes(of: value, as: Floats.self)
}

extension DirectionGrid {
  /// The levels of the source needed for a row of points, and the rows needed of them.
  struct Need {
    /// Highest level; 0 for the source itself.
    var level = 0
    /// First and last luma row of the source needed for levels above 0.
    var top = Float.infinity, bottom = -Float.infinity

    mutating func formUnion(_ other: Need) {
      level = max(level, other.level)
      top = min(top, other.top)
      bottom = max(bottom, other.bottom)
    }
  }

  /// Computes the levels around a row of points; the next row must already be evaluated.
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
      // A chroma point covers two rows, which may reach further than the next point.
      let reach = 3 * Float(Self.spacing) * spacing + Float(8 << found)
      need.top = min(need.top, y[here] - reach)
      need.bottom = max(need.bottom, y[here] + reach)
    }
    return need
  }
}

/// Returns a difference of columns, the short way round if the picture wraps after `period`
/// columns.
@inline(__always) func shortest(_ difference: Float, _ period: Float) -> Float {
  if difference > period * 0.5 { return difference - period }
  if difference < -period * 0.5 { return difference + period }
  return difference
}

extension PictureGeometry {
  /// Returns the length on the sphere of a step along a row, relative to a step along a column.
  @inline(__always) func rowScale(atY y: Float) -> Float {
    if case .equirectangular(let shape) = shape { return shape.rowScale(atY: y) }
    return 1
  }
}

/// The sample positions of planes with the same layout, in source and target, and the levels of the
/// source.
struct Lattice {
  /// Indices of the planes.
  let planes: [Int]
  /// Luma samples per sample of these planes.
  let stepX, stepY: Int
  /// Position of the first sample, in luma samples.
  let offsetX, offsetY: Float
  /// Size of the target, in samples of these planes.
  let width, height: Int
  /// The source at full size and at its halvings.
  let levels: [Level]
  /// The source's charts at each level.
  let charts: [Chart]

  /// The blocks of the target, row by row.
  var blocks: [Block] {
    let side = CoordinateBlock.side
    return (0..<(height + side - 1) / side).flatMap { row in
      (0..<(width + side - 1) / side).map { column in
        Block(
          column: column, row: row, width: min(side, width - column * side),
          height: min(side, height - row * side))
      }
    }
  }

  /// A part of the target.
  struct Block {
    /// Position in blocks.
    let column, row: Int
    /// Size in samples.
    let width, height: Int

    var tileColumns: Int { (width + 7) / 8 }
    var tileRows: Int { (height + 7) / 8 }
  }

  /// The source's planes, scaled down by averaging.
  struct Level {
    let width, height: Int
    /// Whether all samples of a row cover the same number of source columns.
    let isWhole: Bool
    /// Samples from one row to the next; 0 if the fast path cannot be used.
    let stride: Int
    /// Index of its first chart in the lattice's charts.
    let firstChart: Int
    /// Conversion from luma positions to sample positions of this level.
    let scaleX, shiftX, scaleY, shiftY: Float

    /// Whether rows and columns fit in 16-bit integers, which the fast path's offsets require.
    var hasFastPath: Bool { stride > 0 && stride < 32768 && width >= 8 && height >= 8 }
  }

  /// Creates a lattice.
  ///
  /// - Parameter strides: row stride of the source at each level, in samples; 0 if it is not a
  ///   whole number of samples.
  init(
    planes: [Int], _ format: PictureFormat.Plane, _ site: ChromaSite, source: PictureGeometry,
    target: PictureGeometry, strides: [Int]
  ) {
    self.planes = planes
    (stepX, stepY) = (format.horizontalSubsampling, format.verticalSubsampling)
    offsetX = stepX == 1 || site.isOnLeft ? 0 : 0.5
    offsetY = stepY == 1 || site.isOnTop ? 0 : 0.5
    width = (target.width + stepX - 1) / stepX
    height = (target.height + stepY - 1) / stepY
    var levels: [Level] = []
    var charts: [Chart] = []
    for (index, stride) in strides.enumerated() {
      let size = MipPlane.size(
        (source.width + stepX - 1) / stepX, (source.height + stepY - 1) / stepY, level: index)
      let (cellX, cellY) = (stepX << index, stepY << index)
      let firstChart = charts.count
      charts += source.charts.map { chart in
        var chart = chart
        chart.left = chart.left / cellX
        chart.top = chart.top / cellY
        chart.right = max(chart.left, min(size.width, (chart.right + cellX) / cellX) - 1)
        chart.bottom = max(chart.top, min(size.height, (chart.bottom + cellY) / cellY) - 1)
        return chart
      }
      // The centre of a group of samples is that of the sample that replaces it.
      let fraction = Float(1) / Float(1 << index)
      levels.append(
        Level(
          width: size.width, height: size.height, isWhole: size.width * cellX == source.width,
          stride: stride, firstChart: firstChart,
          scaleX: 1 / Float(cellX), shiftX: (0.5 - offsetX / Float(stepX)) * fraction - 0.5,
          scaleY: 1 / Float(cellY), shiftY: (0.5 - offsetY / Float(stepY)) * fraction - 0.5))
    }
    self.levels = levels
    self.charts = charts
  }
}
