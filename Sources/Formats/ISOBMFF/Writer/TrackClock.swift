// SPDX-License-Identifier: MPL-2.0

/// Counts nanoseconds in a track's units.
public struct TrackClock: Sendable {
  /// Units a second, above 0.
  public let timescale: UInt32

  public init(timescale: UInt32) {
    self.timescale = max(timescale, 1)
  }

  /// A timescale in which every frame of a constant rate lasts a whole number of units; 90,000
  /// for a rate that varies.
  public init(framesPerSecond numerator: Int32, _ denominator: Int32) {
    guard numerator > 0, denominator > 0, var units = UInt32(exactly: numerator) else {
      self.init(timescale: 90_000)
      return
    }
    while units < 10_000 { units *= 10 }
    self.init(timescale: units)
  }

  /// The nearest number of units; saturated.
  public func units(_ nanoseconds: Int64) -> Int64 {
    let second: UInt64 = 1_000_000_000
    let product = nanoseconds.magnitude.multipliedFullWidth(by: UInt64(timescale))
    guard product.high < second else { return nanoseconds < 0 ? -.max : .max }
    let (quotient, remainder) = second.dividingFullWidth(product)
    let rounded = Int64(clamping: quotient).addingReportingOverflow(remainder >= second / 2 ? 1 : 0)
    let result = rounded.overflow ? .max : rounded.partialValue
    return nanoseconds < 0 ? -result : result
  }

  /// The nearest number of nanoseconds; saturated.
  public func nanoseconds(_ units: UInt64) -> UInt64 {
    let product = units.multipliedFullWidth(by: 1_000_000_000)
    guard product.high < UInt64(timescale) else { return .max }
    let (quotient, remainder) = UInt64(timescale).dividingFullWidth(product)
    return remainder >= (UInt64(timescale) + 1) / 2 && quotient < .max ? quotient + 1 : quotient
  }
}
