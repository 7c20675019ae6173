// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension DrawingPlan {
  /// Whether it saves time to have the rows of the source in pairs: they cost as much as some samples.
  static func usesRowPairs(
    _ region: SourceRegion, _ need: DirectionGrid.Need, _ target: PictureGeometry
  ) -> Bool {
    need.level == 0 && region.area <= Float(target.width * target.height)
  }

  /// Whether pictures of this format, around the viewer so, are ever drawn of pairs of rows.
  static func mayUseRowPairs(
    _ source: PictureGeometry, _ format: PictureFormat, _ interpolation: Interpolation
  ) -> Bool {
    interpolation == .linear && source.charts.count == 1
      && format.planes.contains(where: RowPairPlane.fits)
  }

  /// Makes pairs of the rows that a view shows. Returns false where there is no memory for them.
  func makeRowPairs(
    _ pictures: ArraySlice<Reprojector.Picture>, _ owner: Reprojector, _ region: SourceRegion
  ) -> Bool {
    while rowPairs.count < pictures.count {
      var planes: [Int: RowPairPlane] = [:]
      for lattice in lattices {
        guard let level = lattice.pairs else { continue }
        for index in lattice.planes {
          planes[index] = RowPairPlane(level)
          guard planes[index] != nil else { return false }
        }
      }
      rowPairs.append(planes)
    }
    for lattice in lattices {
      guard let level = lattice.pairs else { continue }
      let samples = region.samples(level)
      let rows = samples.rows
      // The last row has none below it.
      let last = min(rows.upperBound, level.height - 1)
      guard rows.lowerBound < last else { continue }
      let pieces = (last - rows.lowerBound + 15) / 16
      for index in lattice.planes {
        owner.pool.run(pieces * pictures.count) { _, job in
          let place = job / pieces
          guard let pairs = self.rowPairs[place][index] else { return }
          let plane = pictures[pictures.startIndex + place].source[index]
          let start = rows.lowerBound + job % pieces * 16
          for row in start..<min(start + 16, last) {
            let base = UnsafeRawPointer(plane.base)
            pairs.fill(row, samples.columns, from: base, stride: plane.stride)
            pairs.fill(row, samples.beyond, from: base, stride: plane.stride)
          }
        }
      }
    }
    return true
  }
}
