// SPDX-License-Identifier: MPL-2.0

// The standard library's `init(truncatingIfNeeded:)` of SIMD types is a call that goes lane by lane,
// unless the compiler happens to inline it. Written out, it becomes one instruction, and part of the
// ones around it: of a product of which the upper half is kept, of sums of products.

extension SIMD8 where Scalar: FixedWidthInteger {
  /// The low bits of each lane, or its value with more of them.
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
  /// The low bits of each lane, or its value with more of them.
  @inlinable @inline(__always)
  package func lanes<Other: FixedWidthInteger & SIMDScalar>(as _: Other.Type) -> SIMD4<Other> {
    SIMD4<Other>(
      Other(truncatingIfNeeded: self[0]), Other(truncatingIfNeeded: self[1]),
      Other(truncatingIfNeeded: self[2]), Other(truncatingIfNeeded: self[3]))
  }
}
