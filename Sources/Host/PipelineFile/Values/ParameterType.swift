// SPDX-License-Identifier: MPL-2.0

/// What values a parameter takes.
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
  /// GStreamer caps, as `video/x-raw, format=NV12`.
  case caps
  /// `10s`, `500ms`, `1.5min`, `2h`, `1:02:03.5`; handed to elements in nanoseconds.
  case duration
  /// `10MB`, `4KiB`, `4096`; handed to elements in bytes.
  case size

  /// Whether `minimum` and `maximum` have a meaning.
  var isOrdered: Bool {
    switch self {
    case .integer, .number, .duration, .size: true
    case .path, .string, .boolean, .choice, .fraction, .caps: false
    }
  }

  /// What a value is called, for messages.
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

  /// The number that `minimum` and `maximum` are compared with; nil if the text is none.
  func number(_ text: String) -> Double? {
    switch self {
    case .integer: Int64(text).map(Double.init)
    case .number: Quantity.number(text)
    case .duration: Quantity.nanoseconds(text).map(Double.init)
    case .size: Quantity.bytes(text).map(Double.init)
    case .path, .string, .boolean, .choice, .fraction, .caps: nil
    }
  }

  /// The value as elements take it; nil if the text is none.
  func normalized(_ text: String) -> String? {
    switch self {
    case .string, .choice: text
    case .path: text.isEmpty || text.utf8.contains(0) ? nil : text
    case .integer: Int64(text).map { String($0) }
    case .number: Quantity.number(text).map { _ in text }
    case .boolean: Quantity.boolean(text).map { $0 ? "true" : "false" }
    case .fraction: Quantity.fraction(text).map { "\($0.numerator)/\($0.denominator)" }
    case .caps: text.isEmpty ? nil : text
    case .duration: Quantity.nanoseconds(text).map { String($0) }
    case .size: Quantity.bytes(text).map { String($0) }
    }
  }
}

/// Numbers with a unit, as people write them.
enum Quantity {
  /// `10s`, `1.5 min`, `500ms`, `1:02:03.5` in nanoseconds; nil if it is none, or is above
  /// 292 years.
  static func nanoseconds(_ text: String) -> Int64? {
    if text.contains(":") { return clock(text) }
    let units: [(String, Double)] = [
      ("ns", 1), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9),
    ]
    return scaled(text, units)
  }

  /// A duration in the largest unit that it is a whole number of.
  static func text(nanoseconds: Int64) -> String {
    let units: [(String, Int64)] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)]
    let unit = units.first { nanoseconds.isMultiple(of: $0.1) } ?? ("ns", 1)
    return "\(nanoseconds / unit.1)\(unit.0)"
  }

  /// `10MB`, `1.5 GiB`, `4096` in bytes; nil if it is none, or is above 9 exabytes.
  static func bytes(_ text: String) -> Int64? {
    let units: [(String, Double)] = [
      ("", 1), ("B", 1), ("kB", 1e3), ("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12),
      ("KiB", 1024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("TiB", 1_099_511_627_776),
    ]
    return scaled(text, units)
  }

  /// `30000/1001` or `30`; nil if it is none, or does not fit 32 bits.
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

  /// A decimal number, neither infinite nor "not a number".
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
  /// A duration as pipeline files write it (`10s`, `1:02:03.5`) in nanoseconds; nil if it is none.
  public static func nanoseconds(ofDuration text: String) -> Int64? { Quantity.nanoseconds(text) }
}

/// A part of a path: of `movies/Holiday.3d.mp4`, for example.
enum PathPart: String, Sendable, CaseIterable {
  /// `movies/Holiday.3d`: the path without its extension.
  case stem
  /// `Holiday.3d.mp4`
  case name
  /// `movies`; `.` where the path names no folder.
  case directory
  /// `mp4`, in small letters; nothing where the name has no dot.
  case `extension`
  /// The path with each `%` doubled, as elements want it that number their files.
  case pattern

  func callAsFunction(of path: String) -> String {
    let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    let directory = path[..<name.startIndex]
    // A name's first dot, as in ".profile", begins no extension.
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

/// Paths as text.
enum Path {
  /// A path that is meant relative to the folder of a file.
  static func resolve(_ path: String, besides file: String) -> String {
    guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return tidy(path) }
    return tidy(String(file[...slash]) + path)
  }

  /// The path without `.` and without `..` where a folder precedes it.
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
