// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// A camera's way through a movie: views at some times, and what lies between them.
///
/// Between two times each quantity follows a cubic that goes beyond neither of its two values
/// (Fritsch and Carlson, SIAM Journal on Numerical Analysis 17, 1980); in front of the first time and
/// behind the last one it stays. Yaw and roll are taken as they are written: from 170 to 190 the
/// camera turns by 20 degrees, from 0 to 360 once around.
public struct CameraPath: Sendable {
  /// In nanoseconds, rising.
  private let times: [Int64]
  private let curves: [(quantity: Quantity, curve: MonotoneCurve)]

  /// Reads comma-separated values: a line with the names of the columns, then one for each time.
  ///
  /// `time` is in seconds or a clock's `H:MM:SS.sss`; `yaw`, `pitch`, `roll` and `field-of-view` are
  /// in degrees, in any order, and each may be missing. Empty lines, and those that begin with `#`,
  /// say nothing.
  ///
  /// - Throws: a ``CameraPathError`` for anything else, and for times that do not rise.
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
          throw Mistake("there are \(fields.count) values, and \(columns.count) columns")
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
      throw CameraPathError(line: nil, reason: "there is no line with a time and a view")
    }
    self.times = times
    curves = zip(columns, values).compactMap { column, values in
      guard case .quantity(let quantity) = column else { return nil }
      return (quantity, MonotoneCurve(times, values))
    }
  }

  /// The view at a time.
  ///
  /// - Parameters:
  ///   - time: in nanoseconds of the movie.
  ///   - other: what is taken where the path says nothing of a quantity.
  public func view(at time: Int64, otherwise other: CameraView) -> CameraView {
    var view = other
    for (quantity, curve) in curves { view[keyPath: quantity.path] = curve.value(at: time, times) }
    return view
  }

  private static func fields(of line: Substring) -> [Substring] {
    line.split(separator: ",", omittingEmptySubsequences: false).map { field in
      // A byte order mark may begin the first line.
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
      guard let value = UInt32(part) else { throw Mistake("\(quoted(text)) is no time") }
      minutes = minutes * 60 + Double(value)
    }
    guard seconds >= 0, seconds + minutes * 60 < 9e9 else {
      throw Mistake("\(quoted(text)) is no time")
    }
    let time = Int64(((minutes * 60 + seconds) * 1e9).rounded())
    if let last, time <= last { throw Mistake("\(quoted(text)) is not behind the time before it") }
    return time
  }
}

/// What cannot be read in a file of a ``CameraPath``.
public struct CameraPathError: Error, CustomStringConvertible {
  /// Of the file, from 1; nil where it is none of them.
  public let line: Int?
  public let reason: String

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
      guard Set(fields).count == fields.count else { throw Mistake("a column is there twice") }
      var columns: [Column] = []
      for field in fields {
        if field == "time" {
          columns.append(.time)
        } else if let quantity = Quantity(rawValue: String(field)) {
          columns.append(.quantity(quantity))
        } else {
          throw Mistake(
            "\(quoted(field)) is no column; the first line names them, of time, "
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
          "\(quoted(text)) is no \(rawValue) from \(Int(range.lowerBound)) to \(Int(range.upperBound))"
        )
      }
      return value
    }
  }
}

/// The beginning of a text, as a terminal may show it.
private func quoted(_ text: Substring) -> String {
  let shown = text.unicodeScalars.prefix(32).map { scalar in
    scalar.properties.generalCategory == .control ? "?" : Character(scalar)
  }
  return "'\(String(shown))\(shown.count < text.unicodeScalars.count ? "…" : "")'"
}

/// Where a camera in the middle of the surroundings looks, and how much it shows.
public struct CameraView: Hashable, Sendable {
  public var orientation: SphereOrientation
  /// What the picture's width covers, in degrees.
  public var fieldOfView: Double

  public init(_ orientation: SphereOrientation = .front, fieldOfView: Double = 90) {
    (self.orientation, self.fieldOfView) = (orientation, fieldOfView)
  }

  /// Yaws and rolls that are taken, in degrees: turns are counted.
  public static let turns = -360_000.0...360_000
  /// Pitches that are taken, in degrees.
  public static let pitches = -90.0...90
  /// Fields of view that are taken, in degrees.
  public static let fieldsOfView = 10.0...150
}

/// A smooth curve through values at rising times: between two of them a cubic that goes beyond
/// neither, in front of the first and behind the last one what these are.
struct MonotoneCurve: Sendable {
  private let values: [Double]
  /// What a value changes by in a nanosecond.
  private let slopes: [Double]

  /// - Parameters:
  ///   - times: in nanoseconds, rising, at least one.
  ///   - values: as many.
  init(_ times: [Int64], _ values: [Double]) {
    self.values = values
    let widths = zip(times, times.dropFirst()).map { Double($1 - $0) }
    let secants = zip(zip(values, values.dropFirst()), widths).map { ($0.1 - $0.0) / $1 }
    // At the ends, and where there is one value alone, the curve is as the straight line.
    slopes = values.indices.map { index in
      guard index > 0 else { return secants.first ?? 0 }
      guard index < secants.count else { return secants[index - 1] }
      let (before, behind) = (secants[index - 1], secants[index])
      guard before * behind > 0 else { return 0 }
      // The weighted harmonic mean of Fritsch and Butland.
      let (near, far) = (widths[index - 1], widths[index])
      return 3 * (near + far) / ((2 * far + near) / before + (far + 2 * near) / behind)
    }
  }

  func value(at time: Int64, _ times: [Int64]) -> Double {
    // The first time behind this one.
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
    // The cubic of Hermite.
    return values[low - 1] * (1 + 2 * part) * rest * rest + values[low] * part * part
      * (3 - 2 * part)
      + (slopes[low - 1] * rest - slopes[low] * part) * width * part * rest
  }
}
