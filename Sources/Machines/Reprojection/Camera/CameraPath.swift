// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// The path of a virtual camera through a movie: views at given times, and interpolated views
/// between them.
///
/// Between two times each quantity follows a cubic that stays between its two values (Fritsch and
/// Carlson, SIAM Journal on Numerical Analysis 17, 1980); before the first time and after the last
/// one it is constant. Yaw and roll are not wrapped: from 170 to 190 the camera turns by 20
/// degrees, from 0 to 360 by a full turn.
public struct CameraPath: Sendable {
  /// In nanoseconds, increasing.
  private let times: [Int64]
  private let curves: [(quantity: Quantity, curve: MonotoneCurve)]

  /// Reads comma-separated values: a line with the column names, then a line for each time.
  ///
  /// `time` is in seconds or in clock format, `H:MM:SS.sss`; `yaw`, `pitch`, `roll` and
  /// `field-of-view` are in degrees. The columns may be in any order, and all except `time` are
  /// optional. Empty lines and lines that begin with `#` are ignored.
  ///
  /// - Throws: A ``CameraPathError`` for invalid text, and for times that do not increase.
  public init(parsing text: String) throws(CameraPathError) {
    var columns: [Column] = []
    var times: [Int64] = []
    var values: [[Double]] = []
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      let fields = Self.fields(of: line)
      if fields == [""] || fields[0].hasPrefix("#") { continue }
      do throws(Mistake) {
        guard !columns.isEmpty else {
          columns = try Column.header(fields)
          values = Array(repeating: [], count: columns.count)
          continue
        }
        guard fields.count == columns.count else {
          throw Mistake("expected \(columns.count) values, found \(fields.count)")
        }
        for (place, column) in columns.enumerated() {
          switch column {
          case .time: times.append(try Self.time(fields[place], after: times.last))
          case .quantity(let quantity): values[place].append(try quantity.value(fields[place]))
          }
        }
      } catch {
        throw CameraPathError(line: index + 1, reason: error.reason)
      }
    }
    guard !times.isEmpty else {
      throw CameraPathError(line: nil, reason: "no line has a time and a view")
    }
    self.times = times
    curves = zip(columns, values).compactMap { column, values in
      guard case .quantity(let quantity) = column else { return nil }
      return (quantity, MonotoneCurve(times, values))
    }
  }

  /// Returns the view at a time.
  ///
  /// - Parameters:
  ///   - time: time in the movie, in nanoseconds.
  ///   - other: values for quantities that the path does not contain.
  public func view(at time: Int64, otherwise other: CameraView) -> CameraView {
    var view = other
    for (quantity, curve) in curves { view[keyPath: quantity.path] = curve.value(at: time, times) }
    return view
  }

  private static func fields(of line: Substring) -> [Substring] {
    line.split(separator: ",", omittingEmptySubsequences: false).map { field in
      // The first line may begin with a byte order mark.
      let blank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\u{feff}" }
      let start = field.drop(while: blank)
      let end = start.lastIndex { !blank($0) }
      return end.map { start[...$0] } ?? ""
    }
  }

  private static func time(_ text: Substring, after last: Int64?) throws(Mistake) -> Int64 {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    var seconds = parts.last.flatMap { Double($0) } ?? -1
    let isClock = parts.count > 1
    if isClock, seconds >= 60 || parts.count > 3 { seconds = -1 }
    var minutes = 0.0
    for part in parts.dropLast() {
      guard let value = UInt32(part) else { throw Mistake("\(quoted(text)) is not a time") }
      minutes = minutes * 60 + Double(value)
    }
    guard seconds >= 0, seconds + minutes * 60 < 9e9 else {
      throw Mistake("\(quoted(text)) is not a time")
    }
    let time = Int64(((minutes * 60 + seconds) * 1e9).rounded())
    if let last, time <= last {
      throw Mistake("times must increase; \(quoted(text)) is not after the previous time")
    }
    return time
  }
}

/// An error in the text of a ``CameraPath``.
public struct CameraPathError: Error, CustomStringConvertible {
  /// Line number, from 1; nil if the error is not in a single line.
  public let line: Int?
  /// The mistake in the text.
  public let reason: String

  /// The reason, preceded by the line number if there is one.
  public var description: String { line.map { "line \($0): \(reason)" } ?? reason }
}

