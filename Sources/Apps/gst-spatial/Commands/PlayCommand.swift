// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import StereoMedia

struct PlayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play",
    abstract: "Play a movie in a window, with both eyes or as an immersive view.",
    discussion: """
      Spatial and side-by-side movies are shown as an anaglyph for red-cyan glasses, or as \
      selected with --mode. Movies of 180 and 360 degrees are shown as a view of one eye: drag to \
      look around, zoom with the wheel, or turn with the arrow keys.

      Space pauses, the left and right arrow keys seek five seconds in flat movies, q quits.

      EXAMPLES
        gst-spatial play movie.mov
        gst-spatial play movie.mov --mode side-by-side --loop
        gst-spatial play vr180.mp4 --yaw 30 --fov 75
        gst-spatial play vr180.mp4 --path camera.csv
        gst-spatial play pictures.mp4 --projection equirectangular
      """)

  @Argument(
    help: "A QuickTime or MP4 movie, or H.265 without a container.",
    completion: PipelineCompletion.movie)
  var movie: String

  @Option(
    help: "The presentation: anaglyph, side-by-side, top-bottom, row-interleaved, left or right.")
  var mode: ScreenPlayback.Mode?

  @Option(
    help: """
      How the eyes share a frame, if the movie does not signal it: side-by-side or top-bottom, \
      with half- or full- before it, and -reversed after it if the right eye comes first.
      """)
  var layout: LayoutOptions.LayoutName?

  @Flag(name: .customLong("loop"), help: "Loop without a gap.")
  var loops = false

  @Option(
    parsing: .unconditional, help: "The initial view of an immersive movie: degrees to the right.")
  var yaw: Double?

  @Option(parsing: .unconditional, help: "The same upwards, from -90 to 90.")
  var pitch: Double?

  @Option(parsing: .unconditional, help: "The tilt of the view, in degrees clockwise.")
  var roll: Double?

  @Option(help: "The horizontal field of view, from 10 to 150 degrees.")
  var fov: Double?

  @Option(
    help: """
      A file of times and views for a moving view: lines such as '0:04.5,30,-10' below the header \
      'time,yaw,pitch', which can also have 'roll' and 'field-of-view'.
      """,
    completion: .file())
  var path: String?

  @Option(
    help: """
      The projection of the pictures, if the movie does not signal it: equirectangular, \
      half-equirectangular, fisheye, cubemap or equi-angular-cubemap; rectilinear for a flat movie.
      """)
  var projection: String?

  @Flag(help: "Play without audio.")
  var mute = false

  @Option(
    name: .customLong("video-sink"),
    help: "The element that displays the video, by default a window within the screen.")
  var videoSink: String?

  @Option(name: .customLong("audio-sink"), help: "The element that plays the audio.")
  var audioSink = "autoaudiosink"

  private static let projections = [
    "rectilinear", "equirectangular", "half-equirectangular", "fisheye", "cubemap",
    "equi-angular-cubemap",
  ]

  func validate() throws {
    for (name, value, range) in [
      ("yaw", yaw, -36000.0...36000), ("pitch", pitch, -90...90), ("roll", roll, -36000...36000),
      ("fov", fov, 10...150),
    ] {
      guard let value, !range.contains(value) else { continue }
      throw ValidationError(
        "--\(name) must be from \(Int(range.lowerBound)) to \(Int(range.upperBound)).")
    }
    if let projection, !Self.projections.contains(projection) {
      throw ValidationError("--projection is one of \(Self.projections.joined(separator: ", ")).")
    }
  }

  func run() async throws {
    // Without a display, autovideosink tries dfbvideosink, which crashes.
    setenv("GST_PLUGIN_FEATURE_RANK", "dfbvideosink:NONE", 0)
    let choice = LayoutChoice(
      packing: layout?.packing, firstTrack: layout?.firstTrack,
      projection: projection.flatMap(LayoutOptions.ProjectionName.init(rawValue:))?.surroundings)
    let opened = try await choice.open(movie)
    var options = ScreenPlayback.Options()
    (options.mode, options.loops, options.projection) = (mode, loops, projection)
    (options.yaw, options.pitch, options.roll) = (yaw, pitch, roll)
    options.fieldOfView = fov ?? options.fieldOfView
    options.path = path
    options.videoSink = videoSink
    options.windowName = movie.split(separator: "/").last.map(String.init)
    options.audioSink = mute ? nil : audioSink
    do {
      let playback = try await ScreenPlayback(opened, options) { [movie] warning in
        Terminal.error.line("warning: '\(movie)': \(warning)")
      }
      announce(playback)
      try await play(playback)
    } catch let error as StereoMediaError {
      Terminal.error.line("error: \(error)")
      if let hint = error.hint { Terminal.error.line(" = \(hint)") }
      throw error.code == .invalidInput ? ExitCode.mistakes : ExitCode.runFailed
    }
  }

  private func announce(_ playback: ScreenPlayback) {
    let looks = path != nil || [yaw, pitch, roll, fov].contains { $0 != nil }
    if !playback.isImmersive, looks {
      Terminal.error.line(
        "note: '\(movie)' does not signal a projection, so the view options have no effect; "
          + "use --projection to specify one")
    }
    let shown = playback.mode.map { ", \($0.rawValue)" } ?? ""
    Terminal.output.line("playing \(movie)\(playback.isImmersive ? ", immersive" : "")\(shown)")
  }

  /// Plays to the end or until Ctrl-C.
  private func play(_ playback: ScreenPlayback) async throws {
    let isInterrupted = try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await playback.run()
        return false
      }
      group.addTask {
        await EndSignals.wait()
        return true
      }
      defer { group.cancelAll() }
      let first = try await group.next() ?? false
      playback.stop()
      return first
    }
    if isInterrupted { throw ExitCode.interrupted }
  }
}

extension ScreenPlayback.Mode: ExpressibleByArgument {}
