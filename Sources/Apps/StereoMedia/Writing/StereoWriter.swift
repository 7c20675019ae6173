// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import PartialFile
internal import StereoVideo

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Writes a spatial movie, MV-HEVC in QuickTime or MP4, out of pairs of pictures; or one with both eyes
/// in each frame, where ``Settings/layout`` says so.
///
/// ``append(left:right:at:duration:)`` waits until the encoder has room, so that no more than a few
/// frames pile up before it. Until ``finish()``, `movie.mov` is called `movie.incomplete.mov`: it
/// plays up to about its last two seconds whatever happens to the program, and stays where the writer
/// is given up without ``cancel()``.
///
/// ```swift
/// let writer = try StereoWriter("copy.mov")
/// for try await frame in StereoReader(movie) { try await writer.append(frame) }
/// print(try await writer.finish().byteCount)
/// ```
///
/// Encoding loads libx265 or libx264, which are under the GPL: a program that writes movies is bound
/// by it.
public final class StereoWriter: Sendable {
  /// What was written.
  public struct Report: Equatable, Sendable {
    /// The file's name: that which was asked for, or one with a number where a file of that name has
    /// appeared meanwhile.
    public let path: String
    /// How many frames there are, of both eyes each.
    public let frameCount: Int
    /// The size of the file.
    public let byteCount: Int
  }

  private enum Phase {
    /// Nothing has come yet.
    case waiting
    case writing(Encode)
    case over
  }

  private struct State {
    var phase = Phase.waiting
    /// Of all frames; nil before the first one.
    var format: PictureFormat?
    var lastTime: Duration?
    var frameCount = 0
  }

  private let path: String
  private let settings: Settings
  private let graph: WriterGraph
  private let file: PartialFile
  let sounds: [SoundTrack]
  private let queue = TaskQueue()
  private let starting = TaskQueue()
  private let state = Locked(State())

  /// Checks the settings and takes hold of the file; nothing is started.
  ///
  /// - Parameters:
  ///   - path: the file to write. Its ending says what it is to be: `.mov`, `.mp4` or `.m4v`.
  ///   - settings: how it is written.
  ///   - sound: tracks of sound that come as samples, by ``append(_:to:)``, behind those of
  ///     ``Settings/sound``.
  /// - Throws: a ``StereoMediaError`` where there is such a file that must not be replaced, where
  ///   somebody else is writing it, where it cannot be written, where a setting has no such value, and
  ///   where two tracks of sound have one name.
  public init(_ path: String, _ settings: Settings = Settings(), sound: [SoundInput] = []) throws {
    try settings.check()
    guard Set(sound.map(\.id)).count == sound.count else {
      throw StereoMediaError(.invalidInput, "two tracks of sound have one name")
    }
    graph = try WriterGraph(path, settings, sound: sound)
    sounds = sound.enumerated().map { SoundTrack($1, position: WriterGraph.frames + 1 + $0) }
    (self.path, self.settings) = (path, settings)
    guard settings.replaces || !FileName.isTaken(path) else {
      throw StereoMediaError(
        .outputExists, "'\(path)' is there already", hint: "Settings.replaces has it replaced")
    }
    do {
      file = try PartialFile(path)
    } catch {
      throw Self.failure(error, path)
    }
  }

  deinit {
    // Without frames, there is nothing to be kept.
    if state.withLock({ $0.frameCount }) == 0 { file.remove() }
  }

  /// Adds a frame.
  ///
  /// - Parameters:
  ///   - left: the left eye's picture.
  ///   - right: the right eye's, of the same format, size and colours; those of all frames are the
  ///     same.
  ///   - time: when the frame is shown, from the movie's beginning; later than the one before.
  ///   - duration: until the next frame is shown; nil where that is not known. It counts for the last
  ///     frame, and where ``Settings/frameRate`` is nil, for the first.
  /// - Throws: a ``StereoMediaError`` of the code ``StereoMediaError/Code/invalidInput`` where the
  ///   frame does not go on from those before, or the writer has ended, behind which all is as it was;
  ///   any other where the movie cannot be written, whose hint names what there is of it;
  ///   `CancellationError` where the task is cancelled
  ///   before the frame is taken.
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
  /// - Throws: as ``append(left:right:at:duration:)`` does.
  public func append(_ frame: StereoFrame) async throws {
    try await append(
      left: frame.left, right: frame.right, at: frame.time, duration: frame.duration)
  }

  /// Says that no more frames come, though sound goes on; does nothing where that was said.
  ///
  /// - Throws: a ``StereoMediaError`` of the code ``StereoMediaError/Code/invalidInput`` where there
  ///   are no frames, or the writer has ended.
  public func endFrames() async throws {
    try await queue.run { try self.withFrames().end(WriterGraph.frames) }
  }

