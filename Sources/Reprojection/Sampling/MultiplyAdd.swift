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
