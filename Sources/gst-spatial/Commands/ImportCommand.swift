internal import ArgumentParser

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Turn a line of gst-launch into a pipeline file.",
    discussion: """
      EXAMPLES
        gst-spatial import 'videotestsrc ! videoconvert ! autovideosink' > test.yaml
        gst-spatial import 'filesrc location=a.mp4 ! decodebin name=d  d. ! queue ! fakesink'
      """)

  @Argument(help: "The line, in quotes, without 'gst-launch-1.0' and its options.")
  var line: String

  func run() throws {
    do {
      Terminal.output.write(try LaunchLine(line).pipelineFile)
    } catch {
      Terminal.error.line("error: \(error)")
      throw ExitCode.mistakes
    }
  }
}