  /// Ends the movie: what was given is encoded, and the file gets its name.
  ///
  /// - Throws: a ``StereoMediaError`` where there are no frames, and where the movie cannot be written;
  ///   what there is of it stays as an incomplete file, which the hint names. `CancellationError` where
  ///   the task is cancelled; then the movie can be finished yet, or cancelled.
  public func finish() async throws -> Report {
    try await queue.run {
      try await self.end()
      let name = try self.named()
      return Report(
        path: name, frameCount: self.state.withLock { $0.frameCount },
        byteCount: FileName.size(of: name))
    }
  }

  /// Stops, and removes what was written; does nothing behind the end.
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

  /// Ends what was written, which stays as an incomplete file.
  func keep() async { try? await queue.run { try await self.end() } }

  /// Writes a movie, and finishes it. Where `body` throws, what was written is finished, too, and stays
  /// as an incomplete file; where it throws `CancellationError`, nothing stays. `body` runs where the
  /// caller does.
  ///
  /// - Throws: as ``init(_:_:sound:)`` and ``finish()`` do; what `body` throws.
  public static func write(
    _ path: String, _ settings: Settings = Settings(), sound: [SoundInput] = [],
    isolation: isolated (any Actor)? = #isolation,
    _ body: (StereoWriter) async throws -> Void
  ) async throws -> Report {
    let writer = try StereoWriter(path, settings, sound: sound)
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

  // MARK: One at a time

  /// The encoder, for a frame that goes on from those before.
  private func encode(
    _ left: Picture, _ right: Picture, _ time: Duration, _ duration: Duration?
  ) async throws -> Encode {
    let (first, lastTime) = state.withLock { ($0.format, $0.lastTime) }
    if time < .zero {
      throw StereoMediaError(.invalidInput, "a frame at \(time) is before the movie's beginning")
    }
    if let lastTime, time <= lastTime {
      throw StereoMediaError(.invalidInput, "a frame at \(time) comes behind one at \(lastTime)")
    }
    let (format, other) = (PictureFormat(left), PictureFormat(right))
    guard format == other else {
      throw StereoMediaError(
        .invalidInput, "the left eye's picture is \(format), the right eye's \(other)")
    }
    if let first, first != format {
      throw StereoMediaError(
        .invalidInput, "the picture at \(time) is \(format), those before it are \(first)")
    }
    let encode = try await started()
    if first == nil {
      let rate =
        settings.frameRate ?? duration.flatMap { $0 > .zero ? 1 / ($0 / .seconds(1)) : nil }
      let caps = left.info.caps.with(
        ["framerate": .fraction(Fraction(rate: rate ?? 0))],
        removing: ["multiview-mode", "multiview-flags", "views"])
      encode.setCaps([caps, caps], of: WriterGraph.frames)
      state.withLock { $0.format = format }
    }
    return encode
  }

  /// The encoder, which the first who needs it starts.
  func started() async throws -> Encode {
    try await starting.run {
      switch self.state.withLock({ $0.phase }) {
      case .over: throw StereoMediaError(.invalidInput, "the movie '\(self.path)' has ended")
      case .writing(let encode): return encode
      case .waiting: break
      }
      try await Engine.start()
      let encode = try await Blocking.run {
        [path = self.path, graph = self.graph, file = self.file, settings = self.settings] in
        try Encode(path, graph, file: file.path, sound: settings.sound?.source.path)
      }
      let isOver = self.state.withLock { state in
        if case .over = state.phase { return true }
        state.phase = .writing(encode)
        return false
      }
      guard !isOver else {
        throw StereoMediaError(.invalidInput, "the movie '\(self.path)' has ended")
      }
      return encode
    }
  }

  /// The encoder of a movie that has frames.
  private func withFrames() throws -> Encode {
    let (phase, count) = state.withLock { ($0.phase, $0.frameCount) }
    guard case .writing(let encode) = phase, count > 0 else {
      throw StereoMediaError(
        .invalidInput, "the movie '\(path)' has no frames to be finished, or has ended")
    }
    return encode
  }

  /// Ends the stream, and waits for the end of the file.
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

  /// Gives the file its name.
  private func named() throws(StereoMediaError) -> String {
    do {
      return try file.finish(as: path, replaces: settings.replaces)
    } catch {
      throw kept(Self.failure(error, path))
    }
  }

  /// Does what writes; where that ends the movie, what is thrown names what there is of it.
  func keeping(_ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch let error as StereoMediaError where ![.invalidInput, .stalled].contains(error.code) {
      throw kept(error)
    }
  }

  /// The same error, with the name of what is there.
  private func kept(_ error: StereoMediaError) -> StereoMediaError {
    guard file.size > 0 else {
      file.remove()
      return error
    }
    return StereoMediaError(
      error.code, error.message, hint: "what there is of it is '\(file.path)'")
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
        .outputExists, "'\(path)' is being written already", hint: "choose another name")
    case .system(let name, let code):
      StereoMediaError(
        .unwritable, "'\(name)' cannot be written: \(String(cString: strerror(code)))")
    }
  }
}

extension Fraction {
  /// A rate of frames a second, of the NTSC family where it is near; 0/1 for none.
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
