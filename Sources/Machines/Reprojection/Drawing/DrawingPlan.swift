// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// State kept between frames for pictures whose planes have the same strides.
final class DrawingPlan {
  /// Maximum number of halvings of the source.
  static let maximumLevels = 4

  /// Row strides of the source's planes, in bytes.
  private let strides: [Int]
  let format: PictureFormat
  private let lattices: [Lattice]
  /// One per lattice.
  private var finders: [BlockCoordinates]
  /// One per thread, for a view that moves.
  private let scratch: [CoordinateBlock]
  /// One per job, for a view that stays.
  private var kept: [CoordinateBlock] = []
  /// Whether the current view has been drawn, and whether its coordinates are stored in `kept`.
  private var hasDrawnView = false, areKeptFilled = false
  /// The blocks of all lattices.
  private let jobs: [Job]
  /// For each picture and plane, the halved planes.
  private var mips: [[[MipPlane]]] = []
  /// One per thread.
  let pieces: [PieceMemory]

  private struct Job {
    let lattice: Int
    let block: Lattice.Block
  }

  init(
    source: PictureGeometry, target: PictureGeometry, grid: DirectionGrid, format: PictureFormat,
    settings: Reprojector.Settings, strides: [Int], workers: Int
  ) {
    self.strides = strides
    self.format = format
    let usesLevels = settings.antialias && settings.interpolation != .nearest
    lattices = Self.alike(format, strides).map { planes in
      let plane = format.planes[planes[0]]
      let size = plane.size(of: source)
      let halves = (0..<(usesLevels ? Self.maximumLevels : 0)).map { level in
        MipPlane.stride(
          MipPlane.size(size.width, size.height, level: level + 1).width, unit: plane.unit)
      }
      return Lattice(
        planes: planes, plane, settings.chromaSite, source: source, target: target,
        strides: ([strides[planes[0]]] + halves).map { stride in
          stride > 0 && stride % plane.unit == 0 ? stride / plane.unit : 0
        })
    }
    finders = lattices.map { lattice in
      BlockCoordinates(
        grid: grid, source: source, target: target, lattice: lattice,
        interpolation: settings.interpolation, antialias: usesLevels)
    }
    scratch = (0..<workers).map { _ in CoordinateBlock() }
    let unit = format.planes.map { PieceMemory.unit(of: $0, settings.interpolation) }.max() ?? 1
    pieces = (0..<workers).map { _ in PieceMemory(unit: unit) }
    jobs = lattices.enumerated().flatMap { index, lattice in
      lattice.blocks.map { Job(lattice: index, block: $0) }
    }
  }

  /// Returns the indices of planes, grouped by those that share their coordinates.
  private static func alike(_ format: PictureFormat, _ strides: [Int]) -> [[Int]] {
    var groups: [[Int]] = []
    for (index, plane) in format.planes.enumerated() {
      let found = groups.firstIndex { group in
        let first = format.planes[group[0]]
        return strides[group[0]] == strides[index] && first.unit == plane.unit
          && first.horizontalSubsampling == plane.horizontalSubsampling
          && first.verticalSubsampling == plane.verticalSubsampling
      }
      if let found { groups[found].append(index) } else { groups.append([index]) }
    }
    return groups
  }

  func fits(_ picture: Reprojector.Picture) -> Bool {
    strides.indices.allSatisfy { strides[$0] == picture.source[$0].stride }
  }

  /// Discards the coordinates, before a different view is drawn.
  func forget() {
    hasDrawnView = false
    areKeptFilled = false
  }

  /// Draws pictures whose strides fit.
  func draw(
    _ pictures: ArraySlice<Reprojector.Picture>, by owner: Reprojector, target: PictureGeometry,
    rotation: LaneRotation, need: DirectionGrid.Need, isSameView: Bool
  ) {
    let keeps = isSameView && hasDrawnView
    if keeps, kept.isEmpty { kept = jobs.map { _ in CoordinateBlock() } }
    for index in finders.indices {
      finders[index].target = target
      finders[index].rotation = rotation
      finders[index].tolerance = DirectionGrid.tolerance(
        owner.settings.interpolation, viewStays: keeps)
      finders[index].antialias = need.level > 0
    }
    if need.level > 0 { makeLevels(pictures, owner, need) }
    let finds = !keeps || !areKeptFilled
    owner.pool.run(jobs.count) { worker, index in
      let job = self.jobs[index]
      let coordinates = keeps ? self.kept[index] : self.scratch[worker]
      if finds { self.finders[job.lattice].fill(coordinates, job.block) }
      for place in pictures.indices {
        self.sample(
          coordinates, job.block, self.lattices[job.lattice], pictures[place],
          place - pictures.startIndex, self.pieces[worker], owner)
      }
    }
    areKeptFilled = keeps
    hasDrawnView = true
  }
}

extension DrawingPlan {
  /// Samples the pixels of a block.
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
            guard lattice.levels[part.level].hasFastPath else { continue }
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

  /// A part of a block, in samples, that uses a single level of the source.
  private struct Part {
    let columns, rows: Range<Int>
    let level: Int

    var tileColumns: Int { (columns.count + 7) / 8 }

    /// Creates a part that is the whole block.
    init(_ block: Lattice.Block, level: Int) {
      (columns, rows, self.level) = (0..<block.width, 0..<block.height, level)
    }

    /// Creates a part of consecutive tiles with the same level, beginning with the given one.
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

extension DrawingPlan {
  /// Computes the levels of the source that the view needs, limited to the rows it needs.
  private func makeLevels(
    _ pictures: ArraySlice<Reprojector.Picture>, _ owner: Reprojector, _ need: DirectionGrid.Need
  ) {
    while mips.count < pictures.count {
      mips.append(
        format.planes.map { plane in
          let size = plane.size(of: owner.source)
          return (1...Self.maximumLevels).map { level in
            let half = MipPlane.size(size.width, size.height, level: level)
            return MipPlane(width: half.width, height: half.height, unit: plane.unit)
          }
        })
    }
    for level in 1...need.level {
      for index in format.planes.indices {
        let plane = format.planes[index]
        // Rows of this level, with a margin for the taps and for the next level.
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

  /// Returns a plane of the source, or a level of it.
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
