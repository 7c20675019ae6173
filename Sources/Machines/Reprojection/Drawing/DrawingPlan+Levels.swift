// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension DrawingPlan {
  /// Makes the halves of the source that the view needs, as many rows of them as it needs.
  func makeLevels(
    _ pictures: ArraySlice<Reprojector.Picture>, _ owner: Reprojector, _ need: DirectionGrid.Need
  ) {
    while mips.count < pictures.count {
      mips.append(
        format.planes.map { plane in
          let size = plane.size(of: owner.source)
          return (1...Self.mostLevels).map { level in
            let half = MipPlane.size(size.width, size.height, level: level)
            return MipPlane(width: half.width, height: half.height, unit: plane.unit)
          }
        })
    }
    for level in 1...need.level {
      for index in format.planes.indices {
        let plane = format.planes[index]
        // Rows of this level; a few more for the taps, and for the next level.
        let scale = Float(plane.verticalSubsampling << level)
        let margin = Float(8 << (need.level - level))
        let rows = mips[0][index][level - 1].height
        let first = Int(max(0, min(Float(rows), need.top / scale - margin)))
        let last = Int(max(0, min(Float(rows), need.bottom / scale + margin)))
        guard first < last else { continue }
        let pieces = (last - first + 15) / 16
        owner.pool.run(pieces * pictures.count) { _, job in
          let place = job / pieces
          let target = self.mips[place][index][level - 1]
          let start = first + job % pieces * 16
          let source = self.level(
            level - 1, index, pictures[pictures.startIndex + place], place, owner)
          for row in start..<min(start + 16, last) {
            target.fill(
              row, from: source.base, stride: source.stride, width: source.width,
              height: source.height, plane)
          }
        }
      }
    }
  }

  /// A plane of the source, or a half of it.
  @inline(__always)
  func level(
    _ level: Int, _ index: Int, _ picture: Reprojector.Picture, _ place: Int, _ owner: Reprojector
  ) -> (base: UnsafeRawPointer, stride: Int, width: Int, height: Int) {
    if level == 0 {
      let size = format.planes[index].size(of: owner.source)
      let plane = picture.source[index]
      return (UnsafeRawPointer(plane.base), plane.stride, size.width, size.height)
    }
    let plane = mips[place][index][level - 1]
    return (UnsafeRawPointer(plane.memory), plane.stride, plane.width, plane.height)
  }
}
