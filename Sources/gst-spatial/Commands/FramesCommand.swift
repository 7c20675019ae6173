// SPDX-License-Identifier: LGPL-2.1-or-later

internal import ArgumentParser
internal import GStreamer
internal import Glibc
internal import ISOBMFF
internal import PipelineFile
internal import StereoVideo

struct FramesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "frames", abstract: "Write single frames of a movie as pictures.",
    discussion: """
      Each picture is the frame that is shown at its time, exactly. Its name is the movie's with \
      the frame's number, in the current folder, or what --output says.

      EXAMPLES
        gst-spatial frames movie.mov --at 1.5s
        gst-spatial frames movie.mov --every 2s --show anaglyph
        gst-spatial frames movie.mov --count 9 --sheet
        gst-spatial frames movie.mov --at 0s --show left --output left.jpg
      """)

  @Argument(
    help: "A QuickTime or MP4 movie, or H.265 without a container.",
    completion: PipelineCompletion.movie)
  var movie: String

  @Option(help: "A time: 1.5s, 0:01:02.5; several are allowed.")
  var at: [String] = []

  @Option(help: "A frame each so often: 2s.")
  var every: String?

  @Option(help: "As many frames, spread over the movie.")
  var count: Int?

  @Option(help: "left, right, both or anaglyph.")
  var show = FrameExtraction.Show.both

  @Option(help: "png or jpeg; else by the ending of --output, else png.")
  var format: PictureFormat?

  @Option(
    name: .shortAndLong,
    help: "A folder, the picture's name, or what the names of several pictures begin with.")
  var output: String?

  @Flag(name: [.customShort("y"), .long], help: "Replace pictures that are there already.")
  var force = false

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
    if let count, sheet, count > ContactSheet.limit {
      throw ValidationError("A sheet holds at most \(ContactSheet.limit) pictures.")
    }
    if let format, let output, let other = PictureFormat(path: output), format != other {
      throw ValidationError("--format \(format.rawValue) does not go with '\(output)'.")
    }
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
    let opened: OpenedMovie
    do {
      opened = try await OpenedMovie(movie)
    } catch {
      Terminal.error.line("error: \(error)")
      throw ExitCode.mistakes
    }
    defer { withExtendedLifetime(opened) {} }
    let facts = opened.facts
    let times = facts.frameTimes
    guard !times.isEmpty else { throw MovieError(movie, "it has no frames") }
    if facts.stereo == .no, show != .anaglyph {
      Terminal.error.line("note: '\(movie)' shows one eye only")
    }
    let wanted = indexes(times)
    try refuseExisting(wanted)
    if sheet { return try await writeSheet(wanted, times, opened) }
    let extraction = try await FrameExtraction(
      movie: movie, opened: opened, show: show, format: names.format)
    defer { extraction.end() }
    for index in wanted {
      let path = wanted.count == 1 ? names.single(index) : names.numbered(index)
      try PictureFile.write(try await picture(index, times, extraction), to: path)
      Terminal.output.line(path)
    }
  }

  /// Before anything is written.
  private func refuseExisting(_ wanted: [Int]) throws {
    guard !force else { return }
    var paths = wanted.map(names.numbered)
    if sheet {
      paths = [names.sheet]
    } else if wanted.count == 1 {
      paths = [names.single(wanted[0])]
    }
    guard let path = paths.first(where: { access($0, F_OK) == 0 }) else { return }
    Terminal.error.line("error: '\(path)' is there already; --force replaces it")
    throw ExitCode.wouldOverwrite
  }

  private func writeSheet(_ wanted: [Int], _ times: [Double], _ opened: OpenedMovie) async throws {
    guard wanted.count <= ContactSheet.limit else {
      throw MovieError(
        movie,
        "\(wanted.count) pictures are too many for a sheet, which holds \(ContactSheet.limit)")
    }
    let folder = try ScratchFolder()
    defer { folder.remove() }
    let extraction = try await FrameExtraction(
      movie: movie, opened: opened, show: show, format: .png)
    defer { extraction.end() }
    var pictures: [String] = []
    for index in wanted {
      pictures.append("\(folder.path)/\(index).png")
      try PictureFile.write(
        try await picture(index, times, extraction), to: pictures[pictures.count - 1])
    }
    let bytes = try await ContactSheet.make(of: pictures, format: names.format)
    try PictureFile.write(bytes, to: names.sheet)
    Terminal.output.line(names.sheet)
  }

  private func picture(
    _ index: Int, _ times: [Double], _ extraction: FrameExtraction
  ) async throws -> [UInt8] {
    let end = index + 1 < times.count ? times[index + 1] : Self.end(times)
    return try await extraction.picture(from: times[index], to: end)
  }

  /// The last frame is taken to be as long as the one before.
  private static func end(_ times: [Double]) -> Double {
    guard let last = times.last else { return 0 }
    return times.count > 1 ? last * 2 - times[times.count - 2] : last + 0.04
  }

  /// The frames that are shown at the wanted times.
  private func indexes(_ times: [Double]) -> [Int] {
    let end = Self.end(times)
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

  private var names: PictureNames { PictureNames(movie: movie, output: output, format: format) }
}

extension FrameExtraction.Show: ExpressibleByArgument {}
extension PictureFormat: ExpressibleByArgument {}
