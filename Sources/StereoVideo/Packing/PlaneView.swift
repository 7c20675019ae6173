/// One plane of a picture in memory that somebody else owns.
public struct PlaneView {
  public let base: UnsafeMutableRawPointer
  /// Bytes from a row to the next.
  public let stride: Int
  /// Of a row, in bytes.
  public let rowBytes: Int
  public let rows: Int

  public init(base: UnsafeMutableRawPointer, stride: Int, rowBytes: Int, rows: Int) {
    self.base = base
    self.stride = stride
    self.rowBytes = rowBytes
    self.rows = rows
  }

  func row(_ index: Int) -> UnsafeMutableRawPointer { base + index * stride }

  /// A rectangle of the plane; the caller keeps it inside.
  public func part(x bytes: Int, y row: Int, rowBytes: Int, rows: Int, step: Int = 1) -> PlaneView {
    PlaneView(
      base: base + row * stride + bytes, stride: stride * step, rowBytes: rowBytes, rows: rows)
  }

  /// Copies another plane of this size.
  public func copy(_ other: PlaneView) {
    let bytes = min(rowBytes, other.rowBytes)
    for index in 0..<min(rows, other.rows) {
      row(index).copyMemory(from: other.row(index), byteCount: bytes)
    }
  }
}

/// How the samples of a plane lie in a row.
public enum SampleFormat: Sendable {
  /// One byte a sample.
  case bytes
  /// Two bytes a sample, in the machine's order.
  case words
  /// Four bytes a pixel, one for each channel.
  case quadruples

  public var bytesPerPixel: Int {
    switch self {
    case .bytes: 1
    case .words: 2
    case .quadruples: 4
    }
  }
}

extension PlaneView {
  /// Fills this plane with another of twice its width: each pixel is the mean of two.
  public func halveWidth(of other: PlaneView, _ format: SampleFormat) {
    for index in 0..<min(rows, other.rows) {
      let (source, target) = (other.row(index), row(index))
      let count = min(rowBytes, other.rowBytes / 2) / format.bytesPerPixel
      switch format {
      case .bytes: Self.halve(source, target, count, as: UInt8.self)
      case .words: Self.halve(source, target, count, as: UInt16.self)
      case .quadruples: Self.halvePixels(source, target, count)
      }
      // Half of an odd width: the last pixel has no partner.
      let (done, pixel) = (count * format.bytesPerPixel, format.bytesPerPixel)
      if rowBytes >= done + pixel, other.rowBytes >= pixel {
        (target + done).copyMemory(from: source + (other.rowBytes - pixel), byteCount: pixel)
      }
    }
  }

  /// Fills this plane with another of twice its height: each row is the mean of two.
  public func halveHeight(of other: PlaneView, _ format: SampleFormat) {
    let bytes = min(rowBytes, other.rowBytes)
    for index in 0..<min(rows, other.rows / 2) {
      let (upper, lower) = (other.row(2 * index), other.row(2 * index + 1))
      switch format {
      case .bytes, .quadruples: Self.mean(upper, lower, row(index), bytes, as: UInt8.self)
      case .words: Self.mean(upper, lower, row(index), bytes / 2, as: UInt16.self)
      }
    }
    if rows > other.rows / 2, other.rows > 0 {
      row(other.rows / 2).copyMemory(from: other.row(other.rows - 1), byteCount: bytes)
    }
  }

  @inline(__always)
  private static func halve<Sample: FixedWidthInteger & UnsignedInteger>(
    _ source: UnsafeMutableRawPointer, _ target: UnsafeMutableRawPointer, _ count: Int,
    as: Sample.Type
  ) {
    let source = source.assumingMemoryBound(to: Sample.self)
    let target = target.assumingMemoryBound(to: Sample.self)
    for index in 0..<count {
      let sum = UInt32(source[2 &* index]) &+ UInt32(source[2 &* index &+ 1]) &+ 1
      target[index] = Sample(truncatingIfNeeded: sum &>> 1)
    }
  }

  @inline(__always)
  private static func mean<Sample: FixedWidthInteger & UnsignedInteger>(
    _ one: UnsafeMutableRawPointer, _ other: UnsafeMutableRawPointer,
    _ target: UnsafeMutableRawPointer, _ count: Int, as: Sample.Type
  ) {
    let one = one.assumingMemoryBound(to: Sample.self)
    let other = other.assumingMemoryBound(to: Sample.self)
    let target = target.assumingMemoryBound(to: Sample.self)
    for index in 0..<count {
      let sum = UInt32(one[index]) &+ UInt32(other[index]) &+ 1
      target[index] = Sample(truncatingIfNeeded: sum &>> 1)
    }
  }

  private static func halvePixels(
    _ source: UnsafeMutableRawPointer, _ target: UnsafeMutableRawPointer, _ count: Int
  ) {
    for index in 0..<count {
      let one = source.loadUnaligned(fromByteOffset: 8 &* index, as: SIMD4<UInt8>.self)
      let other = source.loadUnaligned(fromByteOffset: 8 &* index &+ 4, as: SIMD4<UInt8>.self)
      let sum = SIMD4<UInt16>(truncatingIfNeeded: one) &+ SIMD4<UInt16>(truncatingIfNeeded: other)
      let mean = SIMD4<UInt8>(truncatingIfNeeded: (sum &+ 1) &>> 1)
      target.storeBytes(of: mean, toByteOffset: 4 &* index, as: SIMD4<UInt8>.self)
    }
  }
}
