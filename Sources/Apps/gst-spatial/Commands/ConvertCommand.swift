// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc

struct ConvertCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Convert a movie with the ready pipeline that suits it.",
    discussion: """
      A packed movie, or one movie for each eye, becomes a spatial movie. A spatial movie becomes \
      what --to selects, by default side by side. If a movie does not signal its layout, the \
      layout is detected from its pictures. The equivalent 'gst-spatial run' line is printed, so \
      that it can be repeated and modified.

      EXAMPLES
        gst-spatial convert side-by-side.mp4 spatial.mov
        gst-spatial convert left.mp4 right.mp4 spatial.mov quality=18
        gst-spatial convert concert_180_LR.mp4 concert.mov
        gst-spatial convert movie.mp4 spatial.mov --projection fisheye
        gst-spatial convert side-by-side.mp4 spatial.mov bitrate=12000 --two-pass
        gst-spatial convert spatial.mov anaglyph.mp4 --to anaglyph
        gst-spatial convert spatial.mov flat.mp4 --to 2d
        gst-spatial convert spatial.mov left.mp4 right.mp4 --to two-files
      """)

  @Argument(
    help: "The input, or one for each eye (left, right); the output; parameters as name=value.",
    completion: .file())
  var arguments: [String]

  @Option(help: "The output: mvhevc, immersive, sbs, tb, anaglyph, 2d, two-files.")
  var to: ConversionChoice.Target?

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

  func validate() throws {
    guard (2...3).contains(paths.count) else {
      throw ValidationError("Specify an input (or one for each eye) and an output.")
    }
  }

  private var paths: [String] { arguments.filter { !PipelineArguments.isValue($0) } }

  func run() async throws {
    var values = arguments.filter(PipelineArguments.isValue)
    var choice = layout.choice
    choice.add(values)
    choice.asksUser = !json && !dryRun
    let (pipeline, chosen): (String, [String])
    do {
      (pipeline, chosen) = try await ConversionChoice(
        paths: paths, values: values, to: to, layout: choice
      ).make()
    } catch let refusal as ConversionChoice.Refusal {
      Terminal.error.line("error: \(refusal.reason)")
      throw ExitCode.mistakes
    }
    values = ConversionChoice.usable(values, by: pipeline)
    guard twoPass else { return try await run([pipeline] + chosen + values, isForced: force) }
    let output = paths[paths.count - 1]
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

  private func run(_ line: [String], isForced: Bool) async throws {
    let words = ["gst-spatial", "run"] + line
    Terminal.error.line(words.map(ShellWord.quoted).joined(separator: " "))
    let flags = [(isForced, "--force"), (dryRun, "--dry-run"), (json, "--json")].filter(\.0).map(
      \.1)
    try await RunCommand.parse(line + flags).run()
  }
}
