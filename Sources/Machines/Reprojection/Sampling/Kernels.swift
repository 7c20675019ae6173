// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Averages four one-byte samples. One load reads two neighbours.
func sampleLinear8(_ run: SampleRun) {
  let (upper, lower) = (run.source, run.source + run.stride)
  var index = 0
  while index < run.count {
    let offsets = run.offsets + index
    @inline(__always) func pair(_ row: UnsafeRawPointer, _ lane: Int) -> UInt16 {
      row.loadUnaligned(fromByteOffset: Int(offsets[lane]), as: UInt16.self)
    }
    @inline(__always) func pairs(_ row: UnsafeRawPointer) -> SIMD8<UInt16> {
      SIMD8(
        pair(row, 0), pair(row, 1), pair(row, 2), pair(row, 3), pair(row, 4), pair(row, 5),
        pair(row, 6), pair(row, 7))
    }
    let fractions = run.fractions(index)
    let (right, down) = (fractions & 0xFF, fractions & 0xFF00)
    let left = 256 &- right
    let (above, below) = (pairs(upper), pairs(lower))
    let first = (above & 0xFF) &* left &+ (above &>> 8) &* right
    let second = (below & 0xFF) &* left &+ (below &>> 8) &* right
    // Weights of 16 bits: 65535 instead of 65536, so that the full weight of the first row fits.
    let sum = multiplyHigh(first, ~down) &+ multiplyHigh(second, down) &+ 129
    run.target.storeBytes(
      of: (sum &>> 8).lanes(as: UInt8.self), toByteOffset: index, as: SIMD8<UInt8>.self)
    index &+= 8
  }
}

/// Like `sampleLinear8`, for a piece with paired rows. One load reads all four neighbours.
func sampleLinear8RowPairs(_ run: SampleRun) {
  var index = 0
  while index < run.count {
    let offsets = run.offsets + index
    // Loaded as Float, which LLVM leaves unchanged until all four are in one register.
    @inline(__always) func quad(_ lane: Int) -> Float {
      run.source.loadUnaligned(fromByteOffset: Int(offsets[lane]) &* 2, as: Float.self)
    }
    let fractions = run.fractions(index)
    let (right, down) = (fractions & 0xFF, fractions &>> 8)
    let (left, up) = (256 &- right, 256 &- down)
    @inline(__always) func four(
      _ lane: Int, _ up: SIMD8<UInt16>, _ down: SIMD8<UInt16>, _ across: SIMD8<UInt16>
    ) -> SIMD4<Int32> {
      let quads = SIMD4(quad(lane), quad(lane &+ 1), quad(lane &+ 2), quad(lane &+ 3))
      let pairs = unsafeBitCast(quads, to: SIMD8<UInt16>.self)
      // Offset by half the range, so that the means are signed.
      let upper: SIMD8<UInt16> = (pairs & 0xFF) &* up
      let lower: SIMD8<UInt16> = (pairs &>> 8) &* down
      let columns = (upper &+ lower) ^ 0x8000
      let sum = multiplyAdd(
        unsafeBitCast(columns, to: SIMD8<Int16>.self), unsafeBitCast(across, to: SIMD8<Int16>.self))
      return (sum &+ (0x8000 &* 256 &+ 0x8000)) &>> 16
    }
    let first = four(0, zipLow(up, up), zipLow(down, down), zipLow(left, right))
    let second = four(4, zipHigh(up, up), zipHigh(down, down), zipHigh(left, right))
    run.target.storeBytes(
      of: SIMD8(lowHalf: first, highHalf: second).lanes(as: UInt8.self), toByteOffset: index,
      as: SIMD8<UInt8>.self)
    index &+= 8
  }
}

