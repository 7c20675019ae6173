// SPDX-License-Identifier: MPL-2.0

/// The type of a parameter's values.
public enum ParameterType: String, Sendable, CaseIterable {
  /// The path of a file or folder.
  case path
  /// Any text.
  case string
  /// A whole number.
  case integer
  /// A number.
  case number
  /// `true` or `false`; also yes, no, on, off, 1, 0.
  case boolean
  /// One of the parameter's `choices`.
  case choice
  /// `30000/1001` or `25`.
  case fraction
  /// GStreamer caps, such as `video/x-raw, format=NV12`.
  case caps
  /// `10s`, `500ms`, `1.5min`, `2h`, `1:02:03.5`; passed to elements in nanoseconds.
  case duration
  /// `10MB`, `4KiB`, `4096`; passed to elements in bytes.
  case size

  /// Whether `minimum` and `maximum` are applicable.
  var isOrdered: Bool {
    switch self {
    case .integer, .number, .duration, .size: true
    case .path, .string, .boolean, .choice, .fraction, .caps: false
    }
  }

  /// A description of valid values, for messages.
  var expectation: String {
    switch self {
    case .path: "a path"
    case .string: "a text"
    case .integer: "a whole number"
    case .number: "a number"
    case .boolean: "true or false"
    case .choice: "one of the choices"
    case .fraction: "a fraction such as 30000/1001"
    case .caps: "caps such as video/x-raw"
    case .duration: "a duration such as 10s, 500ms or 1:02:03"
    case .size: "a size such as 10MB or 4096"
    }
  }

  /// Returns the number to compare with `minimum` and `maximum`; nil if the text is not one.
  func number(_ text: String) -> Double? {
    switch self {
    case .integer: Int64(text).map(Double.init)
    case .number: Quantity.number(text)
    case .duration: Quantity.signedNanoseconds(text).map(Double.init)
    case .size: Quantity.bytes(text).map(Double.init)
    case .path, .string, .boolean, .choice, .fraction, .caps: nil
    }
  }

  /// Returns the value in the form that elements take; nil if the text is not a valid value.
  func normalized(_ text: String) -> String? {
    switch self {
    case .string, .choice: text
    case .path: text.isEmpty || text.utf8.contains(0) ? nil : text
    case .integer: Int64(text).map { String($0) }
    case .number: Quantity.number(text).map { _ in text }
    case .boolean: Quantity.boolean(text).map { $0 ? "true" : "false" }
    case .fraction: Quantity.fraction(text).map { "\($0.numerator)/\($0.denominator)" }
    case .caps: text.isEmpty ? nil : text
    case .duration: Quantity.signedNanoseconds(text).map { String($0) }
    case .size: Quantity.bytes(text).map { String($0) }
    }
  }
}

