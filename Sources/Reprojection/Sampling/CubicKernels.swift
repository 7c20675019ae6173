// SPDX-License-Identifier: LGPL-2.1-or-later

/// Sixteen samples of one byte each: the sums of the columns first, four at a time.
func sampleCubic8(_ run: SampleRun) {
  let weights = TapWeights.cubic
  let (values, rowPairs) = (weights.values, weights.rowPairs)
  let (source, stride) = (run.source, run.stride)
  withExtendedLifetime(weights) {
    var index = 0
    while index < run.count {
      @inline(__always) func columns(_ index: Int) -> SIMD4<Int16> {
        let row = source + Int(run.offsets[index])
        let pairs = rowPairs + Int(run.fractions[index] &>> 8) &* 4
        @inline(__always) func four(_ line: Int) -> SIMD4<UInt8> {
          row.loadUnaligned(fromByteOffset: line &* stride, as: SIMD4<UInt8>.self)
        }
        @inline(__always) func interleaved(_ line: Int) -> SIMD8<Int16> {
          let (one, other) = (four(line), four(line &+ 1))
          return SIMD8<Int16>(
            truncatingIfNeeded: SIMD8(
              one[0], other[0], one[1], other[1], one[2], other[2], one[3], other[3]))
        }
        let sum =
          multiplyAdd(interleaved(0), pairs[0]) &+ multiplyAdd(interleaved(2), pairs[1])
        // 8 bits of value, 12 of weight and a sign: 6 of fraction are left.
        return SIMD4<Int16>(truncatingIfNeeded: (sum &+ 32) &>> 6)
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
      let result = ((sums &+ (1 << 17)) &>> 18)
        .clamped(lowerBound: .zero, upperBound: SIMD8<Int32>(repeating: 255))
      run.target.storeBytes(
        of: SIMD8<UInt8>(truncatingIfNeeded: result), toByteOffset: index, as: SIMD8<UInt8>.self)
      index &+= 8
    }
  }
}

/// Sixteen samples of two bytes each, of which 10 bits are used.
/// - Parameter shift: how far above bit 0 the values stand.
@inline(__always)
private func sampleCubic16(_ run: SampleRun, shift: UInt16) {
  let weights = TapWeights.cubic
  let (values, rowPairs) = (weights.values, weights.rowPairs)
  let (source, stride) = (run.source, run.stride)
  withExtendedLifetime(weights) {
    var index = 0
    while index < run.count {
      @inline(__always) func columns(_ index: Int) -> SIMD4<Int16> {
        let row = source + Int(run.offsets[index]) &* 2
        let pairs = rowPairs + Int(run.fractions[index] &>> 8) &* 4
        @inline(__always) func four(_ line: Int) -> SIMD4<Int16> {
          let four = row.loadUnaligned(fromByteOffset: line &* stride, as: SIMD4<UInt16>.self)
          return SIMD4<Int16>(truncatingIfNeeded: shift == 0 ? four : four &>> shift)
        }
        @inline(__always) func interleaved(_ line: Int) -> SIMD8<Int16> {
          let (one, other) = (four(line), four(line &+ 1))
          return SIMD8(one[0], other[0], one[1], other[1], one[2], other[2], one[3], other[3])
        }
        let sum =
          multiplyAdd(interleaved(0), pairs[0]) &+ multiplyAdd(interleaved(2), pairs[1])
        // 10 bits of value, 12 of weight and a sign: 4 of fraction are left.
        return SIMD4<Int16>(truncatingIfNeeded: (sum &+ 128) &>> 8)
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
      let result = ((sums &+ (1 << 15)) &>> 16)
        .clamped(lowerBound: .zero, upperBound: SIMD8<Int32>(repeating: 1023))
      run.target.storeBytes(
        of: SIMD8<UInt16>(truncatingIfNeeded: result) &<< shift, toByteOffset: index &* 2,
        as: SIMD8<UInt16>.self)
      index &+= 8
    }
  }
}

/// 10 bits in the lower ones of 16.
func sampleCubic10(_ run: SampleRun) { sampleCubic16(run, shift: 0) }

/// 10 bits in the upper ones of 16.
func sampleCubic10High(_ run: SampleRun) { sampleCubic16(run, shift: 6) }
