// SPDX-License-Identifier: MPL-2.0

/// The layout of the samples in a row of a plane.
public enum SampleFormat: Sendable {
  /// One byte per sample.
  case bytes
  /// Two bytes per sample, in native byte order.
  case words
  /// Two bytes per sample, in native byte order, with the value in the ten high bits.
  case highWords
  /// Two samples per pixel, one byte each.
  case bytePairs
  /// Two samples per pixel, two bytes each, with the value in the ten high bits.
  case highWordPairs
  /// Four bytes per pixel, one for each channel.
  case quadruples

  /// Number of bytes per pixel.
  public var bytesPerPixel: Int {
    switch self {
    case .bytes: 1
    case .words, .highWords, .bytePairs: 2
    case .highWordPairs, .quadruples: 4
    }
  }
}

extension PlaneView {
  /// Number of unused low bits in a word with the value in the ten high bits.
  private static let padding: UInt16 = 6

  /// Fills this plane from one with twice its width; each pixel is the mean of two.
  public func halveWidth(of other: PlaneView, _ format: SampleFormat) {
    for index in 0..<min(rows, other.rows) {
      let (source, target) = (other.row(index), row(index))
      let count = min(rowBytes, other.rowBytes / 2) / format.bytesPerPixel
      switch format {
      case .bytes: Self.halve(source, target, count, samples: 1, padding: 0 as UInt8)
      case .words: Self.halve(source, target, count, samples: 1, padding: 0 as UInt16)
      case .highWords: Self.halve(source, target, count, samples: 1, padding: Self.padding)
      case .bytePairs: Self.halve(source, target, count, samples: 2, padding: 0 as UInt8)
      case .highWordPairs: Self.halve(source, target, count, samples: 2, padding: Self.padding)
      case .quadruples: Self.halvePixels(source, target, count)
      }
      // The last pixel of an odd width has no partner.
      let (done, pixel) = (count * format.bytesPerPixel, format.bytesPerPixel)
      if rowBytes >= done + pixel, other.rowBytes >= pixel {
        (target + done).copyMemory(from: source + (other.rowBytes - pixel), byteCount: pixel)
      }
    }
  }

  /// Fills this plane from one with twice its height; each row is the mean of two.
  public func halveHeight(of other: PlaneView, _ format: SampleFormat) {
    let bytes = min(rowBytes, other.rowBytes)
    for index in 0..<min(rows, other.rows / 2) {
      let (upper, lower) = (other.row(2 * index), other.row(2 * index + 1))
      switch format {
      case .bytes, .bytePairs, .quadruples:
        Self.mean(upper, lower, row(index), bytes, padding: 0 as UInt8)
      case .words: Self.mean(upper, lower, row(index), bytes / 2, padding: 0 as UInt16)
      case .highWords, .highWordPairs:
        Self.mean(upper, lower, row(index), bytes / 2, padding: Self.padding)
      }
    }
    if rows > other.rows / 2, other.rows > 0 {
      row(other.rows / 2).copyMemory(from: other.row(other.rows - 1), byteCount: bytes)
    }
  }

  /// Fills this plane with the first (`place` 0) or second sample of each pair of another plane.
  /// Values in high bits are shifted down.
  public func takeSample(_ place: Int, ofPairsIn other: PlaneView, _ format: SampleFormat) {
    for index in 0..<min(rows, other.rows) {
      let (source, target) = (other.row(index), row(index))
      let count = min(rowBytes / (format.bytesPerPixel / 2), other.rowBytes / format.bytesPerPixel)
      switch format {
      case .bytePairs: Self.take(place, 2, source, target, count, padding: 0 as UInt8)
      case .highWordPairs: Self.take(place, 2, source, target, count, padding: Self.padding)
      case .bytes, .words, .highWords, .quadruples: return
      }
    }
  }

  /// Fills this plane from one with values in the high bits, shifting them down.
  public func copyHighWords(of other: PlaneView) {
    let count = min(rowBytes, other.rowBytes) / 2
    for index in 0..<min(rows, other.rows) {
      Self.take(0, 1, other.row(index), row(index), count, padding: Self.padding)
    }
  }

  /// Returns a sample of a row. Rows begin at any address: a parser cuts frames out of its input.
  @inline(__always)
  private static func load<Sample: FixedWidthInteger & UnsignedInteger>(
    _ row: UnsafeMutableRawPointer, _ index: Int
  ) -> Sample {
    row.loadUnaligned(fromByteOffset: index &* MemoryLayout<Sample>.size, as: Sample.self)
  }

  @inline(__always)
  private static func store<Sample: FixedWidthInteger & UnsignedInteger>(
    _ value: Sample, _ row: UnsafeMutableRawPointer, _ index: Int
  ) {
    row.storeBytes(of: value, toByteOffset: index &* MemoryLayout<Sample>.size, as: Sample.self)
  }

  /// Copies one sample of each group of `samples`, without the unused low bits.
  @inline(__always)
  private static func take<Sample: FixedWidthInteger & UnsignedInteger>(
    _ place: Int, _ samples: Int, _ source: UnsafeMutableRawPointer,
    _ target: UnsafeMutableRawPointer, _ count: Int, padding: Sample
  ) {
    for index in 0..<count {
      let sample: Sample = load(source, samples &* index &+ place)
      store(sample &>> padding, target, index)
    }
  }

