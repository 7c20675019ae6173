// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import PartialFile
internal import StereoVideo

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Writes pairs of pictures into a spatial movie (MV-HEVC in QuickTime or MP4) or, depending on
/// ``Settings/layout``, into one with both eyes in each frame.
///
/// ``append(left:right:at:duration:)`` waits until the encoder has room, so only a few frames are
/// buffered. Until ``finish()``, `movie.mov` is called `movie.incomplete.mov`. This file is
/// playable up to about its last two seconds even if the program crashes, and it remains if the
/// writer is released without ``cancel()``, unless ``Settings/keepsIncomplete`` is false.
///
/// ```swift
/// let writer = try StereoWriter("copy.mov")
/// for try await frame in StereoReader(movie) { try await writer.append(frame) }
/// print(try await writer.finish().byteCount)
/// ```
///
/// Encoding loads libx265 or libx264, which are licensed under the GPL: it then applies to the
/// program, too.
public final class StereoWriter: Sendable {
  /// The result of writing a movie.
  public struct Report: Equatable, Sendable {
    /// Path of the file: the requested one, or one with a number added if a file of that name has
    /// been created in the meantime.
    public let path: String
    /// Number of frames; a frame contains both eyes.
    public let frameCount: Int
    /// Size of the file in bytes.
    public let byteCount: Int
  }

  private enum Phase {
    /// No input yet.
    case waiting
    case writing(Encode)
    case over
  }

  private struct State {
    var phase = Phase.waiting
    /// The format of all frames; nil before the first one.
    var format: PictureFormat?
    var lastTime: Duration?
    var frameCount = 0
  }

  private let path: String
  private let settings: Settings
  private let graph: WriterGraph
  private let file: PartialFile
  let audioTracks: [AudioInputTrack]
  private let queue = TaskQueue()
  private let starting = TaskQueue()
  private let state = Locked(State())

  /// Checks the settings and creates the incomplete file; starts nothing.
  ///
  /// - Parameters:
  ///   - path: the file to write. Its extension determines the container: `.mov`, `.mp4` or `.m4v`.
  ///   - settings: the settings of the movie.
  ///   - audio: audio tracks whose samples are added with ``append(_:to:)``. They follow the tracks
  ///     of ``Settings/sound``.
  /// - Throws: a ``StereoMediaError`` if the file exists and must not be replaced, another writer
  ///   has it open, it cannot be written, a setting is out of range, or two audio tracks have the
  ///   same name.
  public init(_ path: String, _ settings: Settings = Settings(), audio: [AudioInput] = []) throws {
    try settings.check()
    guard Set(audio.map(\.id)).count == audio.count else {
      throw StereoMediaError(.invalidInput, "two audio tracks have the same name")
    }
    graph = try WriterGraph(path, settings, audio: audio)
    audioTracks = audio.enumerated().map {
      AudioInputTrack($1, position: WriterGraph.frames + 1 + $0)
    }
    (self.path, self.settings) = (path, settings)
    guard settings.replaces || !FileName.isTaken(path) else {
      throw StereoMediaError(
        .outputExists, "'\(path)' already exists", hint: "set Settings.replaces to replace it")
    }
    do {
      file = try PartialFile(path)
    } catch {
      throw Self.failure(error, path)
    }
  }

  deinit {
    // A file without frames is not worth keeping.
    let (frameCount, phase) = state.withLock { ($0.frameCount, $0.phase) }
    if case .over = phase, frameCount > 0 { return }
    if frameCount == 0 || !settings.keepsIncomplete { file.remove() }
  }

  /// Adds a frame.
  ///
  /// - Parameters:
  ///   - left: the left eye's picture.
  ///   - right: the right eye's picture. It has the same format, size and colour space as the left
  ///     one and as all earlier pictures.
  ///   - time: presentation time from the movie's start, later than that of the previous frame.
  ///   - duration: time until the next frame; nil if it is unknown. Only that of the last frame is
  ///     used and, if ``Settings/frameRate`` is nil, that of the first.
  /// - Throws: a ``StereoMediaError`` with the code ``StereoMediaError/Code/invalidInput`` if the
  ///   frame does not fit the earlier ones or the writer has finished; the movie is then unchanged.
  ///   With any other code if the movie cannot be written; the hint then names the incomplete file.
  ///   `CancellationError` if the task is cancelled before the frame has been added.
  public func append(
    left: Picture, right: Picture, at time: Duration, duration: Duration? = nil
  ) async throws {
    try await queue.run {
      let encode = try await self.encode(left, right, time, duration)
      let sources = self.graph.inputs[WriterGraph.frames].sources
      let buffers = [left, right].prefix(sources.count).map { Self.buffer($0, time, duration) }
      try await self.keeping {
        try await encode.append(buffers, to: WriterGraph.frames, until: time)
      }
      self.state.withLock { state in
        state.lastTime = time
        state.frameCount += 1
      }
    }
  }

