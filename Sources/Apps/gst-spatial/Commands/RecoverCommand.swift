// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import ISOBMFF

struct RecoverCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Finish a recording that was cut off, where it lies.",
    discussion: """
      A recording in fragments (fragment-mode=first-moov-then-finalise) plays wherever it ends. \
      What makes an ordinary movie of it, the index, is written by this command where the recorder \
      had no time to: the power failed, the disk was full, the program was killed. All that was \
      written whole is kept, bit by bit; the file grows by its index alone. Should this be cut off \
      in turn, it can be started again.

      EXAMPLES
        gst-spatial recover take.incomplete.mov
        gst-spatial recover *.mov
      """)

  @Argument(help: "Recordings in fragments.", completion: PipelineCompletion.movie)
  var movies: [String]

  func run() throws {
    var hasFailed = false
    for path in movies {
      do {
        let file = try TornFile(path)
        let recovered = try file.recover()
        try file.finish(recovered)
        Terminal.output.line("\(path): " + recovered.text)
      } catch MovieRecoveryError.isComplete {
        Terminal.output.line("\(path): \(MovieRecoveryError.isComplete)")
      } catch {
        Terminal.error.line("error: \(path): \(error)")
        hasFailed = true
      }
    }
    if hasFailed { throw ExitCode.mistakes }
  }
}

extension RecoveredMovie {
  /// In a line.
  fileprivate var text: String {
    let video = tracks.first { $0.handlerType == "vide" }
    let seconds = tracks.map(\.duration).max() ?? 0
    var parts = ["recovered \(Quantities.decimal(seconds, 1)) s"]
    if let video { parts.append("\(video.sampleCount) frames") }
    if lostByteCount > 0 {
      parts.append(
        "\(Quantities.size(Int(clamping: lostByteCount))) of a fragment that was cut off are gone")
    }
    return parts.joined(separator: ", ")
  }
}