  @inline(__always)
  private static func mean<Sample: FixedWidthInteger & UnsignedInteger>(
    _ one: Sample, _ other: Sample, _ padding: Sample
  ) -> Sample {
    let sum = UInt32(one &>> padding) &+ UInt32(other &>> padding) &+ 1
    return Sample(truncatingIfNeeded: sum &>> 1) &<< padding
  }

  @inline(__always)
  private static func halve<Sample: FixedWidthInteger & UnsignedInteger>(
    _ source: UnsafeMutableRawPointer, _ target: UnsafeMutableRawPointer, _ count: Int,
    samples: Int, padding: Sample
  ) {
    for index in 0..<count {
      for sample in 0..<samples {
        let first = 2 &* samples &* index &+ sample
        store(
          mean(load(source, first), load(source, first &+ samples), padding), target,
          samples &* index &+ sample)
      }
    }
  }

  @inline(__always)
  private static func mean<Sample: FixedWidthInteger & UnsignedInteger>(
    _ one: UnsafeMutableRawPointer, _ other: UnsafeMutableRawPointer,
    _ target: UnsafeMutableRawPointer, _ count: Int, padding: Sample
  ) {
    for index in 0..<count {
      store(mean(load(one, index), load(other, index), padding), target, index)
    }
  }

  private static func halvePixels(
    _ source: UnsafeMutableRawPointer, _ target: UnsafeMutableRawPointer, _ count: Int
  ) {
    for index in 0..<count {
      let one = source.loadUnaligned(fromByteOffset: 8 &* index, as: SIMD4<UInt8>.self)
      let other = source.loadUnaligned(fromByteOffset: 8 &* index &+ 4, as: SIMD4<UInt8>.self)
      let sum = one.lanes(as: UInt16.self) &+ other.lanes(as: UInt16.self)
      let mean = ((sum &+ 1) &>> 1).lanes(as: UInt8.self)
      target.storeBytes(of: mean, toByteOffset: 4 &* index, as: SIMD4<UInt8>.self)
    }
  }
}

/// One plane of a picture, in memory that the view does not own.
public struct PlaneView {
  /// The first byte of the first row.
  public let base: UnsafeMutableRawPointer
  /// Number of bytes from one row to the next.
  public let stride: Int
  /// Number of bytes in a row.
  public let rowBytes: Int
  /// Number of rows.
  public let rows: Int

  /// Creates a view; the memory must outlive it.
  public init(base: UnsafeMutableRawPointer, stride: Int, rowBytes: Int, rows: Int) {
    self.base = base
    self.stride = stride
    self.rowBytes = rowBytes
    self.rows = rows
  }

  func row(_ index: Int) -> UnsafeMutableRawPointer { base + index * stride }

  /// Returns a rectangle of the plane, which the caller must keep inside the plane. `step` is the
  /// number of rows to advance per row.
  public func part(x bytes: Int, y row: Int, rowBytes: Int, rows: Int, step: Int = 1) -> PlaneView {
    PlaneView(
      base: base + row * stride + bytes, stride: stride * step, rowBytes: rowBytes, rows: rows)
  }

  /// Copies another plane of the same size into this one.
  public func copy(_ other: PlaneView) {
    let bytes = min(rowBytes, other.rowBytes)
    for index in 0..<min(rows, other.rows) {
      row(index).copyMemory(from: other.row(index), byteCount: bytes)
    }
  }
}

// The standard library's `init(truncatingIfNeeded:)` for SIMD types is a call that converts lane by
// lane, unless the compiler happens to inline it. Written out, it becomes a single instruction that
// merges with the ones around it, such as products whose high half is kept and sums of products.

extension SIMD8 where Scalar: FixedWidthInteger {
  /// Converts each lane by truncating or extending it.
  @inlinable @inline(__always)
  package func lanes<Other: FixedWidthInteger & SIMDScalar>(as _: Other.Type) -> SIMD8<Other> {
    SIMD8<Other>(
      Other(truncatingIfNeeded: self[0]), Other(truncatingIfNeeded: self[1]),
      Other(truncatingIfNeeded: self[2]), Other(truncatingIfNeeded: self[3]),
      Other(truncatingIfNeeded: self[4]), Other(truncatingIfNeeded: self[5]),
      Other(truncatingIfNeeded: self[6]), Other(truncatingIfNeeded: self[7]))
  }
}

extension SIMD4 where Scalar: FixedWidthInteger {
  /// Converts each lane by truncating or extending it.
  @inlinable @inline(__always)
  package func lanes<Other: FixedWidthInteger & SIMDScalar>(as _: Other.Type) -> SIMD4<Other> {
    SIMD4<Other>(
      Other(truncatingIfNeeded: self[0]), Other(truncatingIfNeeded: self[1]),
      Other(truncatingIfNeeded: self[2]), Other(truncatingIfNeeded: self[3]))
  }
}
