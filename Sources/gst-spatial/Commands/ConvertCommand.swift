// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import ISOBMFF
internal import PipelineFile
internal import StereoMedia
internal import StereoVideo

struct ConvertCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Look at a movie and convert it with the ready pipeline that suits it.",
    discussion: """
      A packed movie, or one for each eye, becomes a spatial movie; a spatial movie becomes what \
      --to says (side by side where it says nothing). How a movie is packed is seen from its \
      pictures where it does not say so. The line that is run is printed: it can be repeated and varied.

      EXAMPLES
        gst-spatial convert side-by-side.mp4 spatial.mov
        gst-spatial convert left.mp4 right.mp4 spatial.mov quality=18
        gst-spatial convert side-by-side.mp4 spatial.mov bitrate=12000 --two-pass
        gst-spatial convert spatial.mov anaglyph.mp4 --to anaglyph
        gst-spatial convert spatial.mov flat.mp4 --to 2d
        gst-spatial convert spatial.mov left.mp4 right.mp4 --to two-files
      """)

  enum Target: String, ExpressibleByArgument, CaseIterable {
    case mvhevc
    case sideBySide = "sbs"
    case topBottom = "tb"
    case anaglyph
    case flat = "2d"
    case twoFiles = "two-files"
  }

  @Argument(
    help: "The input, or one for each eye (left, right); the output; parameters: name=value.",
    completion: .file())
  var arguments: [String]

  @Option(help: "What to make: mvhevc, sbs, tb, anaglyph, 2d, two-files.")
  var to: Target?

  @Flag(
    help:
      "Look at all of the input before encoding it, so that bitrate=… is met at an even quality.")
  var twoPass = false

  @Flag(name: [.customShort("y"), .long], help: "Replace an output that is there already.")
  var force = false

  @Flag(help: "Say what would be done.")
  var dryRun = false

  @Flag(help: "Print events as JSON.")
  var json = false

  func validate() throws {
    guard (2...3).contains(paths.count) else {
      throw ValidationError("Give an input (or one for each eye) and an output.")
    }
  }

  private var paths: [String] { arguments.filter { !PipelineArguments.isValue($0) } }

  func run() async throws {
    let values = arguments.filter(PipelineArguments.isValue)
    let (pipeline, chosen): (String, [String])
    do {
      (pipeline, chosen) = try await choice()
    } catch let refusal as Refusal {
      Terminal.error.line("error: \(refusal.reason)")
      throw ExitCode.mistakes
    }
    guard twoPass else { return try await run([pipeline] + chosen + values, isForced: force) }
    let output = paths[paths.count - 1]
    let first = TwoPassFiles(output)
    if let reason = TwoPassFiles.refusal(pipeline, values) {
      Terminal.error.line("error: \(reason)")
      throw ExitCode.mistakes
    }
    // Said before the first pass rather than behind it.
    guard force || dryRun || access(output, F_OK) != 0 else {
      Terminal.error.line("error: '\(output)' is there already; --force replaces it")
      throw ExitCode.wouldOverwrite
    }
    if let taken = first.taken {
      Terminal.error.line(
        "error: '\(taken)' is there already, where the first pass writes; move it away")
      throw ExitCode.wouldOverwrite
    }
    defer { first.remove() }
    try await run(
      [pipeline] + chosen.map { $0 == "output=\(output)" ? "output=\(first.movie)" : $0 } + values
        + ["pass=pass1", "pass-file=\(first.statistics)"], isForced: true)
    try await run(
      [pipeline] + chosen + values + ["pass=pass2", "pass-file=\(first.statistics)"],
      isForced: force)
  }

  private func run(_ line: [String], isForced: Bool) async throws {
    let words = ["gst-spatial", "run"] + line
    Terminal.error.line(words.map(ShellWord.quoted).joined(separator: " "))
    let flags = [(isForced, "--force"), (dryRun, "--dry-run"), (json, "--json")].filter(\.0).map(
      \.1)
    try await RunCommand.parse(line + flags).run()
  }

  private struct Refusal: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }

  /// The ready pipeline, and the parameters that follow from the input.
  private func choice() async throws -> (pipeline: String, values: [String]) {
    let paths = paths
    for input in paths.dropLast() where access(input, R_OK) != 0 {
      // The second of two files may be an output.
      guard input == paths[0] || to == nil && !isLayered(paths[0]) else { continue }
      throw Refusal("'\(input)': \(String(cString: strerror(errno)))")
    }
    // Other containers than movies are for GStreamer to look into.
    let facts = (try? MovieReader(path: paths[0])).map(MovieFacts.init)
    let layered = facts.flatMap { $0.stereo == .layered ? $0 : nil }
    if let layered { return try takenApart(layered) }
    guard to == nil || to == .mvhevc else {
      throw Refusal("'\(paths[0])' is no spatial movie: it can be converted to mvhevc only")
    }
    let geometry = (facts.map(geometry) ?? []).filter { !isGiven($0) }
    if paths.count == 3 {
      let ends = ["left=\(paths[0])", "right=\(paths[1])", "output=\(paths[2])"]
      return ("two-files-to-mvhevc", ends + geometry)
    }
    let (isTopBottom, packing) = try await packing(facts)
    let ends = ["input=\(paths[0])", "output=\(paths[1])"]
    return (isTopBottom ? "tb-to-mvhevc" : "sbs-to-mvhevc", ends + packing + geometry)
  }

  private func isLayered(_ path: String) -> Bool {
    (try? MovieReader(path: path)).map { MovieFacts($0).stereo == .layered } ?? false
  }

  /// The pipeline for a spatial movie.
  private func takenApart(_ facts: MovieFacts) throws -> (pipeline: String, values: [String]) {
    if paths.count == 3 {
      guard to == nil || to == .twoFiles else {
        throw Refusal("two outputs are for --to two-files")
      }
      return (
        "mvhevc-to-two-files", ["input=\(paths[0])", "left=\(paths[1])", "right=\(paths[2])"]
      )
    }
    let ends = ["input=\(paths[0])", "output=\(paths[1])"]
    // QuickTime has room for how the movie was shot; what televisions take is H.264 in MP4.
    let isQuickTime = paths[1].lowercased().hasSuffix(".mov")
    switch to ?? .sideBySide {
    case .sideBySide where isQuickTime: return ("mvhevc-to-packed", ends)
    case .topBottom where isQuickTime: return ("mvhevc-to-packed", ends + ["mode=top-bottom"])
    case .sideBySide: return ("mvhevc-to-sbs", ends)
    case .topBottom: return ("mvhevc-to-tb", ends)
    case .anaglyph: return ("mvhevc-to-anaglyph", ends)
    case .flat: return ("mvhevc-to-2d", ends + ["eye=\(facts.baseEye?.rawValue ?? "left")"])
    case .twoFiles:
      throw Refusal("--to two-files takes two outputs, for the left and the right eye")
    case .mvhevc: return ("retag", ends)
    }
  }

  /// Whether a value for the same parameter is on the command line.
  private func isGiven(_ value: String) -> Bool {
    let name = value.prefix { $0 != "=" } + "="
    return arguments.contains { $0.hasPrefix(name) }
  }

  /// As the command line or the movie says, or else as its pictures show. Throws where each shows
  /// one scene.
  private func packing(_ facts: MovieFacts?) async throws -> (isTopBottom: Bool, [String]) {
    if let given = arguments.first(where: { $0.hasPrefix("packing=") }) {
      return (given == "packing=top-bottom", [])
    }
    if case .packed(let layout)? = facts?.stereo {
      let flags = layout.rightViewFirst ? ["packing-flags=right-view-first"] : []
      return (
        layout.arrangement == .topBottom, ["packing=\(facts?.stereoName ?? "none")"] + flags
      )
    }
    _ = Installation.prepare()
    switch (try? await PackingProbe.look(at: paths[0])) ?? .unclear {
    case .packed(.topBottom): return (true, ["packing=top-bottom"])
    case .packed: return (false, ["packing=side-by-side"])
    case .unclear: return (Self.isHigh(facts), [])
    case .onePicture:
      throw Refusal(
        """
        '\(paths[0])' shows one picture in each frame, not one for each eye
          = if both eyes are in it, say how: packing=side-by-side or packing=top-bottom
          = if it is one eye of two files: gst-spatial convert LEFT RIGHT OUTPUT
        """)
    }
  }

  /// Two pictures above each other make a frame that is nearly square, or higher.
  private static func isHigh(_ facts: MovieFacts?) -> Bool {
    guard let entry = facts?.entry, entry.height > 0 else { return false }
    return Double(entry.width) / Double(entry.height) <= 1.2
  }

  /// What the movie says of how it was shot.
  private func geometry(_ facts: MovieFacts) -> [String] {
    let metadata = facts.metadata
    var values: [String] = []
    if let projection = metadata.projection, projection != .rectilinear {
      values.append("projection=\(projection.rawValue)")
    }
    let whole: Double? =
      switch metadata.projection {
      case .equirectangular: 360
      case .halfEquirectangular: 180
      default: nil
      }
    if let degrees = metadata.horizontalFieldOfView?.degrees ?? whole {
      values.append("fov=\(Quantities.decimal(degrees, 3))")
    }
    if let baseline = metadata.baseline?.millimetres {
      values.append("baseline=\(Quantities.decimal(baseline, 3))")
    }
    if let disparity = metadata.disparityAdjustment?.pictureWidths {
      values.append("disparity=\(Quantities.decimal(disparity, 4))")
    }
    if let hero = metadata.heroEye { values.append("hero=\(hero.rawValue)") }
    return values
  }
}