/// Numbers with units, as users write them.
enum Quantity {
  /// Parses `10s`, `1.5 min`, `500ms`, `1:02:03.5` into nanoseconds; nil if the text is not a
  /// duration or is above 292 years.
  static func nanoseconds(_ text: String) -> Int64? {
    if text.contains(":") { return clock(text) }
    let units: [(String, Double)] = [
      ("ns", 1), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9),
    ]
    return scaled(text, units)
  }

  /// Parses a duration that may have a minus sign before it: a difference of times.
  static func signedNanoseconds(_ text: String) -> Int64? {
    text.hasPrefix("-") ? nanoseconds(String(text.dropFirst())).map { -$0 } : nanoseconds(text)
  }

  /// Formats a duration in the largest unit in which it is a whole number.
  static func text(nanoseconds: Int64) -> String {
    let units: [(String, Int64)] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)]
    let unit = units.first { nanoseconds.isMultiple(of: $0.1) } ?? ("ns", 1)
    return "\(nanoseconds / unit.1)\(unit.0)"
  }

  /// Parses `10MB`, `1.5 GiB`, `4096` into bytes; nil if the text is not a size or is above 9
  /// exabytes.
  static func bytes(_ text: String) -> Int64? {
    let units: [(String, Double)] = [
      ("", 1), ("B", 1), ("kB", 1e3), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12),
      ("KiB", 1024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("TiB", 1_099_511_627_776),
    ]
    return scaled(text, units)
  }

  /// Parses `30000/1001` or `30`; nil if the text is not a fraction or does not fit into 32 bits.
  static func fraction(_ text: String) -> (numerator: Int32, denominator: Int32)? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard let numerator = parts.first.flatMap({ Int32($0) }), parts.count <= 2 else { return nil }
    guard parts.count == 2 else { return (numerator, 1) }
    guard let denominator = Int32(parts[1]), denominator > 0 else { return nil }
    return (numerator, denominator)
  }

  static func boolean(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true", "yes", "on", "1": true
    case "false", "no", "off", "0": false
    default: nil
    }
  }

  /// Parses a finite decimal number.
  static func number(_ text: some StringProtocol) -> Double? {
    guard text.utf8.allSatisfy({ $0 < 0x80 && "0123456789+-.eE".utf8.contains($0) }),
      let number = Double(text), number.isFinite
    else { return nil }
    return number
  }

  private static func scaled(_ text: String, _ units: [(String, Double)]) -> Int64? {
    let digits = text.prefix { "0123456789.".contains($0) }
    let unit = text[digits.endIndex...].drop { $0 == " " }
    guard let factor = units.first(where: { $0.0 == unit })?.1, let number = number(digits) else {
      return nil
    }
    return whole(number * factor)
  }

  private static func clock(_ text: String) -> Int64? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), let seconds = number(parts[parts.count - 1]),
      seconds >= 0, seconds < 60
    else { return nil }
    var minutes = 0.0
    for part in parts.dropLast() {
      guard let value = UInt32(part) else { return nil }
      minutes = minutes * 60 + Double(value)
    }
    return whole((minutes * 60 + seconds) * 1e9)
  }

  private static func whole(_ number: Double) -> Int64? {
    number < 9.2e18 ? Int64(exactly: number.rounded()) : nil
  }
}

extension PipelineFile {
  /// Parses a duration in the syntax of pipeline files (`10s`, `1:02:03.5`) into nanoseconds; nil
  /// if the text is not a duration.
  public static func nanoseconds(ofDuration text: String) -> Int64? { Quantity.nanoseconds(text) }
}

/// A part of a path; the examples are for `movies/Holiday.3d.mp4`.
enum PathPart: String, Sendable, CaseIterable {
  /// `movies/Holiday.3d`: the path without its extension.
  case stem
  /// `Holiday.3d.mp4`
  case name
  /// `movies`; `.` if the path has no folder.
  case directory
  /// `mp4`, in lower case; empty if the name has no dot.
  case `extension`
  /// The path with each `%` doubled, for elements that number their files.
  case pattern

  func callAsFunction(of path: String) -> String {
    let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    let directory = path[..<name.startIndex]
    // A leading dot, as in ".profile", does not begin an extension.
    let dot = name.dropFirst().lastIndex(of: ".")
    switch self {
    case .stem: return String(path[..<(dot ?? path.endIndex)])
    case .name: return String(name)
    case .directory:
      if directory.isEmpty { return "." }
      return directory.count == 1 ? "/" : String(directory.dropLast())
    case .extension: return dot.map { name[name.index(after: $0)...].lowercased() } ?? ""
    case .pattern: return path.replacing("%", with: "%%")
    }
  }
}

/// Operations on paths as text.
enum Path {
  /// Resolves a path relative to the folder of a file.
  static func resolve(_ path: String, besides file: String) -> String {
    guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return tidy(path) }
    return tidy(String(file[...slash]) + path)
  }

  /// Returns the path without `.`, and without `..` after a folder.
  private static func tidy(_ path: String) -> String {
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part == "..", let last = parts.last, last != ".." {
        parts.removeLast()
      } else if part != ".." || !path.hasPrefix("/") {
        parts.append(part)
      }
    }
    return (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
  }
}
