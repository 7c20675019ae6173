// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import MovieParts
internal import PipelineFile

struct PlanCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan", abstract: "Plan a conversion in parts, for many processes or machines.",
    discussion: """
      The number of parts is printed. Each is encoded by 'gst-spatial part FOLDER NUMBER', in any \
      order, on any machine that sees the folder and the movie; 'gst-spatial join FOLDER' makes \
      the movie of them. Planning again changes nothing. Of two files, one for each eye, the left \
      one comes first.

      EXAMPLES
        gst-spatial plan side-by-side.mp4 spatial.mov --work parts
        gst-spatial plan side-by-side.mp4 spatial.mov --work w --parts 60s quality=20
        gst-spatial plan side-by-side.mp4 spatial.mov --work parts --until 0.6
        gst-spatial plan side-by-side.mp4 b.mov --work w --two-pass bitrate=900

      With --two-pass, 'gst-spatial part FOLDER NUMBER --measure' comes first, for each part; when \
      all parts have been measured, each is encoded with the bits that it needs.
      """)

  @Argument(help: "The movie to convert, or the left eye's.", completion: .file())
  var input: String

  @Argument(
    help: """
      The right eye's movie, if each eye has one; the movie to write; parameters of the ready \
      pipeline as name=value.
      """)
  var rest: [String] = []

  @Option(help: "The folder for the plan and the parts.", completion: .directory)
  var work: String

  @Option(help: "The duration of a part.")
  var parts: TimeArgument?

  @Option(help: "The first time to convert; by default the beginning.")
  var from: TimeArgument?

  @Option(help: "The time to stop at; by default the end.")
  var until: TimeArgument?

  @OptionGroup var layout: LayoutOptions

  @Flag(help: "Meet bitrate=… over all parts, at an even quality.")
  var twoPass = false

  @Flag(help: "Print the plan as JSON.")
  var json = false

  func run() async throws {
    let paths = rest.filter { !PipelineArguments.isValue($0) }
    guard (1...2).contains(paths.count), let output = paths.last else {
      throw ValidationError(
        "Specify the movie to convert, or one for each eye, and the movie to write.")
    }
    let files = ConversionChoice.Files(input: input, other: paths.dropLast().first)
    let values = rest.filter(PipelineArguments.isValue)
    var choice = layout.choice
    choice.add(values)
    choice.asksUser = false
    let plan = try await reportingPartErrors {
      try await PlanMaker(
        files: files, output: output, values: values, layout: choice,
        namesLayout: layout.layout != nil || layout.projection != nil,
        partDuration: parts?.duration ?? PartCuts.defaultDuration,
        range: (from?.duration, until?.duration), isTwoPass: twoPass, work: WorkFolder(work)
      ).plan()
    }
    if plan.cuts.count > 1000 {
      Terminal.error.line(
        "note: Slurm takes arrays of up to 1000 tasks unless MaxArraySize says otherwise; --parts "
          + "makes fewer and longer parts")
    }
    Terminal.output.line(json ? try plan.json.line : "\(plan.cuts.count)")
  }
}
