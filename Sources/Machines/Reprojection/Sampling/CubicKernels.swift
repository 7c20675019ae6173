// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Samples with values of some bits: the sums of the columns first, four at a time.
///
/// - Parameters:
///   - bits: of a value, 8 or 10.
///   - shift: how far above bit 0 the values stand.
@inline(__always)
private func sampleCubic<Sample: FixedWidthInteger & UnsignedInteger & SIMDScalar>(
  _ run: SampleRun, as _: Sample.Type, bits: Int32, shift: Sample
) {
  let weights = TapWeights.cubic
  let (values, rowPairs) = (weights.values, weights.rowPairs)
  let (source, stride) = (run.source, run.stride)
  let size = MemoryLayout<Sample>.size
  // Of a column's sum with 12 bits of weight and a sign, 16 bits are kept.
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

/// Samples of one byte each.
func sampleCubic8(_ run: SampleRun) { sampleCubic(run, as: UInt8.self, bits: 8, shift: 0) }

/// 10 bits in the lower ones of 16.
func sampleCubic10(_ run: SampleRun) { sampleCubic(run, as: UInt16.self, bits: 10, shift: 0) }

/// 10 bits in the upper ones of 16.
func sampleCubic10High(_ run: SampleRun) { sampleCubic(run, as: UInt16.self, bits: 10, shift: 6) }