/// Averages four pairs of bytes. One load reads two neighbours.
func sampleLinear8Pairs(_ run: SampleRun) {
  let (upper, lower) = (run.source, run.source + run.stride)
  var index = 0
  while index < run.count {
    let offsets = run.offsets + index
    @inline(__always) func quad(_ row: UnsafeRawPointer, _ lane: Int) -> UInt32 {
      row.loadUnaligned(fromByteOffset: Int(offsets[lane]) &* 2, as: UInt32.self)
    }
    let above = SIMD4(quad(upper, 0), quad(upper, 1), quad(upper, 2), quad(upper, 3))
    let below = SIMD4(quad(lower, 0), quad(lower, 1), quad(lower, 2), quad(lower, 3))
    // Seven bits of each fraction.
    let fractions = run.fourFractions(index)
    let (right, down) = ((fractions & 0xFF) &>> 1, fractions &>> 9)
    let downPair = unsafeBitCast(down | (down &<< 16), to: SIMD8<UInt16>.self)
    let across = unsafeBitCast((right &<< 16) | (128 &- right), to: SIMD8<Int16>.self)
    @inline(__always) func component(_ shift: UInt32) -> SIMD4<UInt32> {
      let mask = SIMD4<UInt32>(repeating: 0x00FF_00FF)
      let first = unsafeBitCast((above &>> shift) & mask, to: SIMD8<UInt16>.self)
      let second = unsafeBitCast((below &>> shift) & mask, to: SIMD8<UInt16>.self)
      let columns = first &* (128 &- downPair) &+ second &* downPair
      let sum = multiplyAdd(unsafeBitCast(columns, to: SIMD8<Int16>.self), across)
      return ((sum &+ 8192) &>> 14).lanes(as: UInt32.self)
    }
    let pairs = component(0) | (component(8) &<< 8)
    run.target.storeBytes(
      of: pairs.lanes(as: UInt16.self), toByteOffset: index &* 2, as: SIMD4<UInt16>.self)
    index &+= 4
  }
}

/// Averages four two-byte samples. One load reads two neighbours.
///
/// - Parameters:
///   - depth: number of bits of a value.
///   - place: position of the value's lowest bit.
@inline(__always)
private func sampleLinear16(_ run: SampleRun, depth: UInt16, place: UInt32) {
  let (upper, lower) = (run.source, run.source + run.stride)
  let shift = 16 &- depth
  // Half a step, plus the rounding loss of the products.
  let half = 1 &<< (shift &- 1) &+ 3
  let mask = UInt32(1) &<< UInt32(depth) &- 1
  var index = 0
  while index < run.count {
    let offsets = run.offsets + index
    @inline(__always) func pair(_ row: UnsafeRawPointer, _ lane: Int) -> UInt32 {
      row.loadUnaligned(fromByteOffset: Int(offsets[lane]) &* 2, as: UInt32.self)
    }
    @inline(__always) func pairs(_ row: UnsafeRawPointer) -> SIMD8<UInt32> {
      SIMD8(
        pair(row, 0), pair(row, 1), pair(row, 2), pair(row, 3), pair(row, 4), pair(row, 5),
        pair(row, 6), pair(row, 7))
    }
    @inline(__always) func values(_ pairs: SIMD8<UInt32>, _ place: UInt32) -> SIMD8<UInt16> {
      ((pairs &>> place) & mask).lanes(as: UInt16.self) &<< shift
    }
    let fractions = run.fractions(index)
    let (right, down) = (fractions &<< 8, fractions & 0xFF00)
    // Weights of 16 bits: 65535 instead of 65536, so that the full weight of the first row fits.
    let (left, up) = (~right, ~down)
    let (above, below) = (pairs(upper), pairs(lower))
    let first =
      multiplyHigh(values(above, place), left) &+ multiplyHigh(values(above, place &+ 16), right)
    let second =
      multiplyHigh(values(below, place), left) &+ multiplyHigh(values(below, place &+ 16), right)
    let sum = multiplyHigh(first, up) &+ multiplyHigh(second, down) &+ half
    let samples = (sum &>> shift) &<< UInt16(truncatingIfNeeded: place)
    run.target.storeBytes(of: samples, toByteOffset: index &* 2, as: SIMD8<UInt16>.self)
    index &+= 8
  }
}

