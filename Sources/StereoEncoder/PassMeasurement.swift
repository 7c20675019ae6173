// SPDX-License-Identifier: MPL-2.0

import StereoVideo

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What the first of two passes wrote down of one eye.
struct PassStatistics {
  private(set) var pictureCount = 0
  /// What all pictures take.
  private(set) var bits = 0.0

  /// Reads what x265 wrote: a line of options, then for each picture
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
    guard pictureCount > 0 else {
      throw .setting(
        name: "pass", reason: "'\(path)' holds no pictures; the first pass did not end")
    }
  }

  private mutating func add(_ line: String) {
    guard line.hasPrefix("in:") else { return }
    pictureCount += 1
    for field in line.split(separator: " ") {
      let parts = field.split(separator: ":")
      guard parts.count == 2, ["tex", "mv", "misc"].contains(parts[0]) else { continue }
      bits += max(0, Double(parts[1]) ?? 0)
    }
  }
}

/// What the first of two passes found out about both eyes.
struct PassMeasurement {
  let pictureCount: Int64
  /// How much of both eyes' bits the dependent eye's are, from 0.05 to 0.95.
  let dependentShare: Double

  init(_ pass: EncodingPass, baseEye: Eye) throws(StereoEncoderError) {
    let base = try PassStatistics(of: baseEye, pass)
    let dependent = try PassStatistics(of: baseEye.other, pass)
    guard base.pictureCount == dependent.pictureCount else {
      throw .setting(
        name: "pass",
        reason: "the first one had \(base.pictureCount) and \(dependent.pictureCount) pictures")
    }
    pictureCount = Int64(base.pictureCount)
    let sum = base.bits + dependent.bits
    dependentShare = sum > 0 ? min(max(dependent.bits / sum, 0.05), 0.95) : 0.5
  }
}
