// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc

struct ConvertCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Look at a movie and convert it with the ready pipeline that suits it.",
    discussion: """
      A packed movie, or one for each eye, becomes a spatial movie; a spatial movie becomes what \
      --to says (side by side where it says nothing). How a movie is packed is seen from its \
      pictures where it does not say so. The line that is run is printed: it can be repeated and varied.

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
    help: "The input, or one for each eye (left, right); the output; parameters: name=value.",
    completion: .file())
  var arguments: [String]

  @Option(help: "What to make: mvhevc, sbs, tb, anaglyph, 2d, two-files.")
  var to: ConversionChoice.Target?

  @Option(
    help: """
      How the pictures surround the viewer: rectilinear (they do not), half-equirectangular, \
      equirectangular or fisheye. Else as the movie says, or where it does not, its name: _180, _360, \
      _FISHEYE190.
      """)
  var projection: ConversionChoice.ProjectionName?

  @Option(
    help: """
      How the eyes share a frame: side-by-side, top-bottom, or with -reversed behind it, the right eye \
      first. Else as the movie says, its name (_LR, _TB), or its pictures.
      """)
  var layout: ConversionChoice.LayoutName?

  @Flag(
    help:
      "Look at all of the input before encoding it, so that bitrate=… is met at an even quality.")
  var twoPass = false

  @Flag(name: [.customShort("y"), .long], help: "Replace an output that is there already.")
  var force = false

  @Flag(help: "Say what would be done.")
  var dryRun = false

  @Flag(help: "Print events as JSON.")
  var json = false

  func validate() throws {
    guard (2...3).contains(paths.count) else {
      throw ValidationError("Give an input (or one for each eye) and an output.")
    }
  }

  private var paths: [String] { arguments.filter { !PipelineArguments.isValue($0) } }

  func run() async throws {
    let values = arguments.filter(PipelineArguments.isValue)
    let (pipeline, chosen): (String, [String])
    do {
      (pipeline, chosen) = try await ConversionChoice(
        paths: paths, values: values, to: to, projection: projection, layout: layout
      ).make()
    } catch let refusal as ConversionChoice.Refusal {
      Terminal.error.line("error: \(refusal.reason)")
      throw ExitCode.mistakes
    }
    guard twoPass else { return try await run([pipeline] + chosen + values, isForced: force) }
    let output = paths[paths.count - 1]
    let first = TwoPassFiles(output)
    if let reason = TwoPassFiles.refusal(pipeline, values) {
      Terminal.error.line("error: \(reason)")
      throw ExitCode.mistakes
    }
    // Said before the first pass rather than behind it.
    guard force || dryRun || access(output, F_OK) != 0 else {
      Terminal.error.line("error: '\(output)' is there already; --force replaces it")
      throw ExitCode.wouldOverwrite
    }
    if let taken = first.taken {
      Terminal.error.line(
        "error: '\(taken)' is there already, where the first pass writes; move it away")
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
