// SPDX-License-Identifier: MPL-2.0

internal import PipelineFile
internal import StereoEncoder

/// The bitrates of the parts of a conversion in two passes.
///
/// The first pass encodes all parts at the same quality, so that its bytes say how many bits each
/// one needs. A part gets as much of the movie's bits as it has of these bytes, but no more than
/// the peak of the movie, which all parts keep; the rest goes to the others.
package struct RateShares: Equatable, Sendable {
  /// The bitrate of each part in kbit/s, for both eyes together.
  package let bitrates: [Int]

  private init(bitrates: [Int]) { self.bitrates = bitrates }

  /// A part in the first pass.
  package struct Measure {
    /// The bytes of its pictures.
    let bytes: Int
    /// In seconds.
    let duration: Double

    package init(bytes: Int, duration: Double) { (self.bytes, self.duration) = (bytes, duration) }
  }

  /// - Parameters:
  ///   - bitrate: of the movie, in kbit/s.
  ///   - peak: the highest bitrate of a part, in kbit/s; more than `bitrate`.
  package init(bitrate: Int, peak: Int, _ parts: [Measure]) {
    // From the part with the highest rate on, what it cannot use is left to those after it.
    let order = parts.indices.sorted {
      Double(parts[$0].bytes) * parts[$1].duration > Double(parts[$1].bytes) * parts[$0].duration
    }
    var bits = Double(bitrate) * parts.reduce(0) { $0 + $1.duration }
    var bytes = parts.reduce(0.0) { $0 + Double($1.bytes) }
    var bitrates = parts.map { _ in 0 }
    for number in order {
      let part = parts[number]
      let wanted = bits * Double(part.bytes) / max(1, bytes) / max(1e-9, part.duration)
      let rate = min(max(wanted.rounded(), Double(RateControl.lowestRate)), Double(peak))
      bitrates[number] = Int(rate)
      bits -= rate * part.duration
      bytes -= Double(part.bytes)
    }
    self.bitrates = bitrates
  }

  /// Returns the shares of a plan. The first process that needs them writes them into the folder,
  /// so that the others need not read all measurements.
  ///
  /// - Throws: a ``PartError`` if parts have not been measured.
  static func shares(
    _ folder: WorkFolder, _ plan: ConversionPlan, key: String
  ) throws(PartError) -> RateShares {
    if let bytes = try SmallFiles.bytes(of: folder.sharesFile),
      let json = try? JSON(parsing: bytes), json["key"]?.text == key
    {
      let known = (json["bitrates"]?.items ?? []).compactMap {
        $0.whole.flatMap { Int(exactly: $0) }
      }
      if known.count == plan.cuts.count, known.allSatisfy({ $0 > 0 }) {
        return RateShares(bitrates: known)
      }
    }
    let (bitrate, buffer) = try plan.rate()
    let receipts = plan.cuts.indices.map { folder.measure($0, plan, key: key) }
    if let missing = receipts.firstIndex(where: { $0 == nil }) {
      throw PartError(
        .repeatable, "part \(missing) has not been measured, and this is a plan of two passes",
        help: "gst-spatial part \(folder.path) \(missing) --measure")
    }
    let times = try folder.times(of: plan)
    // As within a part (RatePlan), the buffer is not planned to its last bit.
    let shares = RateShares(
      bitrate: bitrate, peak: max(bitrate, buffer.maximumRate * 95 / 100),
      zip(receipts, plan.cuts.indices).map { receipt, number in
        Measure(
          bytes: receipt?.size ?? 0,
          duration: plan.pictures(ofPart: number).map(times.duration(of:)) ?? 0)
      })
    let json = JSON.object([
      ("key", .string(key)), ("bitrates", .array(shares.bitrates.map { JSON($0) })),
    ])
    try SmallFiles.write(Array((json.line + "\n").utf8), to: folder.sharesFile)
    return shares
  }
}

extension ConversionPlan {
  /// The bitrate of the movie in kbit/s, and its buffer, which all parts keep.
  ///
  /// - Throws: a ``PartError`` if the plan has no bitrate that can be used.
  func rate() throws(PartError) -> (bitrate: Int, buffer: RateControl.VideoBuffer) {
    let text = values.last { $0.hasPrefix("bitrate=") }?.dropFirst("bitrate=".count) ?? ""
    guard let bitrate = Int(text), bitrate > 0, bitrate < 1 << 31,
      let buffer = RateControl.bitrate(kilobitsPerSecond: bitrate).effectiveBuffer
    else {
      throw PartError(
        .final, "the plan has no bitrate, which two passes need", help: "bitrate=… in kbit/s")
    }
    return (bitrate, buffer)
  }
}

extension PictureTimes {
  /// Returns the duration of some of the pictures, in seconds. The last one of all is shown for as
  /// long as the others are on average.
  func duration(of pictures: Range<Int>) -> Double {
    guard !pictures.isEmpty, times.indices.contains(pictures.upperBound - 1) else { return 0 }
    let first = Double(times[pictures.lowerBound])
    let end =
      pictures.upperBound < times.count
      ? Double(times[pictures.upperBound])
      : Double(times[pictures.upperBound - 1]) + 1e9 / (rate ?? 1)
    return (end - first) / 1e9
  }
}
