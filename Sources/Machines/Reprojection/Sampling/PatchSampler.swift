// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Samples positions near edges and outside, one by one: across the map's seam and poles, and never
/// from outside a chart.
struct PatchSampler {
  let source: UnsafeRawPointer
  /// Bytes from one row to the next.
  let stride: Int
  let width: Int
  let charts: [Chart]
  /// Index of the level's first chart.
  let firstChart: Int
  let plane: PictureFormat.Plane
  let interpolation: Interpolation
  private let weights: TapWeights

  init(
    source: UnsafeRawPointer, stride: Int, width: Int, charts: [Chart], firstChart: Int,
    plane: PictureFormat.Plane, interpolation: Interpolation
  ) {
    (self.source, self.stride, self.width) = (source, stride, width)
    (self.charts, self.firstChart, self.plane) = (charts, firstChart, plane)
    self.interpolation = interpolation
    weights = interpolation.table
  }

  /// Draws the first `count` samples of a patch.
  func draw(_ patch: CoordinateBlock.Patch, to target: UnsafeMutableRawPointer, count: Int) {
    for lane in 0..<count {
      let place = target + lane * plane.unit
      let index = Int(patch.chart[lane])
      guard !patch.isEmpty, index >= 0 else {
        for component in 0..<plane.components {
          write(
            plane.fill.indices.contains(component) ? Int(plane.fill[component]) : 0, component,
            place)
        }
        continue
      }
      draw(x: patch.x[lane], y: patch.y[lane], charts[firstChart + index], to: place)
    }
  }

  private func draw(x: Float, y: Float, _ chart: Chart, to place: UnsafeMutableRawPointer) {
    // Positions are finite and below 2²⁰; see PictureGeometry.positions.
    if interpolation == .nearest {
      let sample = self.sample(Int(x.rounded()), Int(y.rounded()), chart)
      for component in 0..<plane.components { write(read(sample, component), component, place) }
      return
    }
    let (column, line) = (x.rounded(.down), y.rounded(.down))
    if interpolation == .linear {
      drawLinear(Int(column), Int(line), phase(x - column), phase(y - line), chart, to: place)
      return
    }
    let across = weights.values + phase(x - column) * 8
    let down = weights.values + phase(y - line) * 8
    let most = (1 << plane.depth) - 1
    for component in 0..<plane.components {
      var sum = 0
      for row in 0..<weights.taps {
        for tap in 0..<weights.taps {
          let sample = self.sample(
            Int(column) + tap - interpolation.before, Int(line) + row - interpolation.before, chart)
          sum += read(sample, component) * Int(across[tap]) * Int(down[row])
        }
      }
      write(min(max((sum + (1 << 23)) >> 24, 0), most), component, place)
    }
  }

  /// Averages four neighbours, looking up each row and column only once.
  @inline(__always)
  private func drawLinear(
    _ x: Int, _ y: Int, _ right: Int, _ down: Int, _ chart: Chart,
    to place: UnsafeMutableRawPointer
  ) {
    let (upper, lower) = (row(y, chart), row(y + 1, chart))
    let first = (column(x + upper.turn, chart), column(x + 1 + upper.turn, chart))
    let second =
      upper.turn == lower.turn
      ? first : (column(x + lower.turn, chart), column(x + 1 + lower.turn, chart))
    let (across, below) = (weights.values + right * 8, weights.values + down * 8)
    for component in 0..<plane.components {
      let above =
        read(upper.start + first.0, component) * Int(across[0])
        + read(upper.start + first.1, component) * Int(across[1])
      let beneath =
        read(lower.start + second.0, component) * Int(across[0])
        + read(lower.start + second.1, component) * Int(across[1])
      let sum = above * Int(below[0]) + beneath * Int(below[1])
      write((sum + (1 << 23)) >> 24, component, place)
    }
  }

  private func phase(_ fraction: Float) -> Int { min(255, max(0, Int(fraction * 256 + 0.5))) }

  /// Returns the sample for a position that may lie outside the chart.
  private func sample(_ x: Int, _ y: Int, _ chart: Chart) -> UnsafeRawPointer {
    let row = row(y, chart)
    return row.start + column(x + row.turn, chart)
  }

  @inline(__always)
  private func row(_ y: Int, _ chart: Chart) -> SourcePlane.Row {
    SourcePlane(base: source, stride: stride, width: width, chart: chart).row(y)
  }

  /// Returns the byte offset in a row of a sample that may lie beyond the seam.
  @inline(__always)
  private func column(_ x: Int, _ chart: Chart) -> Int {
    SourcePlane(base: source, stride: stride, width: width, chart: chart).run(x).first * plane.unit
  }

  private func read(_ sample: UnsafeRawPointer, _ component: Int) -> Int {
    plane.bytes == 1
      ? Int(sample.load(fromByteOffset: component, as: UInt8.self))
      : Int(sample.loadUnaligned(fromByteOffset: component * 2, as: UInt16.self)) >> plane.shift
  }

