// SPDX-License-Identifier: MPL-2.0

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
    let (right, down) = (fractions & 0xFF, fractions &>> 8)
    let left = 256 &- right
    let (above, below) = (pairs(upper), pairs(lower))
    let first = (above & 0xFF) &* left &+ (above &>> 8) &* right
    let second = (below & 0xFF) &* left &+ (below &>> 8) &* right
    // Weights of 16 bits: 65535 and not 65536, so that all of the first row fits.
    let weight = down &<< 8
    let sum =
      multiplyHigh(first, SIMD8<UInt16>(repeating: 65535) &- weight)
      &+ multiplyHigh(second, weight) &+ 129
    run.target.storeBytes(
      of: SIMD8<UInt8>(truncatingIfNeeded: sum &>> 8), toByteOffset: index, as: SIMD8<UInt8>.self)
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
      return SIMD4<UInt32>(truncatingIfNeeded: (sum &+ 8192) &>> 14)
    }
    let pairs = component(0) | (component(8) &<< 8)
    run.target.storeBytes(
      of: SIMD4<UInt16>(truncatingIfNeeded: pairs), toByteOffset: index &* 2,
      as: SIMD4<UInt16>.self)
    index &+= 4
  }
}

/// The mean of four samples of two bytes each. Two neighbours are one load.
/// - Parameters:
///   - shift: from the values to 16 bits.
///   - isHigh: whether they are 16 bits already, with as many empty ones below.
@inline(__always)
private func sampleLinear16(_ run: SampleRun, shift: UInt16, isHigh: Bool) {
  let (upper, lower) = (run.source, run.source + run.stride)
  let second = SIMD8<UInt16>(0xFFFF, 0, 0xFFFF, 0, 0xFFFF, 0, 0xFFFF, 0)
  // Half of a step, and what the products lose.
  let half: UInt32 = shift == 0 ? 0 : 1 &<< (UInt32(shift) &- 1) &+ 3
  var index = 0
  while index < run.count {
    @inline(__always) func four(_ index: Int) -> SIMD4<UInt32> {
      let offsets = run.offsets + index
      @inline(__always) func pair(_ row: UnsafeRawPointer, _ lane: Int) -> UInt32 {
        row.loadUnaligned(fromByteOffset: Int(offsets[lane]) &* 2, as: UInt32.self)
      }
      @inline(__always) func pairs(_ row: UnsafeRawPointer) -> SIMD8<UInt16> {
        let pairs = unsafeBitCast(
          SIMD4(pair(row, 0), pair(row, 1), pair(row, 2), pair(row, 3)), to: SIMD8<UInt16>.self)
        return isHigh ? pairs : pairs &<< shift
      }
      let fractions = run.fourFractions(index)
      let twice = unsafeBitCast(fractions | (fractions &<< 16), to: SIMD8<UInt16>.self)
      let down = twice & 0xFF00
      let across = (twice &<< 8) ^ second
      let columns =
        multiplyHigh(pairs(upper), SIMD8<UInt16>(repeating: 65535) &- down)
        &+ multiplyHigh(pairs(lower), down)
      let parts = unsafeBitCast(multiplyHigh(columns, across), to: SIMD4<UInt32>.self)
      return ((parts & 0xFFFF) &+ (parts &>> 16) &+ half) &>> UInt32(shift)
    }
    let values = SIMD8<UInt32>(
      lowHalf: four(index), highHalf: four(index &+ 4))
    let samples = SIMD8<UInt16>(truncatingIfNeeded: values)
    run.target.storeBytes(
      of: isHigh ? samples &<< shift : samples, toByteOffset: index &* 2, as: SIMD8<UInt16>.self)
    index &+= 8
  }
}

/// 10 bits in the lower ones of 16.
func sampleLinear10(_ run: SampleRun) { sampleLinear16(run, shift: 6, isHigh: false) }

/// 10 bits in the upper ones of 16.
func sampleLinear10High(_ run: SampleRun) { sampleLinear16(run, shift: 6, isHigh: true) }

/// 12 bits in the lower ones of 16.
func sampleLinear12(_ run: SampleRun) { sampleLinear16(run, shift: 4, isHigh: false) }
