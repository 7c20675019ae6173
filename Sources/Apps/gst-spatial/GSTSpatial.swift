// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import MovieParts
internal import PipelineFile
internal import StereoVideo

/// The `gst-spatial` command.
struct GSTSpatial: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gst-spatial",
    abstract: "Stereo (\"spatial\") video with GStreamer.",
    usage: """
      gst-spatial run sbs-to-mvhevc input=movie.mp4
      gst-spatial <subcommand> --help
      """,
    discussion: """
      EXAMPLES
        gst-spatial convert movie.mp4                     make a spatial movie of it
        gst-spatial list                                  list the ready pipelines
        gst-spatial run sbs-to-mvhevc --help              show the parameters of one
        gst-spatial run sbs-to-mvhevc input=movie.mp4     run it
        gst-spatial check mine.yaml                       report all errors at once

      EXIT CODES
        0 success, 1 failure while running, 2 errors in a file or its arguments,
        3 an output already exists, 4 stopped by the watchdog, 64 wrong usage,
        130 interrupted by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP; 0 if one of the
        latter two ends a stream that has no end of its own
      """,
    version: ProjectVersion.current,
    subcommands: [
      RunCommand.self, ConvertCommand.self, InfoCommand.self, FramesCommand.self, ListCommand.self,
      CheckCommand.self, ExplainCommand.self, GraphCommand.self, ImportCommand.self,
      SchemaCommand.self, RecoverCommand.self, ServeCommand.self, PushCommand.self,
      ViewCommand.self, PlayCommand.self, PlanCommand.self, PartCommand.self, JoinCommand.self,
      StatusCommand.self,
    ])

  /// The word before messages on wrong usage: that of all other messages.
  static var _errorLabel: String { "error" }
}

extension GSTSpatial {
  /// Returns an error message if the first word is not a subcommand; nil if it is one, or an
  /// option.
  static func hint(onCommand word: String?) -> String? {
    let names = configuration.subcommands.map { $0.configuration.commandName ?? "" }
    guard let word, !word.hasPrefix("-"), word != "help", !names.contains(word) else { return nil }
    var meant = Suggestion.closest(to: word, among: names).map { "did you mean '\($0)'?" }
    if meant == nil, let path = try? Installation.path(ofPipeline: word) {
      let isPipeline = path.hasSuffix(".yaml") || path.hasSuffix(".yml")
      meant = "did you mean 'gst-spatial \(isPipeline ? "run" : "info") \(word)'?"
    }
    return "error: there is no command '\(word)'\n = "
      + (meant ?? "'gst-spatial --help' lists the commands")
  }
}

@main
enum Main {
  static func main() async {
    Lifeline.watch()
    let arguments = Array(CommandLine.arguments.dropFirst())
    if let help = ParameterHelp(commandLine: arguments) {
      help.printAndExit()
    }
    if let hint = GSTSpatial.hint(onCommand: arguments.first) {
      Terminal.error.line(hint)
      exit(ExitCode.validationFailure.rawValue)
    }
    await GSTSpatial.main(arguments)
  }
}

/// The exit codes, for scripts.
extension ExitCode {
  /// An element failed, or a pad did not appear.
  static let runFailed = ExitCode(1)
  /// A file or its arguments have errors.
  static let mistakes = ExitCode(2)
  /// An output already exists.
  static let wouldOverwrite = ExitCode(3)
  /// There was no progress within the watchdog's time limit.
  static let frozen = ExitCode(4)
  /// The code that shells report for a program ended by Ctrl-C.
  static let interrupted = ExitCode(130)
}
