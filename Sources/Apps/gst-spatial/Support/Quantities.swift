// SPDX-License-Identifier: MPL-2.0

internal import Glibc

/// Numbers as people read them.
enum Quantities {
  static func size(_ bytes: Int) -> String {
    var value = Double(bytes)
    for unit in ["B", "kB", "MB"] {
      if value < 999.5 { return "\(unit == "B" ? "\(bytes)" : decimal(value, 1)) \(unit)" }
      value /= 1000
    }
    return "\(decimal(value, 2)) GB"
  }

  /// `0:07`, `12:03`, `1:00:00`
  static func clock(_ seconds: Double) -> String {
    guard seconds.isFinite, seconds >= 0, seconds < 1e9 else { return "-" }
    let whole = Int(seconds.rounded())
    let (minutes, rest) = (whole / 60, whole % 60)
    let tail = rest < 10 ? "0\(rest)" : "\(rest)"
    guard minutes >= 60 else { return "\(minutes):\(tail)" }
    let (hours, left) = (minutes / 60, minutes % 60)
    return "\(hours):\(left < 10 ? "0" : "")\(left):\(tail)"
  }

  static func decimal(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "-" }
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int64((abs(value) * Double(scale)).rounded())
    let (whole, part) = (scaled / Int64(scale), scaled % Int64(scale))
    let sign = value < 0 && scaled != 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(whole)" }
    let tail = String(part)
    return "\(sign)\(whole).\(String(repeating: "0", count: digits - tail.count))\(tail)"
  }
}
