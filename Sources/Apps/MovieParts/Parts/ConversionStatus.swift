// SPDX-License-Identifier: MPL-2.0

internal import Glibc
package import PipelineFile

/// How far a conversion in parts is, as the files of its folder tell.
package struct ConversionStatus: Sendable {
  /// The number of parts.
  package let count: Int
  /// The numbers of the parts that are there.
  package let done: [Int]
  /// The numbers of the parts that are missing, or damaged if that was looked at.
  package let missing: [Int]
  /// The numbers of the parts whose files are not what their receipts say.
  package let damaged: [Int]
  /// The number of parts that the first of two passes has measured; nil with one pass.
  package let measured: Int?
  /// Whether the movie has been joined.
  package let isJoined: Bool
  /// The files that are being written, or that killed processes have left.
  package let unfinished: [String]
  /// Processor time of the parts that are there, in hours.
  package let coreHours: Double
  /// When the parts that are missing will be there at the speed so far, in seconds from now; nil if
  /// that cannot be told.
  package let secondsLeft: Double?

  /// Looks at a folder.
  ///
  /// - Parameter verifies: whether all parts are read.
  package init(_ folder: WorkFolder, verifies: Bool) throws(PartError) {
    let plan = try folder.plan()
    let key = try plan.key
    var (done, missing, damaged): ([Int], [Int], [Int]) = ([], [], [])
    var receipts: [PartReceipt] = []
    isJoined = folder.movie(plan) != nil
    for number in plan.cuts.indices {
      guard let receipt = folder.receipt(number, plan, key: key) else {
        missing.append(number)
        continue
      }
      if verifies, try FileHash.hash(ofFile: folder.partFile(number)) != receipt.hash {
        damaged.append(number)
        missing.append(number)
      } else {
        done.append(number)
        receipts.append(receipt)
      }
    }
    count = plan.cuts.count
    measured =
      plan.isTwoPass
      ? plan.cuts.indices.count { folder.measure($0, plan, key: key) != nil } : nil
    (self.done, self.missing, self.damaged) = (done, missing, damaged)
    unfinished = folder.unfinished
    coreHours = receipts.reduce(0) { $0 + $1.coreSeconds } / 3600
    secondsLeft = Self.secondsLeft(receipts, missing: missing.count)
  }

  /// Whether all parts, or the movie, are there.
  package var isComplete: Bool { isJoined || missing.isEmpty }

  private static func secondsLeft(_ receipts: [PartReceipt], missing: Int) -> Double? {
    let starts = receipts.map { Double($0.finished) - $0.seconds }
    guard missing > 0, receipts.count > 1, let start = starts.min(),
      let end = receipts.map(\.finished).max(), Double(end) > start
    else { return nil }
    return (Double(end) - start) / Double(receipts.count) * Double(missing)
  }

  /// The facts in words.
  package var text: String {
    guard !isJoined else { return "the movie is there" }
    var lines = ["\(done.count) of \(count) parts"]
    if let measured { lines.append("measured: \(measured)") }
    func list(_ numbers: [Int]) -> String {
      numbers.prefix(20).map(String.init).joined(separator: ", ")
        + (numbers.count > 20 ? ", …" : "")
    }
    if !missing.isEmpty { lines.append("missing: \(list(missing))") }
    if !damaged.isEmpty { lines.append("damaged: \(list(damaged))") }
    if !unfinished.isEmpty { lines.append("being written, or left: \(unfinished.count) files") }
    let hours = Double(Int(min(coreHours, 1e9) * 1000)) / 1000
    lines.append("processor time so far: \(hours) h")
    if let secondsLeft { lines.append("time left at this speed: \(Int(min(secondsLeft, 1e9))) s") }
    return lines.joined(separator: "\n")
  }

  /// The facts as an object.
  package var json: JSON {
    .object([
      ("parts", JSON(count)), ("done", JSON(done.count)), ("joined", .bool(isJoined)),
      ("measured", JSON(measured)),
      ("missing", .array(missing.map { JSON($0) })),
      ("damaged", .array(damaged.map { JSON($0) })), ("unfinished", JSON(unfinished.count)),
      ("core-hours", JSON(coreHours)), ("seconds-left", JSON(secondsLeft)),
    ])
  }
}
