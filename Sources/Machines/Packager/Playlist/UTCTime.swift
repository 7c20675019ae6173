// SPDX-License-Identifier: MPL-2.0

/// A moment as ISO 8601 writes it in playlists: `2026-11-22T02:03:56.000Z`, to the millisecond.
enum UTCTime {
  private static let day: Int64 = 86_400_000

  /// - Parameter nanoseconds: since 1970-01-01 00:00 UTC.
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

  /// The opposite; nil for any other form.
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
