// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension DrawingPlan {
  /// Takes the samples of a block.
  func sample(
    _ coordinates: CoordinateBlock, _ block: Lattice.Block, _ lattice: Lattice,
    _ picture: Reprojector.Picture, _ place: Int, _ memory: PieceMemory, _ owner: Reprojector
  ) {
    for plane in lattice.planes {
      let layout = owner.format.planes[plane]
      let stride = picture.target[plane].stride
      let target =
        picture.target[plane].base
        + block.row * CoordinateBlock.side * stride
        + block.column * CoordinateBlock.side * layout.unit
      if let piece = coordinates.piece {
        let source = level(piece.level, plane, picture, place, owner)
        let chart = lattice.charts[lattice.levels[piece.level].firstChart]
        memory.fill(
          piece, layout, owner.settings.interpolation,
          from: SourcePlane(
            base: source.base, stride: source.stride, width: source.width, chart: chart))
        draw(
          Part(block, level: piece.level), coordinates, owner.pieceKernels[plane],
          UnsafeRawPointer(memory.start),
          piece.columns.count * layout.unit, target, stride, layout.unit)
      } else {
        for row in 0..<block.tileRows {
          var column = 0
          while column < block.tileColumns {
            let part = Part(coordinates, block, column: column, row: row)
            column += part.tileColumns
            guard lattice.levels[part.level].hasFastWay else { continue }
            let source = level(part.level, plane, picture, place, owner)
            draw(
              part, coordinates, owner.kernels[plane], source.base, source.stride, target, stride,
              layout.unit)
          }
        }
      }
      drawPatches(coordinates, block, lattice, picture, place, plane, owner, target)
    }
  }

  /// A part of a block, in samples, that is from one level of the source.
  private struct Part {
    let columns, rows: Range<Int>
    let level: Int

    var tileColumns: Int { (columns.count + 7) / 8 }

    /// A whole block.
    init(_ block: Lattice.Block, level: Int) {
      (columns, rows, self.level) = (0..<block.width, 0..<block.height, level)
    }

    /// As many tiles as are of one level, beginning with one of them.
    init(_ coordinates: CoordinateBlock, _ block: Lattice.Block, column: Int, row: Int) {
      let levels = coordinates.levels + row * CoordinateBlock.tiles
      var end = column + 1
      while end < block.tileColumns, levels[end] == levels[column] { end += 1 }
      columns = column * 8..<min(end * 8, block.width)
      rows = row * 8..<min(row * 8 + 8, block.height)
      level = Int(levels[column])
    }
  }

  @inline(__always)
  private func draw(
    _ part: Part, _ coordinates: CoordinateBlock, _ kernel: Kernel,
    _ source: UnsafeRawPointer, _ sourceStride: Int, _ target: UnsafeMutableRawPointer,
    _ stride: Int, _ unit: Int
  ) {
    let whole = part.columns.count & ~7
    let rest = part.columns.count - whole
    for row in part.rows {
      let start = row * CoordinateBlock.side + part.columns.lowerBound
      let line = target + row * stride + part.columns.lowerBound * unit
      func run(_ first: Int, _ count: Int, _ target: UnsafeMutableRawPointer) {
        kernel.sample(
          SampleRun(
            source: source, stride: sourceStride, offsets: coordinates.offsets + start + first,
            fractions: coordinates.fractions + start + first, target: target, count: count))
      }
      if whole > 0 { run(0, whole, line) }
      guard rest > 0 else { continue }
      withUnsafeTemporaryAllocation(byteCount: 64, alignment: 16) { eight in
        guard let base = eight.baseAddress else { return }
        run(whole, 8, base)
        (line + whole * unit).copyMemory(from: base, byteCount: rest * unit)
      }
    }
  }

  private func drawPatches(
    _ coordinates: CoordinateBlock, _ block: Lattice.Block, _ lattice: Lattice,
    _ picture: Reprojector.Picture, _ place: Int, _ plane: Int, _ owner: Reprojector,
    _ target: UnsafeMutableRawPointer
  ) {
    let layout = owner.format.planes[plane]
    let stride = picture.target[plane].stride
    var sampler: (level: UInt8, PatchSampler)?
    for patch in coordinates.patches {
      let (column, row) = (Int(patch.column), Int(patch.row))
      let level = coordinates.levels[row / 8 * CoordinateBlock.tiles + column]
      if sampler?.level != level {
        let source = self.level(Int(level), plane, picture, place, owner)
        sampler = (
          level,
          PatchSampler(
            source: source.base, stride: source.stride, width: source.width,
            charts: lattice.charts, firstChart: lattice.levels[Int(level)].firstChart,
            plane: layout, interpolation: owner.settings.interpolation)
        )
      }
      sampler?.1.draw(
        patch, to: target + row * stride + column * 8 * layout.unit,
        count: min(8, block.width - column * 8))
    }
  }
}
