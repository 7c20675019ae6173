// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// What is kept from frame to frame for pictures whose planes have the same strides.
final class DrawingPlan {
  /// The source is at most made so often half as large.
  static let mostLevels = 4

  /// Of the source's planes.
  private let strides: [Int]
  private let grid: DirectionGrid
  let format: PictureFormat
  let lattices: [Lattice]
  /// Of each lattice.
  private var finders: [BandCoordinates]
  /// Of each thread, for a view that moves.
  private let scratch: [CoordinateBand]
  /// Of each lattice, for a view that stays.
  private var kept: [[CoordinateBand]] = []
  /// Whether the present view has been drawn, and whether its coordinates are kept.
  private var hasDrawnView = false, areKeptFilled = false
  /// Whether those that are kept are of pairs of rows.
  private var areKeptPaired = false
  /// The bands of all lattices.
  private let jobs: [Job]
  /// Of each picture, the halves of each plane.
  private var mips: [[[MipPlane]]] = []
  /// Of each picture, the planes whose rows are in pairs.
  var rowPairs: [[Int: RowPairPlane]] = []

  private struct Job {
    var lattice, band: Int
  }

  init(
    source: PictureGeometry, target: PictureGeometry, grid: DirectionGrid, format: PictureFormat,
    settings: Reprojector.Settings, strides: [Int], workers: Int
  ) {
    self.strides = strides
    self.grid = grid
    self.format = format
    let usesLevels = settings.antialias && settings.interpolation != .nearest
    lattices = Self.alike(format, strides).map { planes in
      let plane = format.planes[planes[0]]
      let size = plane.size(of: source)
      let halves = (0..<(usesLevels ? Self.mostLevels : 0)).map { level in
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
      BandCoordinates(
        grid: grid, source: source, target: target, lattice: lattice,
        interpolation: settings.interpolation, antialias: usesLevels)
    }
    let groups = lattices.map(\.groups).max() ?? 0
    scratch = (0..<workers).map { _ in CoordinateBand(groups: groups) }
    let lattices = lattices
    jobs = lattices.indices.flatMap { lattice in
      (0..<lattices[lattice].bands).map { Job(lattice: lattice, band: $0) }
    }
  }

  /// Indices of the planes that share their coordinates.
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

  /// Another view will be drawn.
  func forget() {
    hasDrawnView = false
    areKeptFilled = false
  }

  /// Draws pictures that fit.
  func draw(
    _ pictures: ArraySlice<Reprojector.Picture>, by owner: Reprojector, target: PictureGeometry,
    rotation: LaneRotation, need: DirectionGrid.Need, region: SourceRegion?, isSameView: Bool
  ) {
    let keeps = isSameView && hasDrawnView
    if keeps, kept.isEmpty {
      kept = lattices.map { lattice in
        (0..<lattice.bands).map { _ in CoordinateBand(groups: lattice.groups) }
      }
    }
    var pairedRegion = region.flatMap { Self.usesRowPairs($0, need, target) ? $0 : nil }
    if let region = pairedRegion, !makeRowPairs(pictures, owner, region) { pairedRegion = nil }
    let isPaired = pairedRegion != nil
    for index in finders.indices {
      finders[index].usePairs(of: pairedRegion)
      finders[index].target = target
      finders[index].rotation = rotation
      finders[index].tolerance = DirectionGrid.tolerance(
        owner.settings.interpolation, viewStays: keeps)
      finders[index].antialias = need.level > 0
    }
    if need.level > 0 { makeLevels(pictures, owner, need) }
    let finds = !keeps || !areKeptFilled || areKeptPaired != isPaired
    owner.pool.run(jobs.count) { worker, index in
      let job = self.jobs[index]
      let band = keeps ? self.kept[job.lattice][job.band] : self.scratch[worker]
      if finds { self.finders[job.lattice].fill(band, job.band) }
      for place in pictures.indices {
        self.sample(
          band, job.band, self.lattices[job.lattice], pictures[place],
          place - pictures.startIndex, isPaired: isPaired, owner)
      }
    }
    (areKeptFilled, areKeptPaired) = (keeps, isPaired)
    hasDrawnView = true
  }

  /// Makes the halves of the source that the view needs, as many rows of them as it needs.
  private func makeLevels(
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
  private func level(
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

  /// Takes the samples of a band.
  private func sample(
    _ band: CoordinateBand, _ index: Int, _ lattice: Lattice, _ picture: Reprojector.Picture,
    _ place: Int, isPaired: Bool, _ owner: Reprojector
  ) {
    let rows = min(8, lattice.height - index * 8)
    for plane in lattice.planes {
      let layout = owner.format.planes[plane]
      let kernel = owner.kernels[plane]
      let stride = picture.target[plane].stride
      let target = picture.target[plane].base + index * 8 * stride
      var group = 0
      while group < lattice.groups {
        let level = Int(band.levels[group])
        var end = group + 1
        while end < lattice.groups, band.levels[end] == UInt8(truncatingIfNeeded: level) {
          end += 1
        }
        if lattice.levels[level].hasFastWay {
          let source = self.level(level, plane, picture, place, owner)
          let pairs = isPaired ? rowPairs[place][plane] : nil
          let base = pairs.map { UnsafeRawPointer($0.memory) } ?? source.base
          let whole = min(end * 8, lattice.width) / 8 - group
          for row in 0..<rows {
            let start = row * lattice.groups * 8 + group * 8
            func run(_ first: Int, _ count: Int, _ target: UnsafeMutableRawPointer) {
              let run = SampleRun(
                source: base, stride: source.stride, offsets: band.offsets + start + first,
                fractions: band.fractions + start + first, target: target, count: count)
              // One function value for both would be made anew for each band.
              if pairs == nil { kernel(run) } else { sampleLinear8RowPairs(run) }
            }
            let line = target + row * stride + group * 8 * layout.unit
            if whole > 0 { run(0, whole * 8, line) }
            let rest = min(end * 8, lattice.width) - group * 8 - whole * 8
            guard rest > 0 else { continue }
            withUnsafeTemporaryAllocation(byteCount: 64, alignment: 16) { eight in
              guard let base = eight.baseAddress else { return }
              run(whole * 8, 8, base)
              (line + whole * 8 * layout.unit).copyMemory(from: base, byteCount: rest * layout.unit)
            }
          }
        }
        group = end
      }
      var sampler: (level: UInt8, PatchSampler)?
      for patch in band.patches {
        let (group, row) = (Int(patch.group), Int(patch.row))
        let level = band.levels[group]
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
          patch, to: target + row * stride + group * 8 * layout.unit,
          count: min(8, lattice.width - group * 8))
      }
    }
  }
}
