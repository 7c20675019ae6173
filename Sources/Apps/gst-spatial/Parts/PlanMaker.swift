// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import MovieParts
internal import PipelineFile
internal import PipelineHost
internal import StereoMedia

/// Makes the plan of a conversion in parts.
struct PlanMaker {
  /// The inputs, and the output.
  let files: ConversionChoice.Files
  let output: String
  /// Parameters of the ready pipeline, as `name=value`.
  let values: [String]
  let layout: LayoutChoice
  /// How the pictures of two files are paired.
  var pairing = EyeAlignment.times
  let namesLayout: Bool
  /// The intended duration of a part.
  let partDuration: Duration
  /// The part of the movie to convert, in its own times; nil for its beginning and its end.
  var range: (from: Duration?, until: Duration?) = (nil, nil)
  /// Whether a bitrate is met over all parts, by two passes.
  var isTwoPass = false
  let work: WorkFolder

  /// The parameters that belong to the conversion as a whole, or to a single pass.
  private static let refused = ["pass", "pass-file", "input", "output", "left", "right"]

  /// The maximum distance between keyframes, which the ready pipelines leave at its default.
  private static let keyframeDistance = 60

  /// Returns the plan that the folder has after this.
  ///
  /// - Throws: a ``PartError``, or the problems of the pipeline.
  func plan() async throws -> ConversionPlan {
    let (input, right) = (files.input, files.other)
    if let right, let url = [input, right].first(where: MovieLocation.isURL) {
      throw PartError(
        .final, "'\(url)' is a URL: a movie for each eye is read from files alone",
        help: "download it first")
    }
    let index = MovieLocation.isURL(input) ? try RemoteIndex(input, in: temporaryFolder) : nil
    var files = files
    files.output = output
    if let index { (files.input, files.url) = (index.path, input) }
    let (pipeline, chosen): (String, [String])
    do {
      (pipeline, chosen) = try await ConversionChoice(
        files: files, values: values, to: .mvhevc, layout: layout, pairing: pairing,
        namesLayout: namesLayout
      ).make()
    } catch let refusal as ConversionChoice.Refusal {
      throw PartError(.final, index?.renamed(refusal.reason) ?? refusal.reason)
    }
    let ends = ["input=", "left=", "right=", "output="]
    let settings =
      chosen.filter { value in !ends.contains { value.hasPrefix($0) } }
      + ConversionChoice.usable(values, by: pipeline)
    if isTwoPass, let reason = TwoPassFiles.refusal(pipeline, settings) {
      throw PartError(.final, reason)
    }
    try check(settings)
    guard (right != nil) == (pipeline == "two-files-to-mvhevc") else {
      throw PartError(
        .final, "'\(pipeline)' cannot be run in parts", help: "convert it in one piece")
    }
    try checkPipeline(pipeline, settings)
    var times: PictureTimes
    do {
      times = try await PictureTimes.scan(files.input)
    } catch let error as PartError {
      throw PartError(error.kind, index?.renamed(error.message) ?? error.message, help: error.help)
    }
    if let right { times = try times.shared(with: try await PictureTimes.scan(right), of: right) }
    let pictures = try pictures(of: times)
    let plan = try ConversionPlan(
      x265: try ConversionPlan.installedX265(),
      input: try PlannedInput(path: absolute(input), named: input),
      rightInput: try right.map { try PlannedInput(path: absolute($0), named: $0) },
      output: absolute(output), pipeline: pipeline, values: settings, creationTime: creationTime,
      times: times,
      cuts: PartCuts.cuts(
        pictures: pictures, rate: times.rate, partDuration: partDuration,
        keyframeDistance: Self.keyframeDistance), end: pictures.upperBound, isTwoPass: isTwoPass)
    return try work.adopt(plan, times)
  }

  /// Returns the pictures to convert: those whose times are in the range.
  private func pictures(of times: PictureTimes) throws(PartError) -> Range<Int> {
    func number(_ time: Duration?) -> Int? {
      time.map { times.first(from: UInt64(clamping: Int64($0 / .nanoseconds(1)))) }
    }
    let (from, until) = (number(range.from) ?? 0, number(range.until) ?? times.times.count)
    guard from < until else {
      throw PartError(
        .final, "'\(files.input)' has no pictures from --from to --until",
        help: "its last picture is at \(Double(times.times.last ?? 0) / 1e9) s")
    }
    return from..<until
  }

  private func check(_ settings: [String]) throws(PartError) {
    for setting in settings {
      let name = String(setting.prefix { $0 != "=" })
      if Self.refused.contains(name) {
        throw PartError(.final, "'\(name)' cannot be set for a conversion in parts")
      }
      if name == "offset", setting != "offset=0s" {
        throw PartError(
          .final, "movies of two eyes that do not begin together cannot be converted in parts",
          help: "convert them in one piece, without --work")
      }
      guard name == "bitrate", setting != "bitrate=0", !isTwoPass else { continue }
      throw PartError(
        .final,
        "a bitrate cannot be met in parts in one pass: each part would get the same rate, whether "
          + "it needs it or not, and the movie would look much worse",
        help: "add --two-pass, which measures all parts first, or set quality=… in its place")
    }
  }

  /// Throws if the pipeline or its parameters have mistakes, or if it cannot be run in parts.
  private func checkPipeline(_ pipeline: String, _ settings: [String]) throws {
    let registry = Installation.prepare()
    let inputs = files.other.map { ["left=\(files.input)", "right=\($0)"] }
    let loaded = try HostedPipeline.load(
      try Installation.path(ofPipeline: pipeline),
      arguments: (inputs ?? ["input=\(files.input)"]) + ["output=\(output)"] + settings,
      registry: registry)
    try PartEncoder.checkRange(
      loaded.graph.withPicturesAlone(), pipeline, isOneMovie: inputs == nil)
  }

  private var temporaryFolder: String {
    getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
  }

  private func absolute(_ path: String) -> String {
    guard !MovieLocation.isURL(path) else { return path }
    let canonical = LocalFiles().canonicalPath(of: path)
    guard !canonical.hasPrefix("/"), let folder = getcwd(nil, 0) else { return canonical }
    defer { free(folder) }
    return String(cString: folder) + "/" + canonical
  }

  /// `SOURCE_DATE_EPOCH`, or now.
  private var creationTime: Int64 {
    let given = getenv("SOURCE_DATE_EPOCH").flatMap { Int64(String(cString: $0)) }
    return given.flatMap { $0 >= 0 ? $0 : nil } ?? Int64(time(nil))
  }
}
