// SPDX-License-Identifier: MPL-2.0

/// A number as a fraction: frames a second, or the shape of a pixel.
public struct Ratio: Hashable, Sendable {
  /// 1 or more.
  public let numerator: Int32
  /// 1 or more.
  public let denominator: Int32

  /// In lowest terms; nil where a part is not above 0 or does not fit.
  public init?(_ numerator: some BinaryInteger, _ denominator: some BinaryInteger) {
    guard let top = UInt64(exactly: numerator), let bottom = UInt64(exactly: denominator),
      top > 0, bottom > 0
    else { return nil }
    var (a, b) = (top, bottom)
    while b > 0 { (a, b) = (b, a % b) }
    guard let top = Int32(exactly: top / a), let bottom = Int32(exactly: bottom / a) else {
      return nil
    }
    (self.numerator, self.denominator) = (top, bottom)
  }

  /// The time of so many units of which there are this many a second.
  func time(of units: UInt64) -> Nanoseconds {
    scale(units, UInt64(denominator) * .second, UInt64(numerator))
  }
}
