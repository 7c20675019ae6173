// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import PipelineFile

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Turn a line of gst-launch into a pipeline file.",
    discussion: """
      Elements of bins stand for themselves. What a file cannot say, such as a preset, is an error.

      EXAMPLES
        gst-spatial import 'videotestsrc ! videoconvert ! autovideosink' -o test.yaml
        gst-spatial import 'videotestsrc ! tee name=t  t. ! fakesink  t. ! fakesink'
      """)

  @Argument(help: "The line, in quotes.")
  var line: String

  @OptionGroup var output: OutputOption

  func run() throws {
    let file: String
    do {
      file = try LaunchLine(line, registry: Installation.prepare()).pipelineFile
    } catch {
      let place = SourceLocation(
        file: SourceFile(name: "line", text: line), line: 1, column: error.column)
      Diagnostics([Diagnostic(.error, error.message, at: place)]).print()
      throw ExitCode.mistakes
    }
    try output.write(file)
  }
}