extension CameraPath {
  fileprivate struct Mistake: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }

  fileprivate enum Column {
    case time
    case quantity(Quantity)

    static func header(_ fields: [Substring]) throws(Mistake) -> [Column] {
      guard Set(fields).count == fields.count else { throw Mistake("a column name occurs twice") }
      var columns: [Column] = []
      for field in fields {
        if field == "time" {
          columns.append(.time)
        } else if let quantity = Quantity(rawValue: String(field)) {
          columns.append(.quantity(quantity))
        } else {
          throw Mistake(
            "\(quoted(field)) is not a column name; the first line must name columns: time, "
              + Quantity.allCases.map(\.rawValue).joined(separator: ", "))
        }
      }
      guard fields.contains("time") else { throw Mistake("the column 'time' is missing") }
      return columns
    }
  }

  fileprivate enum Quantity: String, CaseIterable {
    case yaw, pitch, roll
    case fieldOfView = "field-of-view"

    var path: WritableKeyPath<CameraView, Double> {
      switch self {
      case .yaw: \.orientation.yaw
      case .pitch: \.orientation.pitch
      case .roll: \.orientation.roll
      case .fieldOfView: \.fieldOfView
      }
    }

    private var range: ClosedRange<Double> {
      switch self {
      case .yaw, .roll: CameraView.turns
      case .pitch: CameraView.pitches
      case .fieldOfView: CameraView.fieldsOfView
      }
    }

    func value(_ text: Substring) throws(Mistake) -> Double {
      guard let value = Double(text), range.contains(value) else {
        throw Mistake(
          "\(quoted(text)) is not a \(rawValue) from \(Int(range.lowerBound)) to "
            + "\(Int(range.upperBound))")
      }
      return value
    }
  }
}

/// Returns the beginning of a text, safe to print to a terminal.
private func quoted(_ text: Substring) -> String {
  let shown = text.unicodeScalars.prefix(32).map { scalar in
    scalar.properties.generalCategory == .control ? "?" : Character(scalar)
  }
  return "'\(String(shown))\(shown.count < text.unicodeScalars.count ? "…" : "")'"
}

/// The view of a camera in the centre of the surroundings.
public struct CameraView: Hashable, Sendable {
  /// The direction of the line of sight, and the roll around it.
  public var orientation: SphereOrientation
  /// Horizontal field of view, in degrees.
  public var fieldOfView: Double

  /// Creates a view; `fieldOfView` is in degrees.
  public init(_ orientation: SphereOrientation = .front, fieldOfView: Double = 90) {
    (self.orientation, self.fieldOfView) = (orientation, fieldOfView)
  }

  /// Allowed yaw and roll in degrees, including several turns.
  public static let turns = -360_000.0...360_000
  /// Allowed pitch in degrees.
  public static let pitches = -90.0...90
  /// Allowed field of view in degrees.
  public static let fieldsOfView = 10.0...150
}

/// A smooth curve through values at increasing times: between two of them a cubic that exceeds
/// neither, before the first and after the last one constant.
struct MonotoneCurve: Sendable {
  private let values: [Double]
  /// Change of a value per nanosecond.
  private let slopes: [Double]

  /// Creates a curve.
  ///
  /// - Parameters:
  ///   - times: in nanoseconds, increasing, at least one.
  ///   - values: one for each time.
  init(_ times: [Int64], _ values: [Double]) {
    self.values = values
    let widths = zip(times, times.dropFirst()).map { Double($1 - $0) }
    let secants = zip(zip(values, values.dropFirst()), widths).map { ($0.1 - $0.0) / $1 }
    // At both ends, and with only two values, the slope is that of the straight line.
    slopes = values.indices.map { index in
      guard index > 0 else { return secants.first ?? 0 }
      guard index < secants.count else { return secants[index - 1] }
      let (before, after) = (secants[index - 1], secants[index])
      guard before * after > 0 else { return 0 }
      // The weighted harmonic mean of Fritsch and Butland.
      let (near, far) = (widths[index - 1], widths[index])
      return 3 * (near + far) / ((2 * far + near) / before + (far + 2 * near) / after)
    }
  }

  func value(at time: Int64, _ times: [Int64]) -> Double {
    // Finds the first time after this one.
    var (low, high) = (0, times.count)
    while low < high {
      let middle = (low + high) / 2
      if times[middle] <= time { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return values[0] }
    guard low < times.count else { return values[times.count - 1] }
    let width = Double(times[low] - times[low - 1])
    let part = Double(time - times[low - 1]) / width
    let rest = 1 - part
    // The cubic Hermite form.
    return values[low - 1] * (1 + 2 * part) * rest * rest + values[low] * part * part
      * (3 - 2 * part)
      + (slopes[low - 1] * rest - slopes[low] * part) * width * part * rest
  }
}
