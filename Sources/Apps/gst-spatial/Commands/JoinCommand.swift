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

      With --pieces, the movie is written in pieces, one for each part, which make it when they \
      are put one after the other: object stores do so without copying through a worker. The \
      parts stay.

      EXAMPLES
        gst-spatial join work
        gst-spatial join work --pieces pieces --piece 0
      """)

  @Argument(help: "The folder of the plan.", completion: .directory)
  var folder: String

  @Option(help: "Write the movie in pieces, into this folder.", completion: .directory)
  var pieces: String?

  @Option(help: "Write the piece of this part alone.")
  var piece: Int?

  @Flag(help: "Keep the parts.")
  var keep = false

  @Flag(name: [.customShort("y"), .long], help: "Replace an existing movie.")
  var force = false

  @Flag(name: .shortAndLong, help: "Print only warnings and errors.")
  var quiet = false

  func validate() throws {
    if piece != nil, pieces == nil { throw ValidationError("--piece needs --pieces FOLDER.") }
  }

  func run() async throws {
    try await reportingPartErrors {
      if let pieces { return try await write(pieces) }
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

  private func write(_ pieces: String) async throws {
    guard let pipelines = Installation.pipelines else {
      throw PipelineProblems(Installation.missingPipelines)
    }
    let paths = try await MoviePieces(WorkFolder(folder)).write(
      piece, to: pieces, pipelines: pipelines, Installation.prepare(), warn: printWarning)
    if !quiet { for path in paths { Terminal.error.line(path) } }
  }
}
