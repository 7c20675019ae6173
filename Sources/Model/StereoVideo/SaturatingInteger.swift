// SPDX-License-Identifier: MPL-2.0

// Arithmetic of numbers that come from files: none of it may trap.

extension FixedWidthInteger {
  /// Returns `self + other`, or the nearest representable number.
  package func saturatingAdding(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// Returns `self - other`, or the nearest representable number.
  package func saturatingSubtracting(_ other: Self) -> Self {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }
}

extension UInt64 {
  /// Returns `self * numerator / denominator`, rounded down, or the nearest representable number; 0
  /// if the denominator is 0.
  @usableFromInline
  package func scaled(by numerator: UInt64, over denominator: UInt64) -> UInt64 {
    guard denominator > 0 else { return 0 }
    return UInt64(clamping: UInt128(self) * UInt128(numerator) / UInt128(denominator))
  }
}
