// SPDX-License-Identifier: MPL-2.0

public import ArgumentParser
internal import GStreamer
internal import Glibc
internal import PipelineFile
internal import StereoMedia

struct FramesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "frames", abstract: "Write single frames of a movie as image files.",
    discussion: """
      Each image shows exactly the frame at the given time. Its pixels are square; the frames of \
      movies with other pixels are scaled down for that, unless --exact is given. Unless --output \
      is given, it is written to the current folder and named after the movie, with the frame's \
      number appended.

      EXAMPLES
        gst-spatial frames movie.mov --at 0.25
        gst-spatial frames movie.mov --every 2s --show anaglyph
        gst-spatial frames movie.mov --count 9 --sheet
        gst-spatial frames movie.mov --at 0s --show left --output left.jpg
      """)

  @Argument(
    help: "A QuickTime or MP4 movie, or H.265 without a container.",
    completion: PipelineCompletion.movie)
  var movie: String

  @Option(help: "A time, such as 1.5, 500ms or 0:01:02.5; can be repeated.")
  var at: [String] = []

  @Option(help: "The interval between frames, such as 2 or 500ms.")
  var every: String?

  @Option(help: "The number of frames, spread evenly over the movie.")
  var count: Int?

  @Option(help: "The picture to show: left, right, both or anaglyph.")
  var show = StereoImageGenerator.Show.both

  @OptionGroup var layout: LayoutOptions

  @Option(help: "png or jpeg; by default according to the extension of --output, else png.")
  var format: PictureFormat?

  @Option(
    name: .shortAndLong,
    help: "A folder, the name of the image, or the prefix of the names of several.")
  var output: String?

  @Flag(name: [.customShort("y"), .long], help: "Replace existing images.")
  var force = false

  @Flag(help: "Write the stored pixels, even if they are not square.")
  var exact = false

  @Flag(help: "Combine all frames in one image.")
  var sheet = false

  func validate() throws {
    let given = [!at.isEmpty, every != nil, count != nil].filter(\.self).count
    guard given == 1 else { throw ValidationError("Specify one of --at, --every and --count.") }
    if let count, !(1...10000).contains(count) {
      throw ValidationError("--count must be from 1 to 10000.")
    }
    for time in at + (every.map { [$0] } ?? []) where Self.duration(time) == nil {
      throw ValidationError("'\(time)' is not a time; write 1.5, 500ms or 0:01:02.5.")
    }
    if let every, Self.duration(every) == .zero { throw ValidationError("--every must not be 0.") }
    if let count, sheet, count > ContactSheet.limit {
      throw ValidationError("A sheet has at most \(ContactSheet.limit) pictures.")
    }
    if let output, let ending = PictureFormat.unsupportedEnding(of: output) {
      throw ValidationError("Images are written as png or jpeg, not as \(ending).")
    }
    if let format, let output, let other = PictureFormat(path: output), format != other {
      throw ValidationError("--format \(format.rawValue) contradicts the extension of '\(output)'.")
    }
  }

  private static func duration(_ text: String) -> Duration? {
    TimeArgument(argument: text)?.duration
  }

  func run() async throws {
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
    let opened = try await layout.choice.open(movie)
    guard let video = opened.video, !video.frames.isEmpty else {
      throw StereoMediaError(
        .missingVideo, "'\(movie)' cannot be read as a movie: it has no frames")
    }
    var show = show
    if video.layout == .mono, show != .anaglyph {
      Terminal.error.line("note: '\(movie)' has only one eye")
      show = .left
    }
    try refuseTimesAfterTheEnd(video.frames)
    let wanted = indexes(video.frames)
    try refuseExisting(wanted)
    // The largest size with square pixels that no side exceeds.
    let generator = StereoImageGenerator(opened, show: show, maximumSize: exact ? nil : .fit())
    if sheet { return try await writeSheet(wanted, generator) }
    for index in wanted {
      let path = wanted.count == 1 ? names.single(index) : names.numbered(index)
      try PictureFile.write(
        try await generator.image(index, as: names.format.imageFormat).bytes, to: path)
      Terminal.output.line(path)
    }
  }

  private func refuseTimesAfterTheEnd(_ frames: FrameIndex) throws {
    let end = Self.end(of: frames)
    guard let late = at.first(where: { Self.duration($0).map { $0 > end } ?? false }) else {
      return
    }
    throw StereoMediaError(
      .outOfRange,
      "'\(movie)' ends at \(NumberFormat.decimal(end.seconds, 3)) s and has no frame at '\(late)'"
    )
  }

  /// The end of the last frame. If it has no duration, that of the frame before is assumed.
  private static func end(of frames: FrameIndex) -> Duration {
    guard let last = frames.last else { return .zero }
    let length = last.duration > .zero ? last.duration : frames.dropLast().last?.duration
    return last.time + (length ?? .milliseconds(40))
  }

  /// Throws if an output exists, before anything is written.
  private func refuseExisting(_ wanted: [Int]) throws {
    guard !force else { return }
    var paths = wanted.map(names.numbered)
    if sheet {
      paths = [names.sheet]
    } else if wanted.count == 1 {
      paths = [names.single(wanted[0])]
    }
    guard let path = paths.first(where: { access($0, F_OK) == 0 }) else { return }
    Terminal.error.line("error: '\(path)' already exists; use --force to replace it")
    throw ExitCode.wouldOverwrite
  }

  private func writeSheet(_ wanted: [Int], _ generator: StereoImageGenerator) async throws {
    guard wanted.count <= ContactSheet.limit else {
      throw StereoMediaError(
        .outOfRange,
        "'\(movie)' cannot be read as a movie: \(wanted.count) pictures are too many for a sheet, "
          + "which holds \(ContactSheet.limit)")
    }
    let folder = try ScratchFolder()
    defer { folder.remove() }
    var pictures: [String] = []
    for index in wanted {
      pictures.append("\(folder.path)/\(index).png")
      try PictureFile.write(
        try await generator.image(index, as: .png).bytes, to: pictures[pictures.count - 1])
    }
    let bytes = try await ContactSheet.make(of: pictures, format: names.format)
    try PictureFile.write(bytes, to: names.sheet)
    Terminal.output.line(names.sheet)
  }

  /// Returns the frames at the requested times.
  private func indexes(_ frames: FrameIndex) -> [Int] {
    guard !frames.isEmpty else { return [] }
    let end = Self.end(of: frames)
    var wanted: [Duration] = []
    if let count {
      wanted = (0..<count).map { end * (Double($0) + 0.5) / Double(count) }
    } else if let step = every.flatMap(Self.duration), step > .zero {
      wanted = (0..<100_000).lazy.map { step * $0 }.prefix { $0 < end - Self.rounding }.map(\.self)
    } else {
      wanted = at.compactMap(Self.duration)
    }
    var indexes: [Int] = []
    for time in wanted {
      let index = frames.playing(at: time + Self.rounding) ?? 0
      if indexes.last != index { indexes.append(index) }
    }
    return indexes
  }

  /// Tolerance for rounding errors of frame times.
  private static let rounding = Duration.microseconds(1)

  private var names: ImageFileNames { ImageFileNames(movie: movie, output: output, format: format) }
}

