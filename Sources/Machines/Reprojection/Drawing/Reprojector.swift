// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Draws pictures of one projection from pictures of another.
///
/// While the view stays the same, the source positions of the samples are kept; while it moves,
/// they are recomputed in each frame, block by block. Memory use does not grow: nothing is
/// allocated after the second frame of a view.
public final class Reprojector {
  /// Quality and threading options.
  public struct Settings: Hashable, Sendable {
    /// How values between pixels are computed.
    public var interpolation = Interpolation.linear
    /// Whether the source is scaled down first if the target has fewer pixels per degree.
    public var antialias = true
    /// The chroma position in source and target.
    public var chromaSite = ChromaSite.left
    /// Number of drawing threads, including the caller's; 1 to 64.
    public var threads = 1

    /// Creates the default settings.
    public init() {}
  }

  /// The planes of one eye's picture, and the planes to draw it to.
  public struct Picture {
    /// The planes to read and to write, in the order of ``PictureFormat/planes``.
    public var source, target: [PlaneView]

    /// Creates a picture.
    public init(source: [PlaneView], target: [PlaneView]) {
      (self.source, self.target) = (source, target)
    }
  }

  /// The geometry of one eye's source picture.
  public let source: PictureGeometry
  /// The format of source and target.
  public private(set) var format: PictureFormat
  /// The settings given at creation.
  public let settings: Settings
  private let pose: Rotation
  let pool: WorkerPool
  /// For each plane, the kernel for the source itself and for pieces of it.
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

  /// Creates a reprojector and its threads.
  ///
  /// - Parameters:
  ///   - source: geometry of one eye's picture.
  ///   - pose: rotation of the source (`prhd` of Spherical Video V2).
  ///   - format: format of the source and of the target.
  ///   - settings: quality and threading options.
  /// - Throws: ``ReprojectionError`` if the format is not supported.
  public init(
    source: PictureGeometry, pose: SphereOrientation = .front, format: PictureFormat,
    settings: Settings = Settings()
  ) throws(ReprojectionError) {
    guard format.isUsable else { throw ReprojectionError("unsupported picture format") }
    self.source = source
    self.format = format
    self.settings = settings
    self.pose = Rotation(toPose: pose)
    pool = WorkerPool(min(64, max(1, settings.threads)))
    let interpolation = settings.interpolation
    kernels = format.planes.map { Kernel($0, interpolation) }
    pieceKernels = format.planes.map { plane in
      PieceMemory.arePaired(plane, interpolation)
        ? Kernel(sample: sampleLinear8RowPairs) : Kernel(plane, interpolation)
    }
  }

  /// Sets the values drawn, from the next picture on, at pixels outside the source picture.
  ///
  /// - Parameter values: for each plane, one value per component.
  public func fill(with values: [[UInt16]]) {
    for (index, values) in zip(format.planes.indices, values) { format.planes[index].fill = values }
  }

  /// Draws one picture, or those of both eyes, as seen with an orientation.
  ///
  /// - Parameters:
  ///   - target: geometry of each picture to draw.
  ///   - orientation: the orientation of the view.
  ///   - pictures: pictures with the sizes of ``source`` and `target`.
  public func draw(
    _ target: PictureGeometry, _ orientation: SphereOrientation, _ pictures: [Picture]
  ) throws(ReprojectionError) {
    try draw(target, Rotation(view: orientation), pictures)
  }

  /// Draws pictures with a rotation from the target's directions to those of the surroundings.
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
      // Both eyes of a packed frame have the same strides; other pictures are drawn one by one.
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

  /// Computes the source positions of a new view's grid points.
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
    let most = DrawingPlan.maximumLevels
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
    // Strides only change when an upstream or downstream element changes its allocation, which is
    // rare.
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
          "a plane of \(plane.rowBytes) bytes by \(plane.rows) rows is too small; it needs "
            + "\(size.width * layout.unit) by \(size.height)")
      }
    }
  }
}

extension PictureFormat.Plane {
  /// Returns the size of this plane of a picture, in samples.
  func size(of picture: PictureGeometry) -> (width: Int, height: Int) {
    (
      (picture.width + horizontalSubsampling - 1) / horizontalSubsampling,
      (picture.height + verticalSubsampling - 1) / verticalSubsampling
    )
  }
}

/// Why a picture cannot be drawn.
public struct ReprojectionError: Error, Hashable, CustomStringConvertible {
  /// The problem with the picture or format.
  public let description: String

  init(_ description: String) { self.description = description }
}
