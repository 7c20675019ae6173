internal import ArgumentParser
internal import ISOBMFF
internal import StereoVideo

struct ConvertCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Look at a movie and convert it with the ready pipeline that suits it.",
    discussion: """
      A packed movie, or one for each eye, becomes a spatial movie; a spatial movie becomes what \
      --to says. The line that is run is printed: it can be repeated and varied.

      EXAMPLES
        gst-spatial convert side-by-side.mp4 spatial.mov
        gst-spatial convert left.mp4 right.mp4 spatial.mov quality=18
        gst-spatial convert spatial.mov anaglyph.mp4 --to anaglyph
        gst-spatial convert spatial.mov flat.mp4 --to 2d
      """)

  enum Target: String, ExpressibleByArgument, CaseIterable {
    case mvhevc
    case sideBySide = "sbs"
    case topBottom = "tb"
    case anaglyph
    case flat = "2d"
  }

  @Argument(help: "The input, or one for each eye (left, right); the output; parameters.")
  var arguments: [String]

  @Option(help: "What to make: mvhevc, sbs, tb, anaglyph, 2d.")
  var to: Target?

  @Flag(help: "Replace an output that is there already.")
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

  /// A parameter has a name before its `=`; paths with one can be written with a slash.
  private var paths: [String] { arguments.filter { !Self.isParameter($0) } }

  private static func isParameter(_ text: String) -> Bool {
    guard let equals = text.firstIndex(of: "=") else { return false }
    return !text[..<equals].contains("/") && !text[..<equals].contains(".")
  }

  func run() async throws {
    let values = arguments.filter(Self.isParameter)
    let (pipeline, chosen) = try choice()
    let line = ["run", pipeline] + chosen + values
    Terminal.error.line("gst-spatial " + line.map(Self.shellQuoted).joined(separator: " "))
    let flags = [(force, "--force"), (dryRun, "--dry-run"), (json, "--json")].filter(\.0).map(\.1)
    try await RunCommand.parse(Array(line.dropFirst()) + flags).run()
  }

  /// The ready pipeline, and the parameters that follow from the input.
  private func choice() throws -> (pipeline: String, values: [String]) {
    let paths = paths
    if paths.count == 3 {
      return (
        "two-files-to-mvhevc", ["left=\(paths[0])", "right=\(paths[1])", "output=\(paths[2])"]
      )
    }
    let ends = ["input=\(paths[0])", "output=\(paths[1])"]
    // Other containers than movies are for GStreamer to look into.
    let facts = (try? MovieReader(path: paths[0])).map(MovieFacts.init)
    guard let facts, facts.stereo == .layered else {
      guard to == nil || to == .mvhevc else {
        Terminal.error.line("error: '\(paths[0])' is no spatial movie; only to mvhevc it can go")
        throw ExitCode.mistakes
      }
      return (Self.isTopBottom(facts) ? "tb-to-mvhevc" : "sbs-to-mvhevc", ends + packing(facts))
    }
    switch to ?? .sideBySide {
    case .sideBySide: return ("mvhevc-to-sbs", ends)
    case .topBottom: return ("mvhevc-to-tb", ends)
    case .anaglyph: return ("mvhevc-to-anaglyph", ends)
    case .flat: return ("mvhevc-to-2d", ends + ["eye=\(facts.baseEye?.rawValue ?? "left")"])
    case .mvhevc: return ("retag", ends)
    }
  }

  /// As the movie says, or else by the shape of its frames.
  private static func isTopBottom(_ facts: MovieFacts?) -> Bool {
    if case .packed(let layout) = facts?.stereo { return layout.arrangement == .topBottom }
    guard let entry = facts?.entry, entry.height > 0 else { return false }
    return Double(entry.width) / Double(entry.height) <= 1.2
  }

  /// What the movie says of its packing and projection.
  private func packing(_ facts: MovieFacts?) -> [String] {
    guard let facts else { return [] }
    var values: [String] = []
    if case .packed(let layout) = facts.stereo {
      values.append("packing=\(facts.stereoName)")
      if layout.rightViewFirst { values.append("packing-flags=right-view-first") }
    }
    if let degrees = facts.metadata.horizontalFieldOfView?.degrees {
      values.append("fov=\(Quantities.decimal(degrees, 3))")
    }
    return values
  }

  private static func shellQuoted(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { byte in
      byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A || byte >= 0x30 && byte <= 0x39
        || "/_.-=+:,".utf8.contains(byte)
    }
    return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
  }
}
