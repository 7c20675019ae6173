// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import Glibc
internal import ISOBMFF
internal import PipelineFile
internal import StereoMedia
internal import Synchronization
internal import Web

/// The properties of a movie for the viewer's page.
struct ViewerMovie {
  let movie: StereoMovie

  var json: JSON {
    let facts = movie.facts
    let name = movie.path.split(separator: "/").last.map(String.init) ?? movie.path
    return [
      "name": .string(name),
      "retag": facts.stereo == .layered
        ? .string("gst-spatial run retag input=" + ShellWord.quoted(movie.path)) : .null,
      "facts": .array(facts.rows().map { .array([.string($0.title), .string($0.value)]) }),
      "spatial": .bool(movie.isSpatial),
      "eyes": facts.stereo == .no ? 1 : 2,
      "width": JSON(movie.video?.eyeWidth), "height": JSON(movie.video?.eyeHeight),
      "pixel-shape": JSON(pixelShape),
      "projection": JSON(facts.metadata.projection?.rawValue),
      "field-of-view": JSON(facts.metadata.horizontalFieldOfView?.degrees),
      "disparity": JSON(facts.metadata.disparityAdjustment?.pictureWidths),
      "sound": .bool(ViewerAudio.track(of: movie) != nil),
      "anaglyph": anaglyph,
      // Microseconds.
      "times": .array(facts.frames.map { JSON(Int64(($0.time / .microseconds(1)).rounded())) }),
      "bytes": .array(facts.frames.map { JSON($0.byteCount) }),
      "keyframes": .array(facts.frames.indices.filter { facts.frames[$0].isSync }.map { JSON($0) }),
    ]
  }

  /// Pixel aspect ratio of an eye, width divided by height.
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

  /// The rows of the matrices that compute red, green and blue from each eye.
  private var anaglyph: JSON {
    let matrices = Anaglyph.Method.redCyanDubois.matrices
    func rows(_ matrix: [[Double]]) -> JSON { .array(matrix.map { .array($0.map { JSON($0) }) }) }
    return ["left": rows(matrices.left), "right": rows(matrices.right)]
  }
}

/// The audio of a movie as a file that browsers play: AAC in MP4, copied if it already is AAC.
///
/// The open file is unlinked, so nothing remains on disk however the viewer ends.
enum ViewerAudio {
  /// Returns the first audio track; nil if there is none.
  static func track(of movie: StereoMovie) -> StereoMovie.Track? {
    movie.tracks.first { $0.kind == .audio }
  }

  /// - Throws: a ``StereoMediaError`` if the audio cannot be converted.
  static func file(of movie: StereoMovie) async throws -> OpenFile {
    guard let track = track(of: movie) else {
      throw StereoMediaError(.outOfRange, "'\(movie.path)' has no audio")
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
    try pipeline.element(named: "source")?.set("location", parsing: movie.source.currentPath())
    try pipeline.element(named: "sink")?.set("location", parsing: "\(folder.path)/sound.m4a")
    do {
      try await pipeline.run()
    } catch let failure as PipelineFailure {
      throw StereoMediaError(.decodingFailed, "the audio cannot be converted: \(failure.message)")
    }
    // The temporary folder may be a symbolic link, which `OpenFile` does not accept.
    guard let path = realpath(folder.path, nil) else { throw FileError(code: errno) }
    defer { free(path) }
    guard let file = OpenFile(["sound.m4a"], in: String(cString: path)) else {
      throw StereoMediaError(.unreadable, "the audio file cannot be opened")
    }
    return file
  }
}

/// Provides the pictures of a movie's frames as image files.
final class FramePictures: Sendable {
  /// The requested picture of a frame.
  struct Request {
    /// The eye; nil for `show`.
    var eye: Eye?
    var show = StereoImageGenerator.Show.both
    var format = ImageFormat.jpeg()
    /// Maximum width in pixels; nil for that of the movie.
    var width: Int?

    /// - Parameters:
    ///   - name: `left`, `right`, `both` or `anaglyph`.
    ///   - request: the request, whose query may set the format `f` and the width `w`.
    /// - Returns: nil for an invalid request.
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

  /// Maximum number of pending requests. The page needs both eyes of the current frame and of the
  /// next ones.
  private static let limit = 8

  init(_ movie: StereoMovie) {
    pair = StereoImageGenerator(movie, show: movie.video?.layout == .mono ? .left : .both)
    anaglyph = StereoImageGenerator(movie, show: .anaglyph)
  }

  /// Returns an image file.
  ///
  /// - Returns: nil if there are too many pending requests.
  /// - Throws: a ``StereoMediaError``; `CancellationError` if the client disconnects.
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

/// A value that is computed once, on first use.
actor Once<Value: Sendable> {
  private let make: @Sendable () async throws -> Value
  private var making: Task<Value, any Error>?

  init(_ make: @escaping @Sendable () async throws -> Value) { self.make = make }

  /// The value, or the error of computing it.
  var value: Value {
    get async throws {
      let making = self.making ?? Task { [make] in try await make() }
      self.making = making
      return try await making.value
    }
  }
}
