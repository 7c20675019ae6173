// SPDX-License-Identifier: MPL-2.0

/// Nanoseconds as seconds with a number of decimals, rounded to the nearest: playlists need no
/// floating-point numbers, and get none.
func seconds(_ nanoseconds: UInt64, decimals: Int = 5) -> String {
  precondition((1...9).contains(decimals))
  let unit = (decimals..<9).reduce(UInt64(1)) { product, _ in product * 10 }
  let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: unit)
  let rounded = remainder * 2 >= unit && unit > 1 ? quotient + 1 : quotient
  let one = 1_000_000_000 / unit
  let fraction = String(rounded % one)
  return "\(rounded / one).\(String(repeating: "0", count: decimals - fraction.count))\(fraction)"
}

/// Seconds as playlists have them, in nanoseconds; nil for what is no such number.
func nanoseconds(_ text: some StringProtocol) -> UInt64? {
  let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
  guard let whole = parts.first.flatMap({ UInt64($0) }), whole < 1 << 20 else { return nil }
  guard parts.count == 2 else { return whole * 1_000_000_000 }
  let digits = parts[1].prefix(9)
  guard let fraction = UInt64(digits), parts[1].allSatisfy(\.isNumber) else { return nil }
  let scale = (digits.count..<9).reduce(UInt64(1)) { product, _ in product * 10 }
  return whole * 1_000_000_000 + fraction * scale
}

/// A positive quotient as a decimal number, rounded to the nearest; 0 where the divisor is 0.
func quotient(_ numerator: UInt64, _ denominator: UInt64, decimals: Int = 3) -> String {
  guard denominator > 0 else { return seconds(0, decimals: decimals) }
  let product = numerator.multipliedFullWidth(by: 1_000_000_000)
  guard product.high < denominator else { return seconds(.max, decimals: decimals) }
  return seconds(denominator.dividingFullWidth(product).quotient, decimals: decimals)
}
