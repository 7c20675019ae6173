// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The sums of neighbouring products: one instruction on most processors.
@inline(__always)
func multiplyAdd(_ one: SIMD8<Int16>, _ other: SIMD8<Int16>) -> SIMD4<Int32> {
  one.evenHalf.lanes(as: Int32.self) &* other.evenHalf.lanes(as: Int32.self)
    &+ one.oddHalf.lanes(as: Int32.self) &* other.oddHalf.lanes(as: Int32.self)
}

/// The upper halves of products.
@inline(__always)
func multiplyHigh(_ one: SIMD8<UInt16>, _ other: SIMD8<UInt16>) -> SIMD8<UInt16> {
  ((one.lanes(as: UInt32.self) &* other.lanes(as: UInt32.self)) &>> 16).lanes(as: UInt16.self)
}

/// The lower halves of two vectors, taking turns.
@inline(__always)
func zipLow(_ one: SIMD8<UInt16>, _ other: SIMD8<UInt16>) -> SIMD8<UInt16> {
  SIMD8(one[0], other[0], one[1], other[1], one[2], other[2], one[3], other[3])
}

/// The upper halves of two vectors, taking turns.
@inline(__always)
func zipHigh(_ one: SIMD8<UInt16>, _ other: SIMD8<UInt16>) -> SIMD8<UInt16> {
  SIMD8(one[4], other[4], one[5], other[5], one[6], other[6], one[7], other[7])
}
