// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import GStreamer
internal import PipelineFile
internal import StereoMedia

struct InfoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Show what movies are, and where they play in 3D.",
    discussion: """
      The first line says where a movie plays in 3D, and what is missing if it does not. The exit \
      code is 0 for movies and 2 if one is none. With --require-spatial, it is 1 if Apple devices \
      do not treat one as spatial.

      EXAMPLES
        gst-spatial info movie.mov
        gst-spatial info *.mov
        gst-spatial info movie.mov --frames
        gst-spatial info movie.mov --json | jq .missing
        gst-spatial info movie.mov --require-spatial && echo it is
      """)

  @Argument(
    help: "QuickTime, MP4, Matroska or MPEG-TS movies, or H.265 without a container.",
    completion: PipelineCompletion.movie)
  var movies: [String]

  @OptionGroup var layout: LayoutOptions

  @Flag(help: "Print JSON.")
  var json = false

  @Flag(help: "List the presentation time of each frame.")
  var frames = false

  @Flag(help: "Fail if Apple devices do not treat the movie as spatial.")
  var requireSpatial = false

  func run() async throws {
    var objects: [JSON] = []
    var status: ExitCode?
    var separator = ""
    for movie in movies {
      do {
        let opened = try await layout.choice.open(movie)
        let prediction = try await InterLayerPredictionUse.read(opened)
        if json {
          objects.append(description(opened.facts, of: movie, prediction))
        } else {
          let title = movies.count > 1 ? "\(separator)\(movie)\n" : ""
          Terminal.output.write(title + opened.facts.text(times: frames, prediction: prediction))
          separator = "\n"
        }
        if requireSpatial, !SpatialVerdict(opened.facts).isSpatial {
          status = status ?? ExitCode.failure
        }
      } catch let code as ExitCode {
        status = code
      }
    }
    if json, let first = objects.first {
      Terminal.output.line((movies.count > 1 ? JSON.array(objects) : first).text())
    }
    if let status { throw status }
  }

  private func description(
    _ facts: MovieFacts, of movie: String, _ prediction: InterLayerPredictionUse?
  ) -> JSON {
    guard case .object(var fields) = facts.json else { return facts.json }
    fields.append(("inter-layer-prediction", JSON(prediction?.rawValue)))
    if frames {
      fields.append(("frame-times", .array(facts.frames.map { JSON($0.time.seconds) })))
    }
    return .object((movies.count > 1 ? [("file", .string(movie))] : []) + fields)
  }
}
