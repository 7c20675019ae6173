// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Holds a copy of a piece of the source, small enough for the cache, in which all samples that a kernel reads lie
/// side by side.
///
/// Of bytes, each sample has the one below it beside it, so that one load takes the four neighbours of a position.
final class PieceMemory {
  let start: UnsafeMutableRawPointer

  /// Whether each sample of a plane stands beside the one below it.
  static func arePaired(_ plane: PictureFormat.Plane, _ interpolation: Interpolation) -> Bool {
    interpolation == .linear && plane.unit == 1
  }

  /// The bytes of a sample.
  static func unit(of plane: PictureFormat.Plane, _ interpolation: Interpolation) -> Int {
    arePaired(plane, interpolation) ? 2 : plane.unit
  }

  /// For pieces of samples of so many bytes.
  init(unit: Int) { start = .allocate(byteCount: SourcePiece.most * unit, alignment: 64) }

  deinit { start.deallocate() }

  /// Copies a piece.
  func fill(
    _ piece: SourcePiece, _ layout: PictureFormat.Plane, _ interpolation: Interpolation,
    from plane: SourcePlane
  ) {
    if Self.arePaired(layout, interpolation) {
      fillPairs(piece, from: plane)
    } else {
      fill(piece, from: plane, unit: layout.unit)
    }
  }

  private func fill(_ piece: SourcePiece, from plane: SourcePlane, unit: Int) {
    var target = start
    for y in piece.rows {
      let row = plane.row(y)
      var column = piece.columns.lowerBound
      while column < piece.columns.upperBound {
        let run = plane.run(column + row.turn)
        let count = min(run.count, piece.columns.upperBound - column)
        target.copyMemory(from: row.start + run.first * unit, byteCount: count * unit)
        target += count * unit
        column += count
      }
    }
  }

  /// Copies a piece of bytes, each row with the next one.
  private func fillPairs(_ piece: SourcePiece, from plane: SourcePlane) {
    var target = start
    var upper = plane.row(piece.rows.lowerBound)
    for y in piece.rows.dropLast() {
      let lower = plane.row(y + 1)
      var column = piece.columns.lowerBound
      while column < piece.columns.upperBound {
        let (one, other) = (plane.run(column + upper.turn), plane.run(column + lower.turn))
        let count = min(one.count, other.count, piece.columns.upperBound - column)
        Self.pair(upper.start + one.first, lower.start + other.first, target, count)
        target += 2 * count
        column += count
      }
      upper = lower
    }
  }

  @inline(__always)
  private static func pair(
    _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer, _ target: UnsafeMutableRawPointer,
    _ count: Int
  ) {
    @inline(__always) func eight(_ column: Int) {
      let one = upper.loadUnaligned(fromByteOffset: column, as: SIMD8<UInt8>.self)
      let other = lower.loadUnaligned(fromByteOffset: column, as: SIMD8<UInt8>.self)
      target.storeBytes(
        of: one.lanes(as: UInt16.self) | other.lanes(as: UInt16.self) &<< 8,
        toByteOffset: 2 &* column, as: SIMD8<UInt16>.self)
    }
    var column = 0
    while column &+ 8 <= count {
      eight(column)
      column &+= 8
    }
    if column < count, count >= 8 {
      // The last eight, some of them for the second time.
      eight(count &- 8)
      return
    }
    while column < count {
      target.storeBytes(
        of: upper.load(fromByteOffset: column, as: UInt8.self), toByteOffset: 2 &* column,
        as: UInt8.self)
      target.storeBytes(
        of: lower.load(fromByteOffset: column, as: UInt8.self), toByteOffset: 2 &* column &+ 1,
        as: UInt8.self)
      column &+= 1
    }
  }
}
