// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A plane of bytes in which each sample has the one below it beside it, so that one load takes the four
/// neighbours of a position. Where the picture closes, some of the first samples of each row stand behind its
/// last one again, so that positions across the seam are like all others.
final class RowPairPlane {
  /// How many: as far as a tile reaches across the seam, but for those at the poles.
  static let mostRepeated = 128

  let memory: UnsafeMutableRawPointer
  private let level: Lattice.Level

  /// Nil where there is no memory for it. What is never filled takes none.
  init?(_ level: Lattice.Level) {
    guard let memory = calloc(level.height, 2 * level.stride) else { return nil }
    self.memory = memory
    self.level = level
  }

  deinit { free(memory) }

  static func fits(_ plane: PictureFormat.Plane) -> Bool {
    plane.bytes == 1 && plane.components == 1
  }

  /// Fills a part of a row, which is not the last one.
  func fill(_ row: Int, _ columns: Range<Int>, from plane: UnsafeRawPointer, stride: Int) {
    let upper = plane + row * stride
    let target = memory + 2 * row * level.stride
    Self.fill(columns.clamped(to: 0..<level.width), of: target, upper, upper + stride)
    let repeated = columns.clamped(to: level.width..<level.stride)
    Self.fill(
      repeated.lowerBound - level.width..<repeated.upperBound - level.width,
      of: target + 2 * level.width, upper, upper + stride)
  }

  private static func fill(
    _ columns: Range<Int>, of target: UnsafeMutableRawPointer, _ upper: UnsafeRawPointer,
    _ lower: UnsafeRawPointer
  ) {
    var column = columns.lowerBound
    while column &+ 8 <= columns.upperBound {
      let one = upper.loadUnaligned(fromByteOffset: column, as: SIMD8<UInt8>.self)
      let other = lower.loadUnaligned(fromByteOffset: column, as: SIMD8<UInt8>.self)
      target.storeBytes(
        of: one.lanes(as: UInt16.self) | other.lanes(as: UInt16.self) &<< 8,
        toByteOffset: 2 &* column, as: SIMD8<UInt16>.self)
      column &+= 8
    }
    while column < columns.upperBound {
      let one = upper.load(fromByteOffset: column, as: UInt8.self)
      let other = lower.load(fromByteOffset: column, as: UInt8.self)
      target.storeBytes(
        of: UInt16(one) | UInt16(other) &<< 8, toByteOffset: 2 &* column, as: UInt16.self)
      column &+= 1
    }
  }
}
