// SPDX-License-Identifier: MPL-2.0

/// ISO 8601 times as written in playlists, to the millisecond: `2026-11-22T02:03:56.000Z`.
enum UTCTime {
  private static let day: Int64 = 86_400_000

  /// - Parameter nanoseconds: Since 1970-01-01 00:00 UTC.
  static func text(_ nanoseconds: Int64) -> String {
    let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    let milliseconds = quotient + (remainder >= 500_000 ? 1 : remainder < -500_000 ? -1 : 0)
    let days = floorDivision(milliseconds, day)
    let rest = milliseconds - days * day
    let date = civil(days)
    return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T"
      + "\(padded(rest / 3_600_000, 2)):\(padded(rest / 60_000 % 60, 2))"
      + ":\(padded(rest / 1000 % 60, 2)).\(padded(rest % 1000, 3))Z"
  }

  /// Parses the output of ``text(_:)``, into nanoseconds since 1970-01-01 00:00 UTC; nil for any
  /// other format.
  static func nanoseconds(_ text: some StringProtocol) -> Int64? {
    let fields = text.split { "-T:.Z".contains($0) }.map { Int64($0) }
    guard text.hasSuffix("Z"), fields.count == 7,
      let year = fields[0], let month = fields[1], let day = fields[2], let hour = fields[3],
      let minute = fields[4], let second = fields[5], let millisecond = fields[6],
      (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
      (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second),
      (0...999).contains(millisecond)
    else { return nil }
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
    let (result, overflow) = (seconds * 1000 + millisecond).multipliedReportingOverflow(
      by: 1_000_000)
    return overflow ? nil : result
  }

  private static func padded(_ number: Int64, _ count: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }

  private static func floorDivision(_ dividend: Int64, _ divisor: Int64) -> Int64 {
    let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }

  // The calendar repeats every 400 years, 146,097 days; years are counted from March, so that the
  // leap day is the last one.

  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = floorDivision(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
    return (year, month < 10 ? month + 3 : month - 9, day)
  }

  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = floorDivision(year, 400)
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}

/// Returns nanoseconds as seconds with this many decimals, rounded to the nearest, without
/// floating-point arithmetic.
func seconds(_ nanoseconds: UInt64, decimals: Int = 5) -> String {
  precondition((1...9).contains(decimals))
  let unit = (decimals..<9).reduce(UInt64(1)) { product, _ in product * 10 }
  let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: unit)
  let rounded = remainder * 2 >= unit && unit > 1 ? quotient + 1 : quotient
  let one = 1_000_000_000 / unit
  let fraction = String(rounded % one)
  return "\(rounded / one).\(String(repeating: "0", count: decimals - fraction.count))\(fraction)"
}

/// Parses seconds as written in playlists, into nanoseconds; nil if the text is not such a number.
func nanoseconds(_ text: some StringProtocol) -> UInt64? {
  let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
  guard let whole = parts.first.flatMap({ UInt64($0) }), whole < 1 << 20 else { return nil }
  guard parts.count == 2 else { return whole * 1_000_000_000 }
  let digits = parts[1].prefix(9)
  guard let fraction = UInt64(digits), parts[1].allSatisfy(\.isNumber) else { return nil }
  let scale = (digits.count..<9).reduce(UInt64(1)) { product, _ in product * 10 }
  return whole * 1_000_000_000 + fraction * scale
}

/// Returns a positive quotient as a decimal number, rounded to the nearest; 0 if the divisor is 0.
func quotient(_ numerator: UInt64, _ denominator: UInt64, decimals: Int = 3) -> String {
  guard denominator > 0 else { return seconds(0, decimals: decimals) }
  let product = numerator.multipliedFullWidth(by: 1_000_000_000)
  guard product.high < denominator else { return seconds(.max, decimals: decimals) }
  return seconds(denominator.dividingFullWidth(product).quotient, decimals: decimals)
}

/// The measured bit rate of a rendition: `BANDWIDTH` and `AVERAGE-BANDWIDTH`.
public struct BitRate: Equatable, Sendable {
  /// Peak segment bit rate in bits per second: the largest rate of any contiguous segments that
  /// last between half and one and a half target durations.
  public private(set) var peak: UInt64 = 0
  private var bytes: UInt64 = 0
  private var duration: UInt64 = 0
  private var targetDuration: UInt64
  /// The last segments, which together last at most one and a half target durations.
  private var recent: [Row] = []

  /// Players measure with durations as playlists have them, which are rounded, in nanoseconds.
  private static let slack: UInt64 = 1_000_000

  private struct Row: Equatable, Sendable {
    var bytes: UInt64 = 0
    var duration: UInt64 = 0
  }

  /// - Parameter targetDuration: In seconds.
  public init(targetDuration: Int) {
    self.targetDuration = UInt64(max(targetDuration, 1)) * 1_000_000_000
  }

  /// Measures by another target duration from the next segment on.
  mutating func raiseTargetDuration(to seconds: Int) {
    targetDuration = UInt64(max(seconds, 1)) * 1_000_000_000
  }

  /// Average segment bit rate in bits per second.
  public var average: UInt64 { Self.rate(bytes, duration) }

  /// Adds a segment.
  ///
  /// - Parameter duration: In nanoseconds.
  public mutating func add(bytes: UInt64, duration: UInt64) {
    self.bytes &+= bytes
    self.duration &+= duration
    recent.append(Row(bytes: bytes, duration: duration))
    let longest = targetDuration * 3 / 2 + Self.slack
    while recent.count > 1, recent.reduce(0, { $0 + $1.duration }) > longest {
      recent.removeFirst()
    }
    var row = Row()
    let shortest = targetDuration / 2 - Self.slack
    for segment in recent.reversed() {
      row = Row(bytes: row.bytes + segment.bytes, duration: row.duration + segment.duration)
      if row.duration >= shortest { peak = max(peak, Self.rate(row.bytes, row.duration)) }
    }
    // A rendition with only one short segment has a peak rate too.
    peak = max(peak, average)
  }

  private static func rate(_ bytes: UInt64, _ duration: UInt64) -> UInt64 {
    guard duration > 0 else { return 0 }
    let product = bytes.multipliedFullWidth(by: 8_000_000_000)
    guard product.high < duration else { return .max }
    let (quotient, remainder) = duration.dividingFullWidth(product)
    return remainder > 0 && quotient < .max ? quotient + 1 : quotient
  }
}
