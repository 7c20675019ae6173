// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import MovieParts
internal import StereoMedia

struct ConvertCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Convert a movie with the ready pipeline that suits it.",
    discussion: """
      A packed movie, or one movie for each eye, becomes a spatial movie. A spatial movie becomes \
      what --to selects, by default side by side. If a movie does not signal its layout, the \
      layout is detected from its pictures. The equivalent 'gst-spatial run' line is printed, so \
      that it can be repeated and modified.

      Video is encoded at a constant quality, by default 22. Lower values give better quality and \
      larger files: at 18 differences from the original are hardly visible, at 28 they are. \
      Slower presets give smaller files at the same quality. A bitrate is for channels that have \
      a limit.

      EXAMPLES
        gst-spatial convert side-by-side.mp4
        gst-spatial convert side-by-side.mp4 spatial.mov
        gst-spatial convert side-by-side.mp4 --quality 18 -o spatial.mov
        gst-spatial convert --left left.mp4 --right right.mp4 spatial.mov
        gst-spatial convert concert_180_LR.mp4 concert.mov
        gst-spatial convert movie.mp4 spatial.mov --projection fisheye
        gst-spatial convert side-by-side.mp4 spatial.mov bitrate=12000 --two-pass
        gst-spatial convert spatial.mov anaglyph.mp4 --to anaglyph
        gst-spatial convert spatial.mov flat.mp4 --to 2d
        gst-spatial convert spatial.mov left.mp4 right.mp4 --to two-files
        gst-spatial convert side-by-side.mp4 scene.mov --from 0.2 --until 0:00:00.6
        gst-spatial convert side-by-side.mp4 spatial.mov --work parts --jobs 4
        gst-spatial convert movies/ --to-folder spatial/ --jobs 2

      With --work, a conversion is done in parts, by as many processes as --jobs says; if it is \
      stopped, the same line carries on with it. So is a range (--from, --until), whose first \
      picture is the first one at or after that time. With --to-folder, each movie is converted by \
      itself; those that are there already are skipped. Exit code 1 then means that trying again \
      may help, 2 that it mends nothing.
      """)

  @Argument(
    help: """
      The input, or one for each eye (left, right, output); the output, by default named after the \
      input; parameters of the ready pipeline as name=value.
      """,
    completion: .file())
  var arguments: [String] = []

  @Option(help: "The left eye's movie.", completion: .file())
  var left: String?

  @Option(help: "The right eye's movie.", completion: .file())
  var right: String?

  @Option(name: .shortAndLong, help: "The output.", completion: .file())
  var output: String?

  @Option(help: "The quality, from 0 (best) to 51.")
  var quality: String?

  @Option(help: "How thoroughly to encode: ultrafast to placebo, by default medium.")
  var preset: String?

  @Option(help: "The average bitrate of both eyes together in kbit/s, instead of a quality.")
  var bitrate: String?

  @Option(
    help: """
      The output: mvhevc, immersive, sbs, half-sbs and half-tb (for 3D television sets), tb, \
      anaglyph, 2d, two-files.
      """)
  var to: ConversionChoice.Target?

  @Option(
    help: """
      Which pictures of two files are a pair: those of the same times, or the first ones of both \
      and so on (beginnings).
      """)
  var pair: EyeAlignment = .times

  @Option(help: "The first time to convert, such as 90 or 0:01:30; by default the beginning.")
  var from: TimeArgument?

  @Option(help: "The time to stop at; by default the end.")
  var until: TimeArgument?

  @Option(help: "Convert in parts, with this folder for them.", completion: .directory)
  var work: String?

  @Option(help: "The duration of a part.")
  var parts: TimeArgument?

  @Option(help: "How many processes run at a time, with --work or --to-folder.")
  var jobs: Int?

  @Option(
    help: "Convert all these movies, and those in these folders, into a folder.",
    completion: .directory)
  var toFolder: String?

  @OptionGroup var layout: LayoutOptions

  @Flag(
    help:
      "Encode in two passes, so that bitrate=… is met at an even quality.")
  var twoPass = false

  @Flag(name: [.customShort("y"), .long], help: "Replace an existing output.")
  var force = false

  @Flag(help: "Show what would be done.")
  var dryRun = false

  @Flag(help: "Print events as JSON.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print neither progress nor a summary.")
  var quiet = false

  @Flag(help: "Show the places of errors in the ready pipeline, too.")
  var verbose = false

  func validate() throws {
    if let jobs, jobs < 1 { throw ValidationError("--jobs is at least 1.") }
    guard toFolder == nil else {
      guard work == nil, parts == nil, output == nil, left == nil, right == nil, !twoPass, !dryRun,
        to != .twoFiles, !isRange
      else {
        throw ValidationError(
          "--to-folder does not go with --work, --parts, --output, --left, --right, --two-pass, "
            + "--from, --until, --dry-run or --to two-files.")
      }
      return
    }
    guard work != nil || parts == nil && jobs == nil else {
      throw ValidationError("--parts and --jobs need --work or --to-folder.")
    }
    _ = try files()
    guard
      work == nil && !isRange
        || !dryRun && [nil, .mvhevc].contains(to)
    else {
      throw ValidationError(
        "\(isRange ? "--from and --until are" : "--work is") for what becomes a spatial movie, "
          + "without --dry-run.")
    }
  }

  /// Whether a part of the movie is converted.
  private var isRange: Bool { from != nil || until != nil }

  /// Returns the files, whether they are options or only in their order.
  private func files() throws(ValidationError) -> ConversionChoice.Files {
    var paths = arguments.filter { !PipelineArguments.isValue($0) }
    guard (left == nil) == (right == nil) else {
      throw ValidationError("--left and --right belong together.")
    }
    if let left, let right { paths.insert(contentsOf: [left, right], at: 0) }
    let isEyes = left != nil
    if let output { paths.append(output) }
    guard let input = paths.first else {
      throw ValidationError("Specify a movie, or one for each eye.")
    }
    switch (paths.count, isEyes) {
    case (1, _): return .init(input: input)
    case (2, true): return .init(input: input, other: paths[1], areEyes: true)
    case (2, false): return .init(input: input, output: paths[1])
    case (3, _):
      return .init(input: input, other: paths[1], output: paths[2], areEyes: isEyes)
    default: throw ValidationError("There are more files than the inputs and an output.")
    }
  }

  func run() async throws {
    var values = arguments.filter(PipelineArguments.isValue)
    for (name, value) in [("quality", quality), ("preset", preset), ("bitrate", bitrate)] {
      if let value { values.append("\(name)=\(value)") }
    }
    if let toFolder { return try await convertAll(into: toFolder, values) }
    let files = try files()
    var choice = layout.choice
    choice.add(values)
    if work != nil || isRange { return try await convertInParts(files, values, choice) }
    choice.asksUser = !json && !dryRun
    let (pipeline, chosen): (String, [String])
    do {
      (pipeline, chosen) = try await ConversionChoice(
        files: files, values: values, to: to, layout: choice, pairing: pair,
        namesLayout: layout.layout != nil || layout.projection != nil
      ).make()
    } catch let refusal as ConversionChoice.Refusal {
      Terminal.error.line("error: \(refusal.reason)")
      throw ExitCode.mistakes
    }
    if force, output == nil, let path = files.output, access(path, F_OK) == 0,
      !ConversionChoice.isSpatialMovie(path),
      pipeline.hasSuffix("to-mvhevc")
        || pipeline.hasSuffix("to-immersive")
          && ConversionChoice.ending(of: path) == ConversionChoice.ending(of: files.input)
    {
      // `convert *.mp4 --force` would replace the last of them.
      Terminal.error.line(
        "error: '\(path)' is not a spatial movie, so it may be one of the inputs; to replace it, "
          + "use --output \(ShellWord.quoted(path))")
      throw ExitCode.wouldOverwrite
    }
    values = ConversionChoice.usable(values, by: pipeline)
    guard twoPass else { return try await run([pipeline] + chosen + values, isForced: force) }
    guard let output = files.output else {
      Terminal.error.line("error: --two-pass needs an output: --output spatial.mov")
      throw ExitCode.mistakes
    }
    let first = TwoPassFiles(output)
    if let reason = TwoPassFiles.refusal(pipeline, values) {
      Terminal.error.line("error: \(reason)")
      throw ExitCode.mistakes
    }
    // Checked before the first pass, not after it.
    guard force || dryRun || access(output, F_OK) != 0 else {
      Terminal.error.line("error: '\(output)' already exists; use --force to replace it")
      throw ExitCode.wouldOverwrite
    }
    if let taken = first.taken {
      Terminal.error.line(
        "error: the first pass needs the name '\(taken)', which already exists; move that file")
      throw ExitCode.wouldOverwrite
    }
    defer { first.remove() }
    try await run(
      [pipeline] + chosen.map { $0 == "output=\(output)" ? "output=\(first.movie)" : $0 } + values
        + ["pass=pass1", "pass-file=\(first.statistics)"], isForced: true)
    try await run(
      [pipeline] + chosen + values + ["pass=pass2", "pass-file=\(first.statistics)"],
      isForced: force)
  }

  /// Plans, encodes all parts and joins them. A range is converted in parts, too, since these are
  /// what cuts movies exactly, in a folder beside the output if there is no other.
  private func convertInParts(
    _ files: ConversionChoice.Files, _ values: [String], _ choice: LayoutChoice
  ) async throws {
    guard let output = files.output else {
      let option = isRange ? "--from and --until need" : "--work needs"
      Terminal.error.line("error: \(option) an output: --output spatial.mov")
      throw ExitCode.mistakes
    }
    let work = WorkFolder(self.work ?? output + ".parts")
    let maker = PlanMaker(
      files: files, output: output, values: values, layout: choice, pairing: pair,
      namesLayout: layout.layout != nil || layout.projection != nil,
      partDuration: parts?.duration ?? PartCuts.defaultDuration,
      range: (from?.duration, until?.duration), isTwoPass: twoPass, work: work)
    try await reportingPartErrors {
      try await PartsConversion(
        maker: maker, jobs: jobs ?? JobPool.suitableCount, overwrites: force, isQuiet: quiet,
        isJSON: json
      ).run()
    }
    if self.work == nil { work.remove() }
  }

  /// Converts each of many movies by itself.
  private func convertAll(into folder: String, _ values: [String]) async throws {
    var options = values
    if let to { options += ["--to", to.rawValue] }
    if let name = layout.layout { options += ["--layout", name.rawValue] }
    if let name = layout.projection { options += ["--projection", name.rawValue] }
    try await BatchConversion(
      inputs: arguments.filter { !PipelineArguments.isValue($0) }, folder: folder, target: to,
      options: options, jobs: jobs ?? JobPool.suitableCount, overwrites: force, isQuiet: quiet,
      isJSON: json
    ).run()
  }

  private func run(_ line: [String], isForced: Bool) async throws {
    let words = ["gst-spatial", "run"] + line
    Terminal.error.aside(words.map(ShellWord.quoted).joined(separator: " "))
    let flags = [
      (isForced, "--force"), (dryRun, "--dry-run"), (json, "--json"), (quiet, "--quiet"),
      (verbose, "--verbose"),
    ].filter(\.0).map(\.1)
    try await RunCommand.parse(line + flags).run()
  }
}

extension EyeAlignment: ExpressibleByArgument {}
