// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Draws pictures of one projection from pictures of another.
///
/// As long as the view stays the same, the places that samples come from are kept; while it moves,
/// they are found anew in each frame, band by band. Both cost no memory that grows: after the second
/// frame of a view nothing is allocated.
public final class Reprojector {
  public struct Settings: Hashable, Sendable {
    public var interpolation = Interpolation.linear
    /// Whether the source is made smaller first where the target has fewer pixels for a direction.
    public var antialias = true
    public var chromaSite = ChromaSite.left
    /// How many threads draw, the caller's among them; from 1 to 64.
    public var threads = 1

    public init() {}
  }

  /// The planes of one eye's picture, and where they are drawn.
  public struct Picture {
    public var source, target: [PlaneView]

    public init(source: [PlaneView], target: [PlaneView]) {
      (self.source, self.target) = (source, target)
    }
  }

  public let source: PictureGeometry
  public private(set) var format: PictureFormat
  public let settings: Settings
  private let pose: Rotation
  let pool: WorkerPool
  /// Of each plane, for the source as it is, and for pieces of it.
  let kernels, pieceKernels: [Kernel]

  private var view: View?
  private var grid: DirectionGrid?
  private var need = DirectionGrid.Need()
  private var needs: [DirectionGrid.Need] = []
  private var plans: [DrawingPlan] = []

  private struct View: Equatable {
    var projection: Projection
    var width, height: Int
    var pixelAspectRatio: Double
    var rotation: Rotation
  }

  /// - Parameters:
  ///   - source: one eye's picture.
  ///   - pose: how the source is turned (`prhd` of Spherical Video V2).
  ///   - format: of the source and of the target.
  public init(
    source: PictureGeometry, pose: SphereOrientation = .front, format: PictureFormat,
    settings: Settings = Settings()
  ) throws(ReprojectionError) {
    guard format.isUsable else { throw ReprojectionError("planes that no picture has") }
    self.source = source
    self.format = format
    self.settings = settings
    self.pose = Rotation(intoPose: pose)
    pool = WorkerPool(min(64, max(1, settings.threads)))
    let interpolation = settings.interpolation
    kernels = format.planes.map { Kernel($0, interpolation) }
    pieceKernels = format.planes.map { plane in
      PieceMemory.arePaired(plane, interpolation)
        ? Kernel(sample: sampleLinear8RowPairs) : Kernel(plane, interpolation)
    }
  }

  /// What is drawn, beginning with the next picture, where the source shows nothing.
  ///
  /// - Parameter values: of each plane, one for each component.
  public func fill(with values: [[UInt16]]) {
    for (index, values) in zip(format.planes.indices, values) { format.planes[index].fill = values }
  }

  /// Draws one picture, or both eyes', as seen with an orientation.
  ///
  /// - Parameters:
  ///   - target: of each picture that is drawn.
  ///   - pictures: each of the sizes of ``source`` and of `target`.
  public func draw(
    _ target: PictureGeometry, _ orientation: SphereOrientation, _ pictures: [Picture]
  ) throws(ReprojectionError) {
    try draw(target, Rotation(view: orientation), pictures)
  }

  /// The same, with a rotation from the target's directions to those of the surroundings.
  public func draw(
    _ target: PictureGeometry, _ rotation: Rotation, _ pictures: [Picture]
  ) throws(ReprojectionError) {
    for picture in pictures {
      try check(picture.source, source)
      try check(picture.target, target)
    }
    let next = View(
      projection: target.projection, width: target.width, height: target.height,
      pixelAspectRatio: target.pixelAspectRatio, rotation: pose * rotation)
    let isSame = next == view
    if !isSame {
      for plan in plans { plan.forget() }
      look(next, target)
    }
    guard let grid else { return }
    var done = 0
    while done < pictures.count {
      // Both eyes of a packed frame have the same strides; others are drawn one by one.
      var end = done + 1
      while end < pictures.count, Self.haveSameStrides(pictures[done], pictures[end]) { end += 1 }
      plan(pictures[done], target, grid).draw(
        pictures[done..<end], by: self, target: target, rotation: LaneRotation(next.rotation),
        need: need, isSameView: isSame)
      done = end
    }
  }

  private static func haveSameStrides(_ one: Picture, _ other: Picture) -> Bool {
    one.source.indices.allSatisfy { one.source[$0].stride == other.source[$0].stride }
  }

  /// Finds where a new view's grid points lie.
  private func look(_ next: View, _ target: PictureGeometry) {
    var aims = false
    let grid: DirectionGrid
    if let old = self.grid, let view, view.width == next.width, view.height == next.height {
      grid = old
      aims =
        view.projection != next.projection || view.pixelAspectRatio != next.pixelAspectRatio
    } else {
      grid = DirectionGrid(width: target.width, height: target.height)
      self.grid = grid
      plans = []
      needs = Array(repeating: DirectionGrid.Need(), count: grid.rows)
      aims = true
    }
    view = next
    let source = source
    let rotation = LaneRotation(next.rotation)
    pool.run(grid.rows) { _, row in
      if aims { grid.aim(row, target) }
      grid.evaluate(row, rotation, source)
    }
    need = DirectionGrid.Need()
    guard usesLevels else { return }
    let most = DrawingPlan.mostLevels
    needs.withUnsafeMutableBufferPointer { needs in
      nonisolated(unsafe) let needs = needs
      pool.run(grid.rows) { _, row in
        needs[row] = grid.findLevels(row, source, most: most)
      }
    }
    for row in needs { need.formUnion(row) }
  }

  var usesLevels: Bool { settings.antialias && settings.interpolation != .nearest }

  private func plan(
    _ picture: Picture, _ target: PictureGeometry, _ grid: DirectionGrid
  ) -> DrawingPlan {
    for plan in plans where plan.fits(picture) { return plan }
    let plan = DrawingPlan(
      source: source, target: target, grid: grid, format: format, settings: settings,
      strides: picture.source.map(\.stride), workers: pool.count)
    // Strides change when a peer changes its memory, which it seldom does.
    if plans.count >= 4 { plans.removeFirst() }
    plans.append(plan)
    return plan
  }

  private func check(
    _ planes: [PlaneView], _ geometry: PictureGeometry
  ) throws(ReprojectionError) {
    guard planes.count == format.planes.count else {
      throw ReprojectionError("\(planes.count) planes instead of \(format.planes.count)")
    }
    for index in planes.indices {
      let (plane, layout) = (planes[index], format.planes[index])
      let size = layout.size(of: geometry)
      guard plane.rowBytes >= size.width * layout.unit, plane.rows >= size.height else {
        throw ReprojectionError(
          "a plane of \(plane.rowBytes) bytes by \(plane.rows) rows, which takes "
            + "\(size.width * layout.unit) by \(size.height)")
      }
    }
  }
}

extension PictureFormat.Plane {
  /// Of this plane of a picture, in samples.
  func size(of picture: PictureGeometry) -> (width: Int, height: Int) {
    (
      (picture.width + horizontalSubsampling - 1) / horizontalSubsampling,
      (picture.height + verticalSubsampling - 1) / verticalSubsampling
    )
  }
}

/// Why nothing was drawn.
public struct ReprojectionError: Error, Hashable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
