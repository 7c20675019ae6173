// SPDX-License-Identifier: MPL-2.0

/// A point on Earth, stored in movies as text such as `+48.8577+002.2950+035.000/` (ISO 6709, Annex
/// H).
public struct GeographicLocation: Equatable, Sendable {
  /// In degrees, -90 to 90; north is positive.
  public let latitude: Double
  /// In degrees, -180 to 180; east is positive.
  public let longitude: Double
  /// In metres; nil if unknown.
  public let altitude: Double?

  /// Nil if a value is out of range; an altitude has at most eight digits.
  public init?(latitude: Double, longitude: Double, altitude: Double? = nil) {
    guard latitude.magnitude <= 90, longitude.magnitude <= 180,
      (altitude?.magnitude ?? 0) < 1e8
    else { return nil }
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
  }

  /// Parses ISO 6709 text; nil if it has another form.
  ///
  /// Angles may be decimal degrees, degrees and decimal minutes, or degrees, minutes and decimal
  /// seconds.
  public init?(iso6709 text: String) {
    let content = text.utf8.prefix { $0 != UInt8(ascii: "/") }.prefix(80)
    var fields: [[UInt8]] = []
    for byte in content {
      if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") {
        fields.append([byte])
      } else if byte == UInt8(ascii: "C") {
        // The name of a coordinate reference system comes last.
        break
      } else if fields.isEmpty {
        return nil
      } else {
        fields[fields.count - 1].append(byte)
      }
    }
    guard fields.count == 2 || fields.count == 3,
      let latitude = Self.degrees(fields[0], degreeDigits: 2),
      let longitude = Self.degrees(fields[1], degreeDigits: 3)
    else { return nil }
    var altitude: Double?
    if fields.count == 3 {
      guard let value = Self.number(fields[2][...]) else { return nil }
      altitude = value
    }
    self.init(latitude: latitude, longitude: longitude, altitude: altitude)
  }

  /// The ISO 6709 text: degrees with at least four decimals, metres with at least three.
  public var iso6709: String {
    Self.text(latitude, digits: 2, decimals: 4) + Self.text(longitude, digits: 3, decimals: 4)
      + (altitude.map { Self.text($0, digits: 3, decimals: 3) } ?? "") + "/"
  }

  private static func number(_ field: ArraySlice<UInt8>) -> Double? {
    // Only a sign, digits and a point: no exponents, no names of numbers.
    guard field.dropFirst().allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) else {
      return nil
    }
    return Double(String(decoding: field, as: UTF8.self))
  }

  private static func degrees(_ field: [UInt8], degreeDigits: Int) -> Double? {
    let digits = field.dropFirst().prefix { $0 != UInt8(ascii: ".") }.count
    let (sign, rest) = (field.prefix(1), field.dropFirst())
    guard digits > degreeDigits else { return number(field[...]) }
    guard digits == degreeDigits + 2 || digits == degreeDigits + 4,
      let whole = number([UInt8(ascii: "+")] + rest.prefix(degreeDigits))
    else { return nil }
    let parts = rest.dropFirst(degreeDigits)
    let hasSeconds = digits == degreeDigits + 4
    guard let minutes = number([UInt8(ascii: "+")] + (hasSeconds ? parts.prefix(2) : parts)),
      let seconds = hasSeconds ? number([UInt8(ascii: "+")] + parts.dropFirst(2)) : 0
    else { return nil }
    let value = whole + minutes / 60 + seconds / 3600
    return sign == [UInt8(ascii: "-")] ? -value : value
  }

  /// Returns a sign, at least `digits` digits, and `decimals` to eight decimals.
  private static func text(_ value: Double, digits: Int, decimals: Int) -> String {
    guard let scaled = UInt64(exactly: (value.magnitude * 1e8).rounded()) else { return "" }
    func padded(_ number: UInt64, _ length: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, length - text.count)) + text
    }
    var fraction = padded(scaled % 100_000_000, 8)
    while fraction.count > decimals, fraction.last == "0" { fraction.removeLast() }
    return (value < 0 ? "-" : "+") + padded(scaled / 100_000_000, digits) + "." + fraction
  }
}
