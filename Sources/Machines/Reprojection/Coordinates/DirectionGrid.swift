// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The target's directions at every eighth pixel, and where they lie in the source.
///
/// Between the points, positions are interpolated: along straight lines where a quarter of the second
/// differences of neighbouring points, eight pixels apart, is at most 1/32 pixel, along parabolas where a quarter
/// of the third ones is. Both are more than the error. Elsewhere, right around a pole, positions are computed one
/// by one.
final class DirectionGrid {
  static let spacing = 8
  /// The largest error of a position between points, in pixels.
  static let tolerance: Float = 1.0 / 32

  /// Less than that where it costs little: once for a view that stays, or beside many taps.
  static func tolerance(_ interpolation: Interpolation, viewStays: Bool) -> Float {
    if viewStays { return tolerance / 8 }
    return interpolation.before > 0 ? tolerance * 0.75 : tolerance
  }

  let columns, rows: Int
  /// Those that are corners of tiles.
  let corners: (columns: Int, rows: Int)
  /// The directions of the target, before it is turned.
  private let rayX, rayY, rayZ: UnsafeMutablePointer<Float>
  private let rayFace: UnsafeMutablePointer<Int32>
  /// Positions in the source's luma.
  let x, y: UnsafeMutablePointer<Float>
  /// What the pixels around a point have in common: a cell of the source and one of the target; -1
  /// where there is no picture.
  let region: UnsafeMutablePointer<Int32>
  /// How often the source is halved around a point, so that nothing is skipped.
  let level: UnsafeMutablePointer<UInt8>

  private let arena: UnsafeMutableRawPointer

  init(width: Int, height: Int) {
    // Tiles of chroma are two steps wide. Two more of these tell how the last ones are bent.
    corners = (2 * ((width + 15) / 16) + 1, 2 * ((height + 15) / 16) + 1)
    columns = (corners.columns + 4 + 7) & ~7
    rows = corners.rows + 4
    let count = columns * rows
    let arena = UnsafeMutableRawPointer.allocate(byteCount: count * 29 + 64, alignment: 64)
    self.arena = arena
    func numbers(_ index: Int) -> UnsafeMutablePointer<Float> {
      (arena + index * count * 4).bindMemory(to: Float.self, capacity: count)
    }
    (rayX, rayY, rayZ, x, y) = (numbers(0), numbers(1), numbers(2), numbers(3), numbers(4))
    rayFace = (arena + 5 * count * 4).bindMemory(to: Int32.self, capacity: count)
    region = (arena + 6 * count * 4).bindMemory(to: Int32.self, capacity: count)
    level = (arena + 7 * count * 4).bindMemory(to: UInt8.self, capacity: count)
    level.initialize(repeating: 0, count: count)
  }

  deinit { arena.deallocate() }

  private static let ramp = Floats(0, 8, 16, 24, 32, 40, 48, 56)

  /// Takes the directions of a target of this grid's size.
  func aim(_ row: Int, _ target: PictureGeometry) {
    for column in stride(from: 0, to: columns, by: 8) {
      let rays = target.rays(x: Self.ramp + Float(column * 8), y: Float(row * 8))
      let index = row * columns + column
      store(rays.x, rayX + index)
      store(rays.y, rayY + index)
      store(rays.z, rayZ + index)
      UnsafeMutableRawPointer(rayFace + index).storeBytes(of: rays.face, as: Integers.self)
    }
  }

  /// Finds the positions of a row of points.
  func evaluate(_ row: Int, _ rotation: LaneRotation, _ source: PictureGeometry) {
    for column in stride(from: 0, to: columns, by: 8) {
      let index = row * columns + column
      var rays = Rays(x: load(rayX + index), y: load(rayY + index), z: load(rayZ + index))
      rays.face = UnsafeRawPointer(rayFace + index).loadUnaligned(as: Integers.self)
      let positions = source.positions(of: rays.turned(by: rotation))
      store(positions.x, x + index)
      store(positions.y, y + index)
      UnsafeMutableRawPointer(region + index).storeBytes(
        of: positions.region(seenFrom: rays), as: Integers.self)
    }
  }
}

extension Positions {
  /// The cell of the source and that of the target; -1 where either shows nothing.
  @inline(__always) func region(seenFrom rays: Rays) -> Integers {
    let isSeen = isInside & ~(rays.face &>> 31)
    return ((face | (rays.face &<< 3)) & isSeen) | ~isSeen
  }
}

@inline(__always) func load(_ pointer: UnsafePointer<Float>) -> Floats {
  UnsafeRawPointer(pointer).loadUnaligned(as: Floats.self)
}

@inline(__always) func store(_ value: Floats, _ pointer: UnsafeMutablePointer<Float>) {
  UnsafeMutableRawPointer(pointer).storeBytes(of: value, as: Floats.self)
}
