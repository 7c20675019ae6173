// SPDX-License-Identifier: MPL-2.0

/// A time or a duration in nanoseconds.
public typealias Nanoseconds = UInt64

extension Nanoseconds {
  static var second: Nanoseconds { 1_000_000_000 }
}

/// `value * numerator / denominator` in 128 bits, rounded down and saturated; 0 for a denominator
/// of 0.
func scale(_ value: UInt64, _ numerator: UInt64, _ denominator: UInt64) -> UInt64 {
  guard denominator > 0 else { return 0 }
  let product = value.multipliedFullWidth(by: numerator)
  guard product.high < denominator else { return .max }
  return denominator.dividingFullWidth(product).quotient
}

/// `a + b`, as near to it as a time gets: `UInt64.max` stands for no time in GStreamer.
func saturatingSum(_ a: Nanoseconds, _ b: Nanoseconds) -> Nanoseconds {
  let (sum, overflow) = a.addingReportingOverflow(b)
  return overflow ? .max - 1 : Swift.min(sum, .max - 1)
}

/// `a - b`, as near to it as the type gets.
func saturatingDifference(_ a: Int64, _ b: Int64) -> Int64 {
  let (difference, overflow) = a.subtractingReportingOverflow(b)
  return overflow ? (a < 0 ? .min : .max) : difference
}
