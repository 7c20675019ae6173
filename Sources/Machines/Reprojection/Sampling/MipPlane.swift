// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// A plane of the source at a half, a quarter and so on of its size, which keeps fine detail from
/// flickering when a view shrinks the picture.
final class MipPlane {
  let memory: UnsafeMutableRawPointer
  let width, height: Int
  /// Bytes from one row to the next.
  let stride: Int

  init(width: Int, height: Int, unit: Int) {
    (self.width, self.height) = (width, height)
    stride = Self.stride(width, unit: unit)
    memory = .allocate(byteCount: stride * height, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: stride * height)
  }

  deinit { memory.deallocate() }

  static func stride(_ width: Int, unit: Int) -> Int { (width * unit + 63) & ~63 }

  /// Returns the size of a plane after `level` halvings.
  static func size(_ width: Int, _ height: Int, level: Int) -> (width: Int, height: Int) {
    let round = (1 << level) - 1
    return ((width + round) >> level, (height + round) >> level)
  }

  /// Fills a row with the means of two by two samples of a plane of twice the size.
  func fill(
    _ row: Int, from source: UnsafeRawPointer, stride: Int, width: Int, height: Int,
    _ plane: PictureFormat.Plane
  ) {
    let upper = source + 2 * row * stride
    let lower = source + min(2 * row + 1, height - 1) * stride
    let target = memory + row * self.stride
    var start = 0
    if plane.bytes == 1, plane.components == 1 {
      start = Self.halve(upper, lower, target, width / 2)
    } else if plane.bytes == 1 {
      Self.halve(upper, lower, target, width / 2, plane.components, as: UInt8.self)
      start = width / 2
    } else {
      Self.halve(upper, lower, target, width / 2, plane.components, as: UInt16.self)
      start = width / 2
    }
    // The rest of the row; the last sample of an odd width has no partner.
    for index in start..<self.width {
      let (one, other) = (2 * index, min(2 * index + 1, width - 1))
      for component in 0..<plane.components {
        func value(_ row: UnsafeRawPointer, _ index: Int) -> UInt32 {
          let place = (index * plane.components + component) * plane.bytes
          return plane.bytes == 1
            ? UInt32(row.load(fromByteOffset: place, as: UInt8.self))
            : UInt32(row.loadUnaligned(fromByteOffset: place, as: UInt16.self))
        }
        let sum = value(upper, one) + value(upper, other) + value(lower, one) + value(lower, other)
        let place = (index * plane.components + component) * plane.bytes
        let mean = (sum + 2) / 4
        if plane.bytes == 1 {
          target.storeBytes(
            of: UInt8(truncatingIfNeeded: mean), toByteOffset: place, as: UInt8.self)
        } else {
          // Whole steps of the value if there are unused bits below it.
          let whole = (mean >> UInt32(plane.shift)) << UInt32(plane.shift)
          target.storeBytes(
            of: UInt16(truncatingIfNeeded: whole), toByteOffset: place, as: UInt16.self)
        }
      }
    }
  }

  /// Halves eight bytes at a time and returns the number of samples written.
  private static func halve(
    _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer, _ target: UnsafeMutableRawPointer,
    _ count: Int
  ) -> Int {
    var index = 0
    while index &+ 8 <= count {
      let one = upper.loadUnaligned(fromByteOffset: 2 &* index, as: SIMD8<UInt16>.self)
      let other = lower.loadUnaligned(fromByteOffset: 2 &* index, as: SIMD8<UInt16>.self)
      let above: SIMD8<UInt16> = (one & 0xFF) &+ (one &>> 8)
      let below: SIMD8<UInt16> = (other & 0xFF) &+ (other &>> 8)
      target.storeBytes(
        of: ((above &+ below &+ 2) &>> 2).lanes(as: UInt8.self), toByteOffset: index,
        as: SIMD8<UInt8>.self)
      index &+= 8
    }
    return index
  }

  @inline(__always)
  private static func halve<Value: FixedWidthInteger & UnsignedInteger>(
    _ upper: UnsafeRawPointer, _ lower: UnsafeRawPointer, _ target: UnsafeMutableRawPointer,
    _ count: Int, _ components: Int, as: Value.Type
  ) {
    let size = MemoryLayout<Value>.stride
    for index in 0..<count {
      for component in 0..<components {
        let place = (2 &* index &* components &+ component) &* size
        let next = place &+ components &* size
        func value(_ row: UnsafeRawPointer, _ place: Int) -> UInt32 {
          UInt32(truncatingIfNeeded: row.loadUnaligned(fromByteOffset: place, as: Value.self))
        }
        let sum =
          value(upper, place) &+ value(upper, next) &+ value(lower, place) &+ value(lower, next)
        target.storeBytes(
          of: Value(truncatingIfNeeded: (sum &+ 2) &>> 2),
          toByteOffset: (index &* components &+ component) &* size, as: Value.self)
      }
    }
  }
}

/// A chart of a source plane that continues beyond its edges: across the seam and the poles with
/// the rest of the sphere, elsewhere by repeating the outermost samples.
struct SourcePlane {
  let base: UnsafeRawPointer
  /// Bytes from one row to the next.
  let stride: Int
  /// Width of the plane in samples.
  let width: Int
  let chart: Chart

  struct Row {
    let start: UnsafeRawPointer
    /// Number of columns its samples are shifted by: half a turn beyond a pole.
    let turn: Int
  }

  /// Returns the row to read for a row that may lie outside the chart.
  @inline(__always)
  func row(_ y: Int) -> Row {
    var (y, turn) = (y, 0)
    if chart.crossesPoles, y < chart.top || y > chart.bottom {
      y = y < chart.top ? 2 * chart.top - 1 - y : 2 * chart.bottom + 1 - y
      turn = width / 2
    }
    return Row(start: base + min(max(y, chart.top), chart.bottom) * stride, turn: turn)
  }

  /// Returns the column to read for a column that may lie outside the chart, and the number of
  /// columns from there on that can be read for the following ones.
  @inline(__always)
  func run(_ column: Int) -> (first: Int, count: Int) {
    var column = column
    if chart.wraps {
      // At most half a turn and a few taps outside, except in pictures with few columns.
      while column < 0 { column += width }
      while column >= width { column -= width }
    }
    if column < chart.left { return (chart.left, 1) }
    return column > chart.right ? (chart.right, 1) : (column, chart.right + 1 - column)
  }
}
