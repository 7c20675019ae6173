// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import PipelineFile

/// The folder of a conversion in parts. All state is in its files: a part is done when its file has
/// its name and its receipt. Nothing is locked, so any number of processes on any number of
/// machines may use it.
package struct WorkFolder: Sendable {
  /// The path of the folder.
  package let path: String

  package init(_ path: String) {
    let trimmed = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    self.path = trimmed.isEmpty ? "." : trimmed
  }

  package var planFile: String { "\(path)/plan.json" }
  package var timesFile: String { "\(path)/times" }
  /// The receipt of the joined movie.
  package var movieReceipt: String { "\(path)/movie.json" }

  /// The movie with its first picture alone, for its pieces.
  package var headFile: String { "\(path)/head" }

  /// `part-00017.mov`
  package func partFile(_ number: Int) -> String { "\(path)/\(Self.name(number)).mov" }
  /// `part-00017.json`
  package func receiptFile(_ number: Int) -> String { "\(path)/\(Self.name(number)).json" }

  /// The name of a part's file while this process writes it.
  package func draft(_ number: Int) -> String {
    "\(path)/\(Self.name(number)).\(SmallFiles.owner).mov"
  }

  /// `part-00017.pass`: what the names of the encoder's statistics of the first pass begin with.
  package func statistics(_ number: Int) -> String { "\(path)/\(Self.name(number)).pass" }
  /// The same while this process writes them.
  package func statisticsDraft(_ number: Int) -> String {
    "\(path)/\(Self.name(number)).\(SmallFiles.owner).incomplete.pass"
  }
  /// `part-00017.pass.json`: the receipt of the first pass.
  package func measureFile(_ number: Int) -> String { statistics(number) + ".json" }
  /// The bitrate of each part of two passes.
  package var sharesFile: String { "\(path)/shares.json" }

  private static func name(_ number: Int) -> String { "part-\(digits(number))" }

  /// The number of a part in names of files: five digits, or more, so that names sort as numbers.
  static func digits(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 5 - digits.count)) + digits
  }

  // MARK: The plan

  /// Returns the plan.
  ///
  /// - Throws: a ``PartError`` if there is none, or if it is damaged.
  package func plan() throws(PartError) -> ConversionPlan {
    guard let bytes = try SmallFiles.bytes(of: planFile) else {
      throw PartError(
        .final, "'\(path)' has no plan", help: "gst-spatial plan INPUT OUTPUT --work \(path)")
    }
    return try ConversionPlan(parsing: bytes, path: planFile)
  }

  /// Returns the times of the pictures.
  ///
  /// - Throws: a ``PartError`` if the list is missing or is not that of the plan.
  package func times(of plan: ConversionPlan) throws(PartError) -> PictureTimes {
    guard let bytes = try SmallFiles.bytes(of: timesFile),
      try FileHash.hash(of: bytes) == plan.timesHash,
      let times = PictureTimes(bytes, runningTimeShift: plan.runningTimeShift),
      times.times.count == plan.pictureCount
    else {
      throw PartError(
        .final, "'\(timesFile)' is missing, or is not that of the plan",
        help: "plan again, in an empty folder")
    }
    return times
  }

  /// Writes a plan, or checks that the folder has the same one.
  ///
  /// - Returns: the plan of the folder.
  /// - Throws: a ``PartError`` if the folder has another plan, or cannot be written.
  package func adopt(
    _ plan: ConversionPlan, _ times: PictureTimes
  ) throws(PartError) -> ConversionPlan {
    try SmallFiles.make(folder: path)
    if let bytes = try SmallFiles.bytes(of: planFile) {
      let known = try ConversionPlan(parsing: bytes, path: planFile)
      if let difference = plan.difference(from: known) {
        throw PartError(
          .final, "'\(path)' is of another conversion: \(difference) differ",
          help: "use another folder, or remove this one")
      }
      // The first writer may have been killed before it wrote the list.
      _ = try self.times(of: known)
      return known
    }
    // `join` removes the parts, and must not remove what other programs or the user have named so.
    if let other = SmallFiles.names(in: path).first(where: Self.isPart) {
      throw PartError(
        .final, "'\(path)' has no plan, but '\(other)', which is named like a part",
        help: "use an empty folder")
    }
    try SmallFiles.write(times.bytes, to: timesFile)
    try SmallFiles.write(Array((try plan.json.text() + "\n").utf8), to: planFile)
    return plan
  }

  // MARK: Parts

  /// Returns the receipt of a part if its file has the size that the receipt says; nil if the part
  /// has to be encoded.
  package func receipt(_ number: Int, _ plan: ConversionPlan, key: String) -> PartReceipt? {
    guard let bytes = try? SmallFiles.bytes(of: receiptFile(number)),
      let receipt = PartReceipt(parsing: bytes), receipt.key == key,
      receipt.pictureCount == plan.pictures(ofPart: number)?.count,
      SmallFiles.size(of: partFile(number)) == receipt.size
    else { return nil }
    return receipt
  }

  /// Returns the receipt of the first pass of a part; nil if the part has to be measured.
  package func measure(_ number: Int, _ plan: ConversionPlan, key: String) -> PartReceipt? {
    guard let bytes = try? SmallFiles.bytes(of: measureFile(number)),
      let receipt = PartReceipt(parsing: bytes), receipt.key == key,
      receipt.pictureCount == plan.pictures(ofPart: number)?.count,
      receipt.hash == (try? statisticsHash(statistics(number)))
    else { return nil }
    return receipt
  }

  /// Returns the hash of all statistics whose paths begin with a path.
  func statisticsHash(_ start: String) throws(PartError) -> String {
    var hashes = ""
    for ending in PassFiles.endings(after: start) {
      hashes += try FileHash.hash(ofFile: start + ending)
    }
    return try FileHash.hash(of: Array(hashes.utf8))
  }

  /// The receipt of the movie, if it has been joined and is still there; nil if it has not.
  package func movie(_ plan: ConversionPlan) -> PartReceipt? {
    guard let bytes = try? SmallFiles.bytes(of: movieReceipt),
      let receipt = PartReceipt(parsing: bytes), receipt.key == (try? plan.key),
      SmallFiles.size(of: plan.output) == receipt.size
    else { return nil }
    return receipt
  }

  /// Removes all parts, and the drafts that killed writers have left. Other files of the folder
  /// stay.
  package func removeParts() {
    for name in SmallFiles.names(in: path) where Self.isPart(name) || Self.isDraft(name) {
      SmallFiles.remove("\(path)/\(name)")
    }
    SmallFiles.remove(headFile)
    if (try? plan())?.isTwoPass ?? false { SmallFiles.remove(sharesFile) }
  }

  /// Removes all that a conversion has left, and the folder if nothing else is in it.
  package func remove() {
    removeParts()
    for file in [planFile, timesFile, movieReceipt] { SmallFiles.remove(file) }
    rmdir(path)
  }

  /// Whether a name is `part-00017.mov`, `part-00017.json`, that of a file of the first pass or of
  /// one of their drafts.
  private static func isPart(_ name: String) -> Bool {
    guard name.hasPrefix("part-") else { return false }
    let rest = name.dropFirst("part-".count)
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    return digits.count >= 5 && rest.dropFirst(digits.count).hasPrefix(".")
      && ([".mov", ".json", ".incomplete"].contains { name.hasSuffix($0) }
        || rest.contains(".pass."))
  }

  /// Whether a name is that of a draft of another file of the folder.
  private static func isDraft(_ name: String) -> Bool {
    name.hasSuffix(".incomplete")
      && ["plan.json.", "times.", "movie.json.", "shares.json."].contains { name.hasPrefix($0) }
      || name.hasPrefix("head.") && name.contains(".incomplete")
  }

  /// The parts that processes seem to be at work on: the names of files that are not finished.
  package var unfinished: [String] {
    SmallFiles.names(in: path).filter { Self.isPart($0) && $0.contains(".incomplete") }
  }
}
