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
  /// The source at full size with its rows in pairs; nil where they are not put in pairs.
  let pairs: Level?
  /// The source's charts at each level.
  let charts: [Chart]

  var bands: Int { (height + 7) / 8 }
  /// Groups of eight samples in a row.
  var groups: Int { (width + 7) / 8 }

  /// The source's planes, made smaller by averaging.
  struct Level {
    let width, height: Int
    /// How many of the first samples of a row stand behind its last one again, as they do on the sphere.
    var repeated = 0
    /// From a row to the next, in samples; 0 where the fast way does not apply.
    var stride: Int
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
          width: size.width, height: size.height, stride: stride,
          firstChart: firstChart,
          scaleX: 1 / Float(cellX), shiftX: (0.5 - offsetX / Float(stepX)) * fraction - 0.5,
          scaleY: 1 / Float(cellY), shiftY: (0.5 - offsetY / Float(stepY)) * fraction - 0.5))
    }
    self.levels = levels
    self.charts = charts
    pairs = Self.pairs(levels[0], format, of: source)
  }

  private static func pairs(
    _ plain: Level, _ format: PictureFormat.Plane, of source: PictureGeometry
  ) -> Level? {
    guard plain.hasFastWay, source.charts.count == 1, RowPairPlane.fits(format) else { return nil }
    var level = plain
    // Half of an odd width is no whole number of samples, after which the picture would close.
    if source.charts[0].wraps, plain.width * format.horizontalSubsampling == source.width {
      level.repeated = min(plain.width, RowPairPlane.mostRepeated)
    }
    level.stride = plain.width + level.repeated
    return level.hasFastWay ? level : nil
  }
}