  /// Adds a frame of a movie at its own time.
  ///
  /// - Throws: the errors of ``append(left:right:at:duration:)``.
  public func append(_ frame: StereoFrame) async throws {
    try await append(
      left: frame.left, right: frame.right, at: frame.time, duration: frame.duration)
  }

  /// Declares that no more frames follow, while audio may still follow. Does nothing if it has been
  /// called before.
  ///
  /// - Throws: a ``StereoMediaError`` with the code ``StereoMediaError/Code/invalidInput`` if there
  ///   are no frames or the writer has finished.
  public func endFrames() async throws {
    try await queue.run { try self.withFrames().end(WriterGraph.frames) }
  }

  /// Encodes the remaining input, completes the movie and renames the file.
  ///
  /// - Throws: a ``StereoMediaError`` if there are no frames or the movie cannot be written; the
  ///   incomplete file then remains, and the hint names it. `CancellationError` if the task is
  ///   cancelled; the movie can then still be finished or cancelled.
  public func finish() async throws -> Report {
    try await queue.run {
      try await self.end()
      let name = try self.named()
      return Report(
        path: name, frameCount: self.state.withLock { $0.frameCount },
        byteCount: FileName.size(of: name))
    }
  }

  /// Stops and removes the incomplete file. Does nothing after the end.
  public func cancel() async {
    let phase = state.withLock { state in
      defer { state.phase = .over }
      return state.phase
    }
    switch phase {
    case .over: return
    case .waiting: break
    case .writing(let encode): await encode.close()
    }
    file.remove()
  }

  /// Completes the incomplete file, which keeps its name, or removes it if the settings demand it.
  func keep() async {
    guard settings.keepsIncomplete else { return await cancel() }
    try? await queue.run { try await self.end() }
  }

  /// Writes a movie and finishes it. If `body` throws, the incomplete file is completed and kept
  /// under its name unless ``Settings/keepsIncomplete`` is false; if it throws `CancellationError`,
  /// the file is removed. `body` runs in the
  /// caller's isolation.
  ///
  /// - Throws: the errors of ``init(_:_:audio:)`` and ``finish()``; any error that `body` throws.
  public static func write(
    _ path: String, _ settings: Settings = Settings(), audio: [AudioInput] = [],
    isolation: isolated (any Actor)? = #isolation,
    _ body: (StereoWriter) async throws -> Void
  ) async throws -> Report {
    let writer = try StereoWriter(path, settings, audio: audio)
    do {
      try await body(writer)
      return try await writer.finish()
    } catch {
      if error is CancellationError || Task.isCancelled {
        await writer.cancel()
      } else {
        await writer.keep()
      }
      throw error
    }
  }

  // MARK: Serialized

  /// Returns the encoder after checking that a frame fits the earlier ones.
  private func encode(
    _ left: Picture, _ right: Picture, _ time: Duration, _ duration: Duration?
  ) async throws -> Encode {
    let (first, lastTime) = state.withLock { ($0.format, $0.lastTime) }
    if time < .zero {
      throw StereoMediaError(.invalidInput, "a frame at \(time) is before the movie's start")
    }
    if let lastTime, time <= lastTime {
      throw StereoMediaError(.invalidInput, "frame times must increase: \(time) after \(lastTime)")
    }
    let (format, other) = (PictureFormat(left), PictureFormat(right))
    guard format == other else {
      throw StereoMediaError(
        .invalidInput, "the left eye's picture is \(format), the right eye's \(other)")
    }
    if first == nil { try settings.check(sizeOfEye: left) }
    if let first, first != format {
      throw StereoMediaError(
        .invalidInput, "the picture at \(time) is \(format), earlier pictures are \(first)")
    }
    let encode = try await started()
    if first == nil {
      let rate =
        settings.frameRate ?? duration.flatMap { $0 > .zero ? 1 / ($0 / .seconds(1)) : nil }
      let caps = left.info.caps.with(
        ["framerate": .fraction(Fraction(rate: rate ?? 0))],
        removing: ["multiview-mode", "multiview-flags", "views"])
      let full = settings.addingLightLevels(to: caps)
      encode.setCaps([full, full], of: WriterGraph.frames)
      state.withLock { $0.format = format }
    }
    return encode
  }

