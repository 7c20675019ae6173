// SPDX-License-Identifier: MPL-2.0

import StereoVideo

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What the first of two passes wrote down of one eye.
struct PassStatistics {
  /// What a picture took, in bits.
  struct Picture {
    var texture = 0.0
    var motion = 0.0
    var other = 0.0

    /// What it takes where QPs are higher by `shift`, by the powers of quantizer steps that x265 has.
    func bits(shift: Double) -> Double {
      texture * exp2(-1.1 * shift / 6) + motion * exp2(-0.5 * shift / 6) + other
    }
  }

  /// By the place in display order.
  private(set) var pictures: [Int: Picture] = [:]
  /// The CRF; nil where the options do not say it.
  private(set) var rateFactor: Double?

  /// Reads what x265 wrote: a line of options, `#options: … crf=22.0 …`, then for each picture
  /// `in:0 out:0 type:I … tex:7204 mv:316 misc:472 …;`. Behind that, where there is one, a
  /// `PredictedKeyframeLog`.
  init(of eye: Eye, _ pass: EncodingPass) throws(StereoEncoderError) {
    let path = pass.file(of: eye)
    try read(path)
    let keyframes = pass.keyframeFile(of: eye)
    if access(keyframes, F_OK) == 0 { try read(keyframes) }
    guard !pictures.isEmpty else {
      throw .setting(
        name: "pass", reason: "'\(path)' holds no pictures; the first pass did not end")
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

/// What the first of two passes found out about both eyes.
struct PassMeasurement: Sendable {
  /// The base eye's CRF at which the pictures probably take the target rate.
  let rateFactor: Double
  /// What each picture takes of both eyes at the target rate against their mean, in display order, from
  /// 0.02.
  let weights: [Double]
  /// What a picture of both eyes takes at `rateFactor`, in the mean, if six steps of QP halve it.
  let bitsPerPicture: Double
  /// How much of both eyes' bits the dependent eye's are, from 0.05 to 0.95.
  let dependentShare: Double

  /// - Parameter target: what a picture of both eyes is to take, in bits.
  init(_ pass: EncodingPass, baseEye: Eye, target: Double) throws(StereoEncoderError) {
    let base = try PassStatistics(of: baseEye, pass)
    let dependent = try PassStatistics(of: baseEye.other, pass)
    let count = base.pictures.count
    guard count == dependent.pictures.count else {
      throw .setting(
        name: "pass",
        reason: "the first one had \(count) and \(dependent.pictures.count) pictures")
    }
    guard let measured = base.rateFactor, (0...51).contains(measured) else {
      throw .setting(name: "pass", reason: "the first one does not say its quality")
    }
    func bits(_ eye: PassStatistics, _ shift: Double) -> [Double] {
      (0..<count).map { eye.pictures[$0]?.bits(shift: shift) ?? 0 }
    }
    func sum(_ eye: PassStatistics, _ shift: Double) -> Double {
      eye.pictures.values.reduce(0) { $0 + $1.bits(shift: shift) }
    }
    // The shift at which the pictures take the target, found by halves.
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

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Files in which the first of two passes writes down what it measures, and that the second reads.
enum StatisticsFile {
  /// Opens a regular file: a pipe or a device could keep whoever opens it waiting for ever.
  ///
  /// - Parameters:
  ///   - mode: as of `fopen`.
  ///   - failure: what cannot be done with it where it does not open.
  static func open(
    _ path: String, _ mode: String, _ failure: String
  ) throws(StereoEncoderError) -> UnsafeMutablePointer<FILE> {
    var status = stat()
    guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw .setting(name: "pass", reason: "'\(path)' \(failure) (it is no regular file)")
    }
    guard let file = fopen(path, mode) else {
      throw .setting(
        name: "pass", reason: "'\(path)' \(failure) (\(String(cString: strerror(errno))))")
    }
    return file
  }
}
