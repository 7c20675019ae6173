// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// What is kept from frame to frame for pictures whose planes have the same strides.
final class DrawingPlan {
  /// The source is at most made so often half as large.
  static let mostLevels = 4

  /// Of the source's planes.
  private let strides: [Int]
  let format: PictureFormat
  let lattices: [Lattice]
  /// Of each lattice.
  private var finders: [BlockCoordinates]
  /// Of each thread, for a view that moves.
  private let scratch: [CoordinateBlock]
  /// Of each job, for a view that stays.
  private var kept: [CoordinateBlock] = []
  /// Whether the present view has been drawn, and whether its coordinates are kept.
  private var hasDrawnView = false, areKeptFilled = false
  /// The blocks of all lattices.
  private let jobs: [Job]
  /// Of each picture, the halves of each plane.
  var mips: [[[MipPlane]]] = []
  /// Of each thread.
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
