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
