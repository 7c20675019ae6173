internal import ArgumentParser
internal import GStreamer
internal import Glibc
internal import ISOBMFF
internal import PipelineFile
internal import StereoVideo

struct FramesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "frames", abstract: "Write single frames of a spatial movie as pictures.",
    discussion: """
      Each picture is the frame that is shown at its time, exactly.

      EXAMPLES
        gst-spatial frames movie.mov --at 1.5s
        gst-spatial frames movie.mov --every 2s --show anaglyph
        gst-spatial frames movie.mov --count 9 --sheet
        gst-spatial frames movie.mov --at 0s --show left --format jpeg
      """)

  enum Show: String, ExpressibleByArgument, CaseIterable {
    case left, right, both, anaglyph
  }

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case png, jpeg
  }

  @Argument(help: "A spatial movie.")
  var movie: String

  @Option(help: "A time: 1.5s, 0:01:02.5; several are allowed.")
  var at: [String] = []

  @Option(help: "A frame each so often: 2s.")
  var every: String?

  @Option(help: "As many frames, spread over the movie.")
  var count: Int?

  @Option(help: "left, right, both or anaglyph.")
  var show = Show.both

  @Option(help: "png or jpeg.")
  var format = Format.png

  @Option(help: "The pictures' names begin with this; the movie's own where it is not given.")
  var output: String?

  @Flag(help: "One picture with all of them.")
  var sheet = false

  func validate() throws {
    let given = [!at.isEmpty, every != nil, count != nil].filter(\.self).count
    guard given == 1 else { throw ValidationError("Give one of --at, --every and --count.") }
    if let count, !(1...10000).contains(count) {
      throw ValidationError("--count is from 1 to 10000.")
    }
    for time in at + (every.map { [$0] } ?? []) where Self.seconds(time) == nil {
      throw ValidationError("'\(time)' is no time; write 1.5s, 500ms or 0:01:02.5.")
    }
    if let every, Self.seconds(every) == 0 { throw ValidationError("--every is more than 0.") }
    if sheet, format != .png { throw ValidationError("A sheet is made of PNG pictures.") }
  }

  private static func seconds(_ text: String) -> Double? {
    PipelineFile.nanoseconds(ofDuration: text).map { Double($0) / 1e9 }
  }

  func run() async throws {
    _ = Installation.prepare()
    do {
      try await write()
    } catch let error as ExitCode {
      throw error
    } catch {
      Terminal.error.line("error: \(error)")
      throw ExitCode.runFailed
    }
  }

  private func write() async throws {
    let facts = MovieFacts(try MovieReader(path: movie))
    guard facts.stereo == .layered else { throw MovieError(movie, "it has no layer for each eye") }
    let times = facts.frameTimes
    guard !times.isEmpty else { throw MovieError(movie, "it has no frames") }
    let wanted = indexes(times)
    let extraction = FrameExtraction(
      movie: movie, mode: mode, encoder: format == .png ? "pngenc" : "jpegenc")
    var pictures: [String] = []
    for index in wanted {
      let path = "\(stem)-\(Self.padded(index)).\(format == .png ? "png" : "jpg")"
      let (keyframe, skipped) = facts.keyframe(before: index, times)
      try await extraction.write(skipping: skipped, from: keyframe, to: path)
      pictures.append(path)
      if !sheet { Terminal.output.line(path) }
    }
    if sheet { try await writeSheet(pictures, facts) }
  }

  private func writeSheet(_ pictures: [String], _ facts: MovieFacts) async throws {
    defer { for picture in pictures { unlink(picture) } }
    let width = Int(facts.entry?.width ?? 0) * (show == .both ? 2 : 1)
    let height = Int(facts.entry?.height ?? 0)
    guard width > 0, height > 0 else { throw MovieError(movie, "it does not say its size") }
    let cell = min(width, 480)
    let path = "\(stem)-sheet.png"
    try await FrameExtraction.writeSheet(
      pictures, to: path, cell: (cell, max(2, height * cell / width)))
    Terminal.output.line(path)
  }

  /// The frames that are shown at the wanted times.
  private func indexes(_ times: [Double]) -> [Int] {
    let end = times.count > 1 ? times[times.count - 1] * 2 - times[times.count - 2] : times[0]
    var wanted: [Double] = []
    if let count {
      wanted = (0..<count).map { end * (Double($0) + 0.5) / Double(count) }
    } else if let step = every.flatMap(Self.seconds), step > 0 {
      wanted = stride(from: 0, to: end - 1e-6, by: step).prefix(100_000).map(\.self)
    } else {
      wanted = at.compactMap(Self.seconds)
    }
    var indexes: [Int] = []
    for time in wanted {
      // A frame begins at its time, whatever the rounding of that.
      let index = max(0, times.count { $0 <= time + 1e-6 } - 1)
      if indexes.last != index { indexes.append(index) }
    }
    return indexes
  }

  private var mode: String {
    switch show {
    case .left, .right, .anaglyph: show.rawValue
    case .both: "side-by-side"
    }
  }

  private var stem: String {
    if let output { return output }
    let name = movie.lastIndex(of: "/").map { movie[movie.index(after: $0)...] } ?? movie[...]
    return String(name.lastIndex(of: ".").map { name[..<$0] } ?? name)
  }

  private static func padded(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 5 - digits.count)) + digits
  }
}
