// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import PipelineFile
internal import StereoVideo

/// The command.
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
        gst-spatial list                                  the ready pipelines
        gst-spatial run sbs-to-mvhevc --help              the parameters of one
        gst-spatial run sbs-to-mvhevc input=movie.mp4     runs it
        gst-spatial check mine.yaml                       all mistakes at once

      EXIT CODES
        0 done, 1 it failed while it ran, 2 mistakes in a file or its arguments,
        3 an output is there already, 4 the watchdog ended it, 64 wrong usage,
        130 ended by Ctrl-C
      """,
    version: ProjectVersion.current,
    subcommands: [
      RunCommand.self, ConvertCommand.self, InfoCommand.self, FramesCommand.self, ListCommand.self,
      CheckCommand.self, ExplainCommand.self, GraphCommand.self, ImportCommand.self,
      SchemaCommand.self, RecoverCommand.self, ServeCommand.self, ViewCommand.self,
      PlayCommand.self,
    ])
}

extension GSTSpatial {
  /// What to say where the first word is no subcommand; nil where it is one, or an option.
  static func hint(onCommand word: String?) -> String? {
    let names = configuration.subcommands.map { $0.configuration.commandName ?? "" }
    guard let word, !word.hasPrefix("-"), word != "help", !names.contains(word) else { return nil }
    var meant = Suggestion.closest(to: word, among: names).map { "did you mean '\($0)'?" }
    if meant == nil, let path = try? Installation.path(ofPipeline: word) {
      let isPipeline = path.hasSuffix(".yaml") || path.hasSuffix(".yml")
      meant = "did you mean 'gst-spatial \(isPipeline ? "run" : "info") \(word)'?"
    }
    return "error: there is no command '\(word)'\n = "
      + (meant ?? "'gst-spatial --help' shows the commands")
  }
}

@main
enum Main {
  static func main() async {
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

/// What scripts can tell from the exit code.
extension ExitCode {
  /// An element failed, or a pad never came.
  static let runFailed = ExitCode(1)
  /// A file or its arguments have mistakes.
  static let mistakes = ExitCode(2)
  /// An output is there already.
  static let wouldOverwrite = ExitCode(3)
  /// Nothing moved for as long as the watchdog allows.
  static let frozen = ExitCode(4)
  /// As shells report a program that Ctrl-C ends.
  static let interrupted = ExitCode(130)
}
