// SPDX-License-Identifier: MPL-2.0

import StereoVideo

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The statistics that the first of two passes wrote for one eye.
struct PassStatistics {
  /// The bits of a picture, by their use.
  struct Picture {
    var texture = 0.0
    var motion = 0.0
    var other = 0.0

    /// Returns the bits with QPs that are higher by `shift`, using x265's powers of the quantizer
    /// step.
    func bits(shift: Double) -> Double {
      texture * exp2(-1.1 * shift / 6) + motion * exp2(-0.5 * shift / 6) + other
    }
  }

  /// The pictures by their numbers in display order.
  private(set) var pictures: [Int: Picture] = [:]
  /// The CRF; nil if the options do not contain it.
  private(set) var rateFactor: Double?

  /// Reads x265's file: a line of options, `#options: … crf=22.0 …`, then for each picture
  /// `in:0 out:0 type:I … tex:7204 mv:316 misc:472 …;`. Then reads the `PredictedKeyframeLog`, if
  /// there is one.
  init(of eye: Eye, _ pass: EncodingPass) throws(StereoEncoderError) {
    let path = pass.file(of: eye)
    try read(path)
    let keyframes = pass.keyframeFile(of: eye)
    if access(keyframes, F_OK) == 0 { try read(keyframes) }
    guard !pictures.isEmpty else {
      throw .setting(
        name: "pass", reason: "'\(path)' contains no pictures; the first pass did not finish")
    }
  }

  private mutating func read(_ path: String) throws(StereoEncoderError) {
    let file = try StatisticsFile.open(path, "rb", "cannot be read")
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, file) > 0 {
      guard let line else { break }
      add(String(cString: line))
    }
  }

  private mutating func add(_ line: String) {
    let words = line.split { $0 == " " || $0 == "\n" }
    guard line.hasPrefix("in:") else {
      let value = words.first { $0.hasPrefix("crf=") }?.dropFirst(4)
      rateFactor = value.flatMap { Double($0) } ?? rateFactor
      return
    }
    var picture = Picture()
    var place: Int?
    for word in words {
      let parts = word.split(separator: ":")
      guard parts.count == 2 else { continue }
      if parts[0] == "in" { place = Int(parts[1]) }
      guard let value = Double(parts[1]), value > 0, value < 1e12 else { continue }
      switch parts[0] {
      case "tex", "bits": picture.texture = value
      case "mv": picture.motion = value
      case "misc": picture.other = value
      default: break
      }
    }
    if let place { pictures[place] = picture }
  }
}

/// The results of the first of two passes, for both eyes.
struct PassMeasurement: Sendable {
  /// The base eye's CRF at which the pictures should meet the target rate.
  let rateFactor: Double
  /// Bits of each picture in both eyes at the target rate, relative to their mean, in display
  /// order; at least 0.02.
  let weights: [Double]
  /// Mean bits of a picture of both eyes at `rateFactor`, if six steps of QP halve them.
  let bitsPerPicture: Double
  /// The dependent eye's share of the bits of both eyes, from 0.05 to 0.95.
  let dependentShare: Double

  /// - Parameter target: bits for a picture of both eyes.
  init(_ pass: EncodingPass, baseEye: Eye, target: Double) throws(StereoEncoderError) {
    let base = try PassStatistics(of: baseEye, pass)
    let dependent = try PassStatistics(of: baseEye.other, pass)
    let count = base.pictures.count
    guard count == dependent.pictures.count else {
      throw .setting(
        name: "pass",
        reason: "the first pass counted \(count) and \(dependent.pictures.count) pictures")
    }
    guard let measured = base.rateFactor, (0...51).contains(measured) else {
      throw .setting(name: "pass", reason: "the statistics of the first pass have no quality (crf)")
    }
    func bits(_ eye: PassStatistics, _ shift: Double) -> [Double] {
      (0..<count).map { eye.pictures[$0]?.bits(shift: shift) ?? 0 }
    }
    func sum(_ eye: PassStatistics, _ shift: Double) -> Double {
      eye.pictures.values.reduce(0) { $0 + $1.bits(shift: shift) }
    }
    // The shift at which the pictures meet the target, found by bisection.
    var (low, high) = (-51.0, 51.0)
    for _ in 0..<20 {
      let middle = (low + high) / 2
      let isAbove = sum(base, middle) + sum(dependent, middle) > target * Double(count)
      (low, high) = isAbove ? (middle, high) : (low, middle)
    }
    let bits = zip(bits(base, low), bits(dependent, low)).map(+)
    let all = bits.reduce(0, +)
    let mean = max(all / Double(count), 1)
    rateFactor = min(max(measured + low, 1), 51)
    bitsPerPicture = mean * exp2((measured + low - rateFactor) / 6)
    weights = bits.map { max($0 / mean, 0.02) }
    dependentShare = all > 0 ? min(max(sum(dependent, low) / all, 0.05), 0.95) : 0.5
  }
}

/// Files that the first of two passes writes and the second reads.
enum StatisticsFile {
  /// Opens a regular file: opening a pipe or a device could block forever.
  ///
  /// - Parameters:
  ///   - mode: as of `fopen`.
  ///   - failure: the predicate of the error message, such as "cannot be read".
  static func open(
    _ path: String, _ mode: String, _ failure: String
  ) throws(StereoEncoderError) -> UnsafeMutablePointer<FILE> {
    var status = stat()
    guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw .setting(name: "pass", reason: "'\(path)' \(failure) (not a regular file)")
    }
    guard let file = fopen(path, mode) else {
      throw .setting(
        name: "pass", reason: "'\(path)' \(failure) (\(String(cString: strerror(errno))))")
    }
    return file
  }
}
