// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import Glibc
internal import ISOBMFF
internal import PipelineFile
internal import StereoMedia
internal import Synchronization
internal import Web

/// What the viewer's page is told of a movie.
struct ViewedMovie {
  private let movie: StereoMovie
  private let packing: PackingLayout.Arrangement?

  /// - Parameter packing: how the pictures of a movie that does not say so are seen to hold two eyes.
  init(_ movie: StereoMovie, packing: PackingLayout.Arrangement?) {
    (self.movie, self.packing) = (movie, packing)
  }

  var json: JSON {
    let facts = movie.facts
    let name = movie.path.split(separator: "/").last.map(String.init) ?? movie.path
    return [
      "name": .string(name),
      "retag": facts.stereo == .layered
        ? .string("gst-spatial run retag input=" + ShellWord.quoted(movie.path)) : .null,
      "facts": .string(facts.text(times: false, prediction: nil)),
      "spatial": .bool(movie.isSpatial),
      "eyes": facts.stereo == .no ? 1 : 2,
      // The page cuts such pictures itself.
      "cut": JSON(facts.stereo == .no ? packing.map(name(of:)) : nil),
      "width": JSON(movie.video?.eyeWidth), "height": JSON(movie.video?.eyeHeight),
      "pixel-shape": JSON(pixelShape),
      "projection": JSON(facts.metadata.projection?.rawValue),
      "field-of-view": JSON(facts.metadata.horizontalFieldOfView?.degrees),
      "disparity": JSON(facts.metadata.disparityAdjustment?.pictureWidths),
      "sound": .bool(ViewedSound.track(of: movie) != nil),
      "anaglyph": anaglyph,
      // Microseconds.
      "times": .array(facts.frames.map { JSON(Int64(($0.time / .microseconds(1)).rounded())) }),
      "bytes": .array(facts.frames.map { JSON($0.byteCount) }),
      "keyframes": .array(facts.frames.indices.filter { facts.frames[$0].isSync }.map { JSON($0) }),
    ]
  }

  private func name(of arrangement: PackingLayout.Arrangement) -> String {
    arrangement == .topBottom ? "top-bottom" : "side-by-side"
  }

  /// How many times as wide as high the pixels of an eye are shown.
  private var pixelShape: Double {
    var shape = 1.0
    if let pixel = movie.facts.entry?.pixelAspectRatio, pixel.horizontalSpacing > 0,
      pixel.verticalSpacing > 0
    {
      shape = Double(pixel.horizontalSpacing) / Double(pixel.verticalSpacing)
    }
    guard case .packed(let layout) = movie.facts.stereo, layout.halfAspect else { return shape }
    return layout.arrangement == .topBottom ? shape / 2 : shape * 2
  }

  /// The rows of the matrices that give red, green and blue.
  private var anaglyph: JSON {
    let matrices = Anaglyph.Method.redCyanDubois.matrices
    func rows(_ matrix: [[Double]]) -> JSON { .array(matrix.map { .array($0.map { JSON($0) }) }) }
    return ["left": rows(matrices.left), "right": rows(matrices.right)]
  }
}

/// The sound of a movie as a file that browsers play: AAC in MP4, copied where it is AAC already.
///
/// The file has no name once it is made, so that nothing is left behind, however the viewer ends.
enum ViewedSound {
  /// The first track of sound; nil where there is none.
  static func track(of movie: StereoMovie) -> StereoMovie.Track? {
    movie.tracks.first { $0.kind == .sound }
  }

  /// - Throws: a ``StereoMediaError`` where the sound cannot be had.
  static func file(of movie: StereoMovie) async throws -> OpenFile {
    guard let track = track(of: movie) else {
      throw StereoMediaError(.outOfRange, "'\(movie.path)' has no sound")
    }
    try await Engine.start()
    let folder = try ScratchFolder()
    defer { folder.remove() }
    let coding =
      track.codec == "mp4a"
      ? "aacparse" : "decodebin ! audioconvert ! audioresample ! avenc_aac ! aacparse"
    let pipeline = try Pipeline(
      parsing: "filesrc name=source ! mvhevcdemux name=demux demux.audio_0 ! queue ! \(coding) "
        + "! mp4mux ! filesink name=sink")
    defer { pipeline.end() }
    try pipeline.element(named: "source")?.set("location", parsing: movie.source.path)
    try pipeline.element(named: "sink")?.set("location", parsing: "\(folder.path)/sound.m4a")
    do {
      try await pipeline.run()
    } catch let failure as PipelineFailure {
      throw StereoMediaError(.decodingFailed, "the sound cannot be had: \(failure.message)")
    }
    // The folder for temporary files may be a symbolic link.
    guard let path = realpath(folder.path, nil) else { throw FileError(code: errno) }
    defer { free(path) }
    guard let file = OpenFile(["sound.m4a"], in: String(cString: path)) else {
      throw StereoMediaError(.unreadable, "the sound cannot be read back")
    }
    return file
  }
}

/// The pictures of a movie's frames, as picture files.
final class FramePictures: Sendable {
  /// What is wanted of a frame.
  struct Request {
    /// An eye; nil for what `show` says.
    var eye: Eye?
    var show = StereoImageGenerator.Show.both
    var format = ImageFormat.jpeg()
    /// The most that it may be wide, in pixels; nil for the size of the movie.
    var width: Int?

    /// - Parameter name: `left`, `right`, `both` or `anaglyph`.
    /// - Returns: nil for what no frame has.
    init?(_ name: String, _ request: WebRequest) {
      guard let show = StereoImageGenerator.Show(rawValue: name) else { return nil }
      switch show {
      case .left: eye = .left
      case .right: eye = .right
      case .both, .anaglyph: self.show = show
      }
      switch request.parameter("f") {
      case "png": format = .png
      case "jpeg", nil: break
      default: return nil
      }
      if let width = request.parameter("w") {
        guard let number = Int(width), (16...16_384).contains(number) else { return nil }
        self.width = number
      }
    }
  }

  private let pair: StereoImageGenerator
  private let anaglyph: StereoImageGenerator
  private let waiting = Mutex(0)

  /// So many are asked for at a time: an eye each of the frame that is shown, and of the next one.
  private static let limit = 8

  init(_ movie: StereoMovie) {
    pair = StereoImageGenerator(movie)
    anaglyph = StereoImageGenerator(movie, show: .anaglyph)
  }

  /// - Returns: nil where too many are asked for at once.
  /// - Throws: a ``StereoMediaError``; `CancellationError` where the peer leaves.
  func image(_ index: Int, _ request: Request) async throws -> [UInt8]? {
    let isFree = waiting.withLock { waiting in
      guard waiting < Self.limit else { return false }
      waiting += 1
      return true
    }
    guard isFree else { return nil }
    defer { waiting.withLock { $0 -= 1 } }
    let generator = request.show == .anaglyph ? anaglyph : pair
    return try await generator.image(
      index, of: request.eye, as: request.format,
      maximumSize: request.width.map { .fit(width: $0) }
    ).bytes
  }
}

/// What is made when it is asked for first, once for all who ask.
actor Once<Value: Sendable> {
  private let make: @Sendable () async throws -> Value
  private var making: Task<Value, any Error>?

  init(_ make: @escaping @Sendable () async throws -> Value) { self.make = make }

  /// Throws what making it throws.
  var value: Value {
    get async throws {
      let making = self.making ?? Task { [make] in try await make() }
      self.making = making
      return try await making.value
    }
  }
}
