// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import ISOBMFF
package import PipelineFile
package import PipelineHost
internal import StereoEncoder
internal import StereoMedia
internal import StereoVideo

/// Encodes a part of a plan: the ready pipeline with `picturerange` after its decoder, and without
/// other tracks.
package struct PartEncoder: Sendable {
  private let folder: WorkFolder
  private let plan: ConversionPlan
  private let key: String
  private let number: Int
  private let pictures: Range<Int>

  /// The result of ``encode(_:_:warn:)`` and ``measure(_:_:warn:)``.
  package enum Outcome: Sendable {
    /// The part, its measurements or the whole movie were there already.
    case wasThere
    case encoded(PartReceipt)
  }

  /// Reads the plan.
  ///
  /// - Throws: a ``PartError`` if there is no such part, or if this program cannot make it.
  package init(_ folder: WorkFolder, part number: Int) throws(PartError) {
    self.folder = folder
    plan = try folder.plan()
    key = try plan.key
    self.number = number
    guard let pictures = plan.pictures(ofPart: number) else {
      throw PartError(
        .final,
        "'\(folder.path)' has no part \(number): its \(plan.cuts.count) parts are numbered from 0")
    }
    self.pictures = pictures
  }

  /// Encodes the part, unless it is there.
  ///
  /// - Parameters:
  ///   - pipelinePath: the path of the plan's ready pipeline.
  ///   - registry: the installed elements.
  ///   - warn: called with the warnings of the run.
  /// - Throws: a ``PartError``, or the ``RunFailure`` or ``PipelineProblems`` of the pipeline.
  package func encode(
    _ pipelinePath: String, _ registry: InstalledElements,
    warn: @escaping @Sendable (Diagnostic) -> Void
  ) async throws -> Outcome {
    guard folder.movie(plan) == nil, try !isIntact() else { return .wasThere }
    try check()
    var values = plan.values
    var limits: [(name: String, value: String)] = []
    if plan.isTwoPass {
      let bitrate = try RateShares.shares(folder, plan, key: key).bitrates[number]
      guard folder.measure(number, plan, key: key) != nil else {
        throw PartError(
          .repeatable, "part \(number) has not been measured, or its measurements are damaged",
          help: "gst-spatial part \(folder.path) \(number) --measure")
      }
      values.removeAll { $0.hasPrefix("bitrate=") }
      values += ["bitrate=\(bitrate)", "pass=pass2", "pass-file=\(folder.statistics(number))"]
      let buffer = try plan.rate().buffer
      limits = [
        ("max-bitrate", "\(buffer.maximumRate)"), ("vbv-buffer-size", "\(buffer.size)"),
      ]
    }
    let start = ContinuousClock.now
    let draft = folder.draft(number)
    defer { removeDrafts() }
    try await run(pipelinePath, registry, draft, values, limits, warn: warn)
    try SmallFiles.sync(file: draft)
    let receipt = receipt(
      since: start, hash: try FileHash.hash(ofFile: draft), size: SmallFiles.size(of: draft) ?? 0,
      pictureCount: try countPictures(draft))
    try SmallFiles.move(draft, to: folder.partFile(number))
    try SmallFiles.write(
      Array((receipt.json.line + "\n").utf8), to: folder.receiptFile(number))
    return .encoded(receipt)
  }

  /// Runs the first of two passes over the part, unless that was done: what its pictures need.
  ///
  /// - Parameters: as of ``encode(_:_:warn:)``.
  /// - Throws: a ``PartError``, or the ``RunFailure`` or ``PipelineProblems`` of the pipeline.
  package func measure(
    _ pipelinePath: String, _ registry: InstalledElements,
    warn: @escaping @Sendable (Diagnostic) -> Void
  ) async throws -> Outcome {
    guard plan.isTwoPass else {
      throw PartError(
        .final, "the plan has one pass, which measures nothing",
        help: "leave out --measure, or plan with --two-pass")
    }
    guard folder.movie(plan) == nil, folder.measure(number, plan, key: key) == nil else {
      return .wasThere
    }
    try check()
    let start = ContinuousClock.now
    let (draft, statistics) = (folder.draft(number), folder.statisticsDraft(number))
    defer { removeDrafts() }
    try await run(
      pipelinePath, registry, draft, plan.values + ["pass=pass1", "pass-file=\(statistics)"],
      warn: warn)
    let receipt = receipt(
      since: start, hash: try folder.statisticsHash(statistics),
      size: try pictureBytes(draft), pictureCount: try countPictures(draft))
    for ending in PassFiles.endings(after: statistics) {
      try SmallFiles.sync(file: statistics + ending)
      try SmallFiles.move(statistics + ending, to: folder.statistics(number) + ending)
    }
    try SmallFiles.write(
      Array((receipt.json.line + "\n").utf8), to: folder.measureFile(number))
    return .encoded(receipt)
  }

  private func receipt(
    since start: ContinuousClock.Instant, hash: String, size: Int, pictureCount: Int
  ) -> PartReceipt {
    PartReceipt(
      key: key, hash: hash, size: size, pictureCount: pictureCount, coreSeconds: Self.coreSeconds,
      seconds: start.duration(to: .now) / .seconds(1), finished: Int64(time(nil)),
      host: SmallFiles.owner)
  }

  /// Throws if this program cannot make the part, or if its input is not the one that was planned.
  private func check() throws(PartError) {
    try checkProgram()
    for input in plan.inputs { try input.check() }
    _ = try folder.times(of: plan)
  }

  /// Whether the part is there, with the bytes that its receipt says.
  private func isIntact() throws(PartError) -> Bool {
    guard let receipt = folder.receipt(number, plan, key: key) else { return false }
    return try FileHash.hash(ofFile: folder.partFile(number)) == receipt.hash
  }

  /// Throws if this is not the program that the plan is for.
  private func checkProgram() throws(PartError) {
    guard plan.version == ConversionPlan.currentVersion else {
      throw PartError(
        .final,
        "the plan was made by gst-spatial \(plan.version), and this is "
          + "\(ConversionPlan.currentVersion)", help: "all parts must be made by one version")
    }
    let build = try ConversionPlan.installedX265()
    guard plan.x265 == build else {
      throw PartError(
        .final, "the plan is for build \(plan.x265) of libx265, and this is build \(build)",
        help: "all parts must be made by one build")
    }
  }

  private func run(
    _ pipelinePath: String, _ registry: InstalledElements, _ draft: String, _ values: [String],
    _ limits: [(name: String, value: String)] = [], warn: @escaping @Sendable (Diagnostic) -> Void
  ) async throws {
    plan.setCreationTime()
    let arguments = plan.inputValues + ["output=\(draft)"] + values
    let whole = try HostedPipeline.load(pipelinePath, arguments: arguments, registry: registry)
    let graph = plan.reading(whole.graph).withPicturesAlone().setting(
      limits, ofType: "mvhevcmux")
    let isOneMovie = plan.rightInput == nil
    try Self.checkRange(graph, plan.pipeline, isOneMovie: isOneMovie)
    let range = [
      (name: "times", value: folder.timesFile), ("first", "\(pictures.lowerBound)"),
      ("count", "\(pictures.count)"),
    ]
    let limited = graph.insertingAfterDecoders("picturerange") { number in
      // The eyes of one movie are sought together.
      range + (number > 0 && isOneMovie ? [("seeks", "false")] : [])
    }
    var options = PipelineRun.Options()
    options.overwrites = true
    try await PipelineRun(whole.with(limited), options: options).run(warn: warn)
  }

  /// Throws if the pictures of a pipeline cannot be cut into ranges.
  ///
  /// - Parameter isOneMovie: whether one movie has both eyes.
  package static func checkRange(
    _ graph: ResolvedGraph, _ pipeline: String, isOneMovie: Bool
  ) throws(PartError) {
    let decoders = graph.pictureDecoders
    let known = isOneMovie ? [["decodebin"], ["mvcdec", "mvcdec"]] : [["decodebin", "decodebin"]]
    let isSpatial = graph.elements.contains { element in
      element.type.known == "mvhevcmux"
        && graph.links.contains {
          graph.elements[$0.sink.element].name == element.name && $0.sink.pad == "left"
        }
    }
    guard known.contains(decoders), isSpatial else {
      throw PartError(
        .final,
        "'\(pipeline)' cannot be run in parts: parts are made of movies that are encoded as "
          + "spatial ones, with both eyes in one video track, or with a file for each eye",
        help: "convert it in one piece")
    }
  }

  /// Returns the number of pictures of a file.
  private func countPictures(_ path: String) throws -> Int {
    let reader = try MovieReader(path: path)
    let count = reader.movie.tracks.first { $0.handlerType == "vide" }?.samples.count ?? 0
    guard count == pictures.count else {
      throw PartError(
        .repeatable,
        "part \(number) has \(count) pictures, and the plan has \(pictures.count) for it")
    }
    return count
  }

  /// Returns the bytes of the pictures of a file.
  private func pictureBytes(_ path: String) throws -> Int {
    let samples = try MovieReader(path: path).movie.tracks.first { $0.handlerType == "vide" }?
      .samples
    return (0..<pictures.count).reduce(0) { $0 + Int(samples?.sample(at: $1)?.size ?? 0) }
  }

  /// Removes what a failed run has left under this process's own name.
  private func removeDrafts() {
    let name = folder.draft(number).dropLast(".mov".count)
    for file in SmallFiles.names(in: folder.path) where "\(folder.path)/\(file)".hasPrefix(name) {
      SmallFiles.remove("\(folder.path)/\(file)")
    }
  }

  /// Processor time of this process so far, in seconds.
  private static var coreSeconds: Double {
    var usage = rusage()
    guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }
}

extension ConversionPlan {
  /// The version of this program.
  package static var currentVersion: String { ProjectVersion.current }

  /// Returns the build of the installed libx265.
  ///
  /// - Throws: a ``PartError`` if there is none that can be used.
  package static func installedX265() throws(PartError) -> Int {
    do throws(StereoEncoderError) {
      return Int(try X265Library(bitDepth: 8).build)
    } catch {
      throw PartError(.final, "\(error)")
    }
  }

  /// Returns a graph that reads the input from where it is.
  func reading(_ graph: ResolvedGraph) -> ResolvedGraph {
    MovieLocation.isURL(input.path) ? graph.reading(input.path) : graph
  }

  /// Lets what this process writes have the creation time of the plan, so that all who write the
  /// same part write the same bytes.
  func setCreationTime() { setenv("SOURCE_DATE_EPOCH", "\(creationTime)", 1) }
}