/// 10 bits in the low bits of 16.
func sampleLinear10(_ run: SampleRun) { sampleLinear16(run, depth: 10, place: 0) }

/// 10 bits in the high bits of 16.
func sampleLinear10High(_ run: SampleRun) { sampleLinear16(run, depth: 10, place: 6) }

/// 12 bits in the low bits of 16.
func sampleLinear12(_ run: SampleRun) { sampleLinear16(run, depth: 12, place: 0) }

/// Bicubic sampling; sums the columns first, four at a time.
///
/// - Parameters:
///   - bits: number of bits of a value, 8 or 10.
///   - shift: position of the value's lowest bit.
@inline(__always)
private func sampleCubic<Sample: FixedWidthInteger & UnsignedInteger & SIMDScalar>(
  _ run: SampleRun, as _: Sample.Type, bits: Int32, shift: Sample
) {
  let weights = TapWeights.cubic
  let (values, rowPairs) = (weights.values, weights.rowPairs)
  let (source, stride) = (run.source, run.stride)
  let size = MemoryLayout<Sample>.size
  // A column's sum has 12 bits of weight and a sign; 16 bits are kept.
  let dropped = bits - 2
  let rounded = 24 - dropped
  withExtendedLifetime(weights) {
    var index = 0
    while index < run.count {
      @inline(__always) func columns(_ index: Int) -> SIMD4<Int16> {
        let row = source + Int(run.offsets[index]) &* size
        let pairs = rowPairs + Int(run.fractions[index] &>> 8) &* 4
        @inline(__always) func four(_ line: Int) -> SIMD4<Sample> {
          row.loadUnaligned(fromByteOffset: line &* stride, as: SIMD4<Sample>.self)
        }
        @inline(__always) func interleaved(_ line: Int) -> SIMD8<Int16> {
          let (one, other) = (four(line), four(line &+ 1))
          let both = SIMD8<Sample>(
            one[0], other[0], one[1], other[1], one[2], other[2], one[3], other[3])
          return (shift == 0 ? both : both &>> shift).lanes(as: Int16.self)
        }
        let sum =
          multiplyAdd(interleaved(0), pairs[0]) &+ multiplyAdd(interleaved(2), pairs[1])
        return ((sum &+ (1 &<< (dropped &- 1))) &>> dropped).lanes(as: Int16.self)
      }
      @inline(__always) func across(_ index: Int) -> SIMD4<Int16> {
        UnsafeRawPointer(values + Int(run.fractions[index] & 0xFF) &* 8)
          .loadUnaligned(as: SIMD4<Int16>.self)
      }
      @inline(__always) func two(_ index: Int) -> SIMD4<Int32> {
        multiplyAdd(
          SIMD8(lowHalf: columns(index), highHalf: columns(index &+ 1)),
          SIMD8(lowHalf: across(index), highHalf: across(index &+ 1)))
      }
      @inline(__always) func four(_ index: Int) -> SIMD4<Int32> {
        let halves = SIMD8<Int32>(lowHalf: two(index), highHalf: two(index &+ 2))
        return halves.evenHalf &+ halves.oddHalf
      }
      let sums = SIMD8<Int32>(lowHalf: four(index), highHalf: four(index &+ 4))
      let result = ((sums &+ (1 &<< (rounded &- 1))) &>> rounded)
        .clamped(lowerBound: .zero, upperBound: SIMD8<Int32>(repeating: (1 &<< bits) &- 1))
      let samples = result.lanes(as: Sample.self)
      run.target.storeBytes(
        of: shift == 0 ? samples : samples &<< shift, toByteOffset: index &* size,
        as: SIMD8<Sample>.self)
      index &+= 8
    }
  }
}

