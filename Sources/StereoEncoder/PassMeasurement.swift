// SPDX-License-Identifier: MPL-2.0

import StereoVideo

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What the first of two passes wrote down of one eye.
struct PassStatistics {
  /// What each picture took, by its place in display order.
  private(set) var bits: [Int: Double] = [:]
  /// The CRF; nil where the options do not say it.
  private(set) var rateFactor: Double?

  /// Reads what x265 wrote: a line of options, `#options: … crf=22.0 …`, then for each picture
  /// `in:0 out:0 type:I … tex:7204 mv:316 misc:472 …;`.
  init(of eye: Eye, _ pass: EncodingPass) throws(StereoEncoderError) {
    let path = pass.file(of: eye)
    guard let file = fopen(path, "rb") else {
      throw .setting(
        name: "pass", reason: "'\(path)' cannot be read (\(String(cString: strerror(errno))))")
    }
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, file) > 0 {
      guard let line else { break }
      add(String(cString: line))
    }
    guard !bits.isEmpty else {
      throw .setting(
        name: "pass", reason: "'\(path)' holds no pictures; the first pass did not end")
    }
  }

  private mutating func add(_ line: String) {
    let words = line.split { $0 == " " || $0 == "\n" }
    guard line.hasPrefix("in:") else {
      let value = words.first { $0.hasPrefix("crf=") }?.dropFirst(4)
      rateFactor = value.flatMap { Double($0) } ?? rateFactor
      return
    }
    var sum = 0.0
    var place: Int?
    for word in words {
      let parts = word.split(separator: ":")
      guard parts.count == 2 else { continue }
      switch parts[0] {
      case "in": place = Int(parts[1])
      case "tex", "mv", "misc": sum += max(0, Double(parts[1]) ?? 0)
      default: break
      }
    }
    if let place { bits[place] = sum }
  }
}

/// What the first of two passes found out about both eyes.
struct PassMeasurement: Sendable {
  /// The base eye's CRF.
  let rateFactor: Double
  /// What each picture takes of both eyes against their mean, in display order, from 0.02.
  let weights: [Double]
  /// What a picture of both eyes takes, in the mean.
  let bitsPerPicture: Double
  /// How much of both eyes' bits the dependent eye's are, from 0.05 to 0.95.
  let dependentShare: Double

  init(_ pass: EncodingPass, baseEye: Eye) throws(StereoEncoderError) {
    let base = try PassStatistics(of: baseEye, pass)
    let dependent = try PassStatistics(of: baseEye.other, pass)
    let count = base.bits.count
    guard count == dependent.bits.count else {
      throw .setting(
        name: "pass",
        reason: "the first one had \(count) and \(dependent.bits.count) pictures")
    }
    guard let rateFactor = base.rateFactor, (0...51).contains(rateFactor) else {
      throw .setting(name: "pass", reason: "the first one does not say its quality")
    }
    self.rateFactor = rateFactor
    let bits = (0..<count).map { base.bits[$0, default: 0] + dependent.bits[$0, default: 0] }
    let sum = bits.reduce(0, +)
    let mean = max(sum / Double(count), 1)
    bitsPerPicture = mean
    weights = bits.map { max($0 / mean, 0.02) }
    dependentShare =
      sum > 0 ? min(max(dependent.bits.values.reduce(0, +) / sum, 0.05), 0.95) : 0.5
  }
}
