// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import MovieParts
internal import PipelineHost

struct JoinCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "join", abstract: "Make the movie of the parts of a planned conversion.",
    discussion: """
      The parts are checked and copied; audio, subtitles, chapters and metadata come from the \
      input in one piece. Once the movie has its name, the parts are removed. If it is stopped, \
      run it again.

      EXAMPLES
        gst-spatial join work
      """)

  @Argument(help: "The folder of the plan.", completion: .directory)
  var folder: String

  @Flag(help: "Keep the parts.")
  var keep = false

  @Flag(name: [.customShort("y"), .long], help: "Replace an existing movie.")
  var force = false

  @Flag(name: .shortAndLong, help: "Print only warnings and errors.")
  var quiet = false

  func run() async throws {
    try await reportingPartErrors {
      let join = try MovieJoin(WorkFolder(folder))
      if join.isDone {
        if !quiet { Terminal.error.line("'\(join.output)' is there") }
        return
      }
      guard let pipelines = Installation.pipelines else {
        throw PipelineProblems(Installation.missingPipelines)
      }
      try await join.run(
        pipelines: pipelines, Installation.prepare(), overwrites: force, keepsParts: keep,
        warn: printWarning)
      if !quiet { Terminal.error.line(join.output) }
    }
  }
}
