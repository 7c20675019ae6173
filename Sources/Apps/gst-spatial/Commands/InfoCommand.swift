// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import GStreamer
internal import PipelineFile
internal import StereoMedia

struct InfoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Show a movie's properties, and whether Apple devices treat it as spatial.",
    discussion: """
      The exit code is 0 for a movie and 2 for anything else. With --require-spatial, it is 1 for \
      a movie that Apple devices do not treat as spatial.

      EXAMPLES
        gst-spatial info movie.mov
        gst-spatial info movie.mov --frames
        gst-spatial info movie.mov --json | jq .missing
        gst-spatial info movie.mov --require-spatial && echo it is
      """)

  @Argument(
    help: "A QuickTime or MP4 movie, or H.265 without a container.",
    completion: PipelineCompletion.movie)
  var movie: String

  @OptionGroup var layout: LayoutOptions

  @Flag(help: "Print JSON.")
  var json = false

  @Flag(help: "List the presentation time of each frame.")
  var frames = false

  @Flag(help: "Fail if Apple devices do not treat the movie as spatial.")
  var requireSpatial = false

  func run() async throws {
    let opened = try await layout.choice.open(movie)
    let facts = opened.facts
    let prediction = try await InterLayerPredictionUse.read(opened)
    if json {
      var object = facts.json
      if case .object(var fields) = object {
        fields.append(("inter-layer-prediction", JSON(prediction?.rawValue)))
        if frames {
          fields.append(("frame-times", .array(facts.frames.map { JSON($0.time.seconds) })))
        }
        object = .object(fields)
      }
      Terminal.output.line(object.text())
    } else {
      Terminal.output.write(facts.text(times: frames, prediction: prediction))
    }
    if requireSpatial, !SpatialVerdict(facts).isSpatial { throw ExitCode.failure }
  }
}