  private func write(_ value: Int, _ component: Int, _ place: UnsafeMutableRawPointer) {
    if plane.bytes == 1 {
      place.storeBytes(
        of: UInt8(truncatingIfNeeded: value), toByteOffset: component, as: UInt8.self)
    } else {
      place.storeBytes(
        of: UInt16(truncatingIfNeeded: value << plane.shift), toByteOffset: component * 2,
        as: UInt16.self)
    }
  }
}

extension Interpolation {
  /// The weights of its taps; those of ``linear`` for the single tap of ``nearest``.
  var table: TapWeights {
    switch self {
    case .nearest, .linear: .linear
    case .cubic: .cubic
    case .lanczos: .lanczos
    }
  }
}

/// A copy of a piece of the source that fits into the cache and in which all samples that a kernel
/// reads are contiguous.
///
/// In one-byte planes, each sample is stored next to the one below it, so that one load reads the
/// four neighbours of a position.
final class PieceMemory {
  let start: UnsafeMutableRawPointer

  /// Whether each sample of a plane is stored next to the one below it.
  static func arePaired(_ plane: PictureFormat.Plane, _ interpolation: Interpolation) -> Bool {
    interpolation == .linear && plane.unit == 1
  }

  /// Returns the number of bytes per sample.
  static func unit(of plane: PictureFormat.Plane, _ interpolation: Interpolation) -> Int {
    arePaired(plane, interpolation) ? 2 : plane.unit
  }

  /// Allocates memory for pieces with `unit` bytes per sample.
  init(unit: Int) { start = .allocate(byteCount: SourcePiece.most * unit, alignment: 64) }

  deinit { start.deallocate() }

  /// Copies a piece.
  func fill(
    _ piece: SourcePiece, _ layout: PictureFormat.Plane, _ interpolation: Interpolation,
    from plane: SourcePlane
  ) {
    if Self.arePaired(layout, interpolation) {
      fillPairs(piece, from: plane)
    } else {
      fill(piece, from: plane, unit: layout.unit)
    }
  }

  private func fill(_ piece: SourcePiece, from plane: SourcePlane, unit: Int) {
    var target = start
    for y in piece.rows {
      let row = plane.row(y)
      var column = piece.columns.lowerBound
      while column < piece.columns.upperBound {
        let run = plane.run(column + row.turn)
        let count = min(run.count, piece.columns.upperBound - column)
        target.copyMemory(from: row.start + run.first * unit, byteCount: count * unit)
        target += count * unit
        column += count
      }
    }
  }

  /// Copies a piece of bytes, each row interleaved with the next one.
  private func fillPairs(_ piece: SourcePiece, from plane: SourcePlane) {
    var target = start
    var upper = plane.row(piece.rows.lowerBound)
    for y in piece.rows.dropLast() {
      let lower = plane.row(y + 1)
      var column = piece.columns.lowerBound
      while column < piece.columns.upperBound {
        let (one, other) = (plane.run(column + upper.turn), plane.run(column + lower.turn))
        let count = min(one.count, other.count, piece.columns.upperBound - column)
        Self.pair(upper.start + one.first, lower.start + other.first, target, count)
        target += 2 * count
        column += count
      }
      upper = lower
    }
  }

  @inline(__always)
  private static func pair(
    _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer, _ target: UnsafeMutableRawPointer,
    _ count: Int
  ) {
    @inline(__always) func eight(_ column: Int) {
      let one = upper.loadUnaligned(fromByteOffset: column, as: SIMD8<UInt8>.self)
      let other = lower.loadUnaligned(fromByteOffset: column, as: SIMD8<UInt8>.self)
      target.storeBytes(
        of: one.lanes(as: UInt16.self) | other.lanes(as: UInt16.self) &<< 8,
        toByteOffset: 2 &* column, as: SIMD8<UInt16>.self)
    }
    var column = 0
    while column &+ 8 <= count {
      eight(column)
      column &+= 8
    }
    if column < count, count >= 8 {
      // The last eight, some of them again.
      eight(count &- 8)
      return
    }
    while column < count {
      target.storeBytes(
        of: upper.load(fromByteOffset: column, as: UInt8.self), toByteOffset: 2 &* column,
        as: UInt8.self)
      target.storeBytes(
        of: lower.load(fromByteOffset: column, as: UInt8.self), toByteOffset: 2 &* column &+ 1,
        as: UInt8.self)
      column &+= 1
    }
  }
}

/// A run of samples to compute, the only argument of a kernel.
///
/// The coordinates have been checked: all samples that a kernel reads lie in the plane.
struct SampleRun {
  let source: UnsafeRawPointer
  /// Bytes from one row to the next.
  let stride: Int
  let offsets: UnsafePointer<UInt32>
  let fractions: UnsafePointer<UInt16>
  let target: UnsafeMutableRawPointer
  /// A multiple of eight.
  let count: Int

  @inline(__always)
  func fractions(_ index: Int) -> SIMD8<UInt16> {
    UnsafeRawPointer(fractions + index).loadUnaligned(as: SIMD8<UInt16>.self)
  }

  @inline(__always)
  func fourFractions(_ index: Int) -> SIMD4<UInt32> {
    UnsafeRawPointer(fractions + index).loadUnaligned(as: SIMD4<UInt16>.self).lanes(as: UInt32.self)
  }
}
