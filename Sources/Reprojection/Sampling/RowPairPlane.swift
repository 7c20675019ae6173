// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A plane of bytes in which each sample has the one below it beside it, so that one load takes the four
/// neighbours of a position.
final class RowPairPlane {
  /// From a row to the next, it has twice the plane's bytes, so that offsets in samples mean the same.
  let memory: UnsafeMutableRawPointer

  /// Nil where there is no memory for it. What is never filled takes none.
  init?(stride: Int, height: Int) {
    guard let memory = calloc(height, 2 * stride) else { return nil }
    self.memory = memory
  }

  deinit { free(memory) }

  static func fits(_ plane: PictureFormat.Plane) -> Bool {
    plane.bytes == 1 && plane.components == 1
  }

  /// Fills a part of a row, which is not the last one.
  func fill(_ row: Int, _ columns: Range<Int>, from plane: UnsafeRawPointer, stride: Int) {
    let upper = plane + row * stride
    let lower = upper + stride
    let target = memory + 2 * row * stride
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
