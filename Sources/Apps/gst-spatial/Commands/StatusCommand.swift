// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import MovieParts
internal import PipelineFile

struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show how far a planned conversion is.",
    discussion: """
      Exit code 0 means that all parts are there, 1 that some are missing.

      EXAMPLES
        gst-spatial status work
        gst-spatial status work --verify --json
      """)

  @Argument(help: "The folder of the plan.", completion: .directory)
  var folder: String

  @Flag(help: "Print one line of JSON.")
  var json = false

  @Flag(help: "Read all parts and compare their contents with their receipts.")
  var verify = false

  func run() async throws {
    let status = try await reportingPartErrors {
      try ConversionStatus(WorkFolder(folder), verifies: verify)
    }
    Terminal.output.line(json ? status.json.line : status.text)
    guard status.isComplete else { throw ExitCode.runFailed }
  }
}
