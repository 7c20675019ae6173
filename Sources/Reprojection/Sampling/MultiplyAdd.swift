// SPDX-License-Identifier: MPL-2.0

/// The sums of neighbouring products: one instruction on most processors.
@inline(__always)
func multiplyAdd(_ one: SIMD8<Int16>, _ other: SIMD8<Int16>) -> SIMD4<Int32> {
  SIMD4<Int32>(truncatingIfNeeded: one.evenHalf) &* SIMD4<Int32>(truncatingIfNeeded: other.evenHalf)
    &+ SIMD4<Int32>(truncatingIfNeeded: one.oddHalf)
    &* SIMD4<Int32>(truncatingIfNeeded: other.oddHalf)
}

/// The upper halves of products.
@inline(__always)
func multiplyHigh(_ one: SIMD8<UInt16>, _ other: SIMD8<UInt16>) -> SIMD8<UInt16> {
  SIMD8<UInt16>(
    truncatingIfNeeded: (SIMD8<UInt32>(truncatingIfNeeded: one)
      &* SIMD8<UInt32>(truncatingIfNeeded: other)) &>> 16)
}
