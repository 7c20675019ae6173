// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Where the samples of some planes stand, in the source and in the target, and how the source's
/// are reached.
struct Lattice {
  /// Indices of the planes.
  let planes: [Int]
  /// Luma samples for one of these.
  let stepX, stepY: Int
  /// Where the first sample stands, in luma samples.
  let offsetX, offsetY: Float
  /// The size of the target, in samples of these planes.
  let width, height: Int
  /// The source at full size and at halves of it.
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
    /// Counted in blocks.
    let column, row: Int
    /// In samples.
    let width, height: Int

    var tileColumns: Int { (width + 7) / 8 }
    var tileRows: Int { (height + 7) / 8 }
  }

  /// The source's planes, made smaller by averaging.
  struct Level {
    let width, height: Int
    /// Whether no sample of a row stands for fewer columns of the source than the others.
    let isWhole: Bool
    /// From a row to the next, in samples; 0 where the fast way does not apply.
    let stride: Int
    /// Of its first chart, in the lattice's.
    let firstChart: Int
    /// From positions in luma to those in samples of this level.
    let scaleX, shiftX, scaleY, shiftY: Float

    /// Rows and columns of 16-bit integers, of which the fast way makes offsets.
    var hasFastWay: Bool { stride > 0 && stride < 32768 && width >= 8 && height >= 8 }
  }

  /// - Parameters:
  ///   - strides: of the source at each level, in samples; 0 for none that is one.
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
      // The centre of a cell of samples is that of the sample that stands for it.
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