/// One-byte samples.
func sampleCubic8(_ run: SampleRun) { sampleCubic(run, as: UInt8.self, bits: 8, shift: 0) }

/// 10 bits in the low bits of 16.
func sampleCubic10(_ run: SampleRun) { sampleCubic(run, as: UInt16.self, bits: 10, shift: 0) }

/// 10 bits in the high bits of 16.
func sampleCubic10High(_ run: SampleRun) { sampleCubic(run, as: UInt16.self, bits: 10, shift: 6) }

/// Copies the nearest sample.
@inline(__always)
func sampleNearest<Unit: BitwiseCopyable>(_ run: SampleRun, as: Unit.Type) {
  for index in 0..<run.count {
    let unit = run.source.loadUnaligned(
      fromByteOffset: Int(run.offsets[index]) &* MemoryLayout<Unit>.stride, as: Unit.self)
    run.target.storeBytes(
      of: unit, toByteOffset: index &* MemoryLayout<Unit>.stride, as: Unit.self)
  }
}

/// Samples any number of taps, components and bits, one value at a time.
@inline(__always)
func sampleTaps<Value: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
  _ run: SampleRun, _ weights: TapWeights, components: Int, depth: Int, shift: Int,
  as: Value.Type
) {
  let size = MemoryLayout<Value>.stride
  let unit = size &* components
  let (taps, values) = (weights.taps, weights.values)
  let most = (1 &<< depth) &- 1
  withExtendedLifetime(weights) {
    for index in 0..<run.count {
      let across = values + Int(run.fractions[index] & 0xFF) &* 8
      let down = values + Int(run.fractions[index] &>> 8) &* 8
      let corner = run.source + Int(run.offsets[index]) &* unit
      for component in 0..<components {
        var sum = 0
        var row = corner + component &* size
        for line in 0..<taps {
          var part = 0
          for tap in 0..<taps {
            let value = row.loadUnaligned(fromByteOffset: tap &* unit, as: Value.self)
            part &+=
              Int(truncatingIfNeeded: value &>> Value(truncatingIfNeeded: shift))
              &* Int(across[tap])
          }
          sum &+= part &* Int(down[line])
          row += run.stride
        }
        let value = min(max((sum &+ (1 << 23)) &>> 24, 0), most) &<< shift
        run.target.storeBytes(
          of: Value(truncatingIfNeeded: value), toByteOffset: index &* unit &+ component &* size,
          as: Value.self)
      }
    }
  }
}

/// Returns the sums of neighbouring products: a single instruction on most processors.
@inline(__always)
func multiplyAdd(_ one: SIMD8<Int16>, _ other: SIMD8<Int16>) -> SIMD4<Int32> {
  one.evenHalf.lanes(as: Int32.self) &* other.evenHalf.lanes(as: Int32.self)
    &+ one.oddHalf.lanes(as: Int32.self) &* other.oddHalf.lanes(as: Int32.self)
}

/// Returns the high halves of the products.
@inline(__always)
func multiplyHigh(_ one: SIMD8<UInt16>, _ other: SIMD8<UInt16>) -> SIMD8<UInt16> {
  ((one.lanes(as: UInt32.self) &* other.lanes(as: UInt32.self)) &>> 16).lanes(as: UInt16.self)
}

/// Interleaves the low halves of two vectors.
@inline(__always)
func zipLow(_ one: SIMD8<UInt16>, _ other: SIMD8<UInt16>) -> SIMD8<UInt16> {
  SIMD8(one[0], other[0], one[1], other[1], one[2], other[2], one[3], other[3])
}

/// Interleaves the high halves of two vectors.
@inline(__always)
func zipHigh(_ one: SIMD8<UInt16>, _ other: SIMD8<UInt16>) -> SIMD8<UInt16> {
  SIMD8(one[4], other[4], one[5], other[5], one[6], other[6], one[7], other[7])
}
