// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The mean of four samples of one byte each. Two neighbours are one load.
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
    // Weights of 16 bits: 65535 and not 65536, so that all of the first row fits.
    let sum = multiplyHigh(first, ~down) &+ multiplyHigh(second, down) &+ 129
    run.target.storeBytes(
      of: (sum &>> 8).lanes(as: UInt8.self), toByteOffset: index, as: SIMD8<UInt8>.self)
    index &+= 8
  }
}

/// The same of a piece whose rows are in pairs. All four neighbours are one load.
func sampleLinear8RowPairs(_ run: SampleRun) {
  var index = 0
  while index < run.count {
    let offsets = run.offsets + index
    // As numbers of another kind, which LLVM leaves as they are until all four are in one register.
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
      // Less half of the range, so that the means are signed numbers.
      let columns = ((pairs & 0xFF) &* up &+ (pairs &>> 8) &* down) ^ 0x8000
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

/// The mean of four pairs of bytes. Two neighbours are one load.
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

/// The mean of four samples of two bytes each. Two neighbours are one load.
///
/// - Parameters:
///   - depth: bits of a value.
///   - place: how far above bit 0 they stand.
@inline(__always)
private func sampleLinear16(_ run: SampleRun, depth: UInt16, place: UInt32) {
  let (upper, lower) = (run.source, run.source + run.stride)
  let shift = 16 &- depth
  // Half of a step, and what the products lose.
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
    // Weights of 16 bits: 65535 and not 65536, so that all of the first one fits.
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

/// 10 bits in the lower ones of 16.
func sampleLinear10(_ run: SampleRun) { sampleLinear16(run, depth: 10, place: 0) }

/// 10 bits in the upper ones of 16.
func sampleLinear10High(_ run: SampleRun) { sampleLinear16(run, depth: 10, place: 6) }

/// 12 bits in the lower ones of 16.
func sampleLinear12(_ run: SampleRun) { sampleLinear16(run, depth: 12, place: 0) }
