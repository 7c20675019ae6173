// SPDX-License-Identifier: MPL-2.0

// Arithmetic of times that come from files and from other elements: no sum of them may trap.

/// `a + b`, or the nearest Int64 to it.
package func saturatingSum(_ a: Int64, _ b: Int64) -> Int64 {
  let (sum, overflow) = a.addingReportingOverflow(b)
  return overflow ? (a < 0 ? .min : .max) : sum
}

/// `a - b`, or the nearest Int64 to it.
package func saturatingDifference(_ a: Int64, _ b: Int64) -> Int64 {
  let (difference, overflow) = a.subtractingReportingOverflow(b)
  return overflow ? (a < 0 ? .min : .max) : difference
}

/// `a + b` of unsigned times, or the largest time: one below `UInt64.max`, which means no time
/// (`GST_CLOCK_TIME_NONE`).
package func saturatingSum(_ a: UInt64, _ b: UInt64) -> UInt64 {
  let (sum, overflow) = a.addingReportingOverflow(b)
  return overflow ? .max - 1 : min(sum, .max - 1)
}