  /// Returns the encoder, which the first call starts.
  func started() async throws -> Encode {
    try await starting.run {
      switch self.state.withLock({ $0.phase }) {
      case .over: throw StereoMediaError(.invalidInput, "writing '\(self.path)' has already ended")
      case .writing(let encode): return encode
      case .waiting: break
      }
      try await Engine.start()
      let encode = try await Blocking.run {
        [path = self.path, graph = self.graph, file = self.file, settings = self.settings] in
        try Encode(
          path, graph, file: file.path, audio: settings.audio?.source.currentPath(),
          tags: settings.tags)
      }
      let isOver = self.state.withLock { state in
        if case .over = state.phase { return true }
        state.phase = .writing(encode)
        return false
      }
      guard !isOver else {
        throw StereoMediaError(.invalidInput, "writing '\(self.path)' has already ended")
      }
      return encode
    }
  }

  /// Returns the encoder of a movie that has frames.
  private func withFrames() throws -> Encode {
    let (phase, count) = state.withLock { ($0.phase, $0.frameCount) }
    guard case .writing(let encode) = phase, count > 0 else {
      throw StereoMediaError(
        .invalidInput, "'\(path)' has no frames, or writing has already ended")
    }
    return encode
  }

  /// Ends the stream and waits until the file is complete.
  private func end() async throws {
    let encode = try withFrames()
    do {
      try await encode.finish()
    } catch let error as StereoMediaError {
      state.withLock { $0.phase = .over }
      await encode.close()
      throw kept(error)
    }
    state.withLock { $0.phase = .over }
    await encode.close()
  }

  /// Renames the file.
  private func named() throws(StereoMediaError) -> String {
    do {
      return try file.finish(as: path, replaces: settings.replaces)
    } catch {
      throw kept(Self.failure(error, path))
    }
  }

  /// Runs `body`; adds the name of the incomplete file to an error that ends the movie.
  func keeping(_ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch let error as StereoMediaError where ![.invalidInput, .stalled].contains(error.code) {
      throw kept(error)
    }
  }

  /// Returns the error with a hint that names the incomplete file, or removes the file if it is
  /// empty.
  private func kept(_ error: StereoMediaError) -> StereoMediaError {
    guard file.size > 0, settings.keepsIncomplete else {
      file.remove()
      return error
    }
    return StereoMediaError(
      error.code, error.message, hint: "the incomplete movie is '\(file.path)'")
  }

  private static func buffer(
    _ picture: Picture, _ time: Duration, _ duration: Duration?
  ) -> Buffer {
    let buffer = picture.buffer.copied()
    buffer.pts = time.clockTime
    buffer.dts = nil
    buffer.duration = duration.flatMap { $0 > .zero ? $0.clockTime : nil }
    return buffer
  }

  private static func failure(_ failure: PartialFile.Failure, _ path: String) -> StereoMediaError {
    switch failure {
    case .busy:
      StereoMediaError(
        .outputExists, "'\(path)' is already being written", hint: "choose another name")
    case .system(_, let code):
      StereoMediaError(
        .unwritable, "'\(path)' cannot be written: \(String(cString: strerror(code)))",
        hint: code == ENOENT ? "create its folder first" : nil)
    }
  }
}

extension Fraction {
  /// Converts a frame rate, rounded to a whole number or an NTSC rate if it is close to one; 0/1 if
  /// it is out of range.
  init(rate: Double) {
    guard rate >= 0.001, rate <= 1_000_000 else {
      self.init(0, 1)
      return
    }
    let whole = rate.rounded()
    let ntsc = (rate * 1.001).rounded()
    if abs(rate - whole) < 0.0005 {
      self.init(Int32(whole), 1)
    } else if abs(rate * 1.001 - ntsc) < 0.0005 {
      self.init(Int32(ntsc) * 1000, 1001)
    } else {
      self.init(Int32((rate * 1000).rounded()), 1000)
    }
  }
}