extension StereoImageGenerator.Show: ExpressibleByArgument {}
extension PictureFormat: ExpressibleByArgument {}

/// The names of the image files.
struct ImageFileNames {
  let format: PictureFormat
  /// The common prefix of the names.
  private let stem: String
  /// The complete name, if one was given.
  private let whole: String?

  init(movie: String, output: String?, format: PictureFormat?) {
    let name = movie.lastIndex(of: "/").map { movie[movie.index(after: $0)...] } ?? movie[...]
    let movieStem = String(name.lastIndex(of: ".").map { name[..<$0] } ?? name)
    let ending = output.flatMap(PictureFormat.init(path:))
    self.format = format ?? ending ?? .png
    guard let output else {
      (stem, whole) = (movieStem, nil)
      return
    }
    var status = stat()
    if output.hasSuffix("/") || stat(output, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR {
      stem = output + (output.hasSuffix("/") ? "" : "/") + movieStem
      whole = nil
    } else if ending != nil, let dot = output.lastIndex(of: ".") {
      (stem, whole) = (String(output[..<dot]), output)
    } else {
      (stem, whole) = (output, nil)
    }
  }

  /// Returns the name of one of several images.
  func numbered(_ index: Int) -> String {
    let digits = String(index)
    let zeros = String(repeating: "0", count: max(0, 5 - digits.count))
    return "\(stem)-\(zeros)\(digits).\(format.ending)"
  }

  /// Returns the name of a single image.
  func single(_ index: Int) -> String { whole ?? numbered(index) }

  var sheet: String { whole ?? "\(stem)-sheet.\(format.ending)" }
}
