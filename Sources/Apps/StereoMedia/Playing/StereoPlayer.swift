// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
public import StereoVideo

/// Plays a stereo movie or a ``StereoComposition`` in real time, with audio, and provides each
/// frame when it is due.
///
/// A program that draws calls ``frame()`` each time it redraws its screen; others iterate over
/// ``frames``. Frames that are not requested in time are skipped. Releasing the player stops it.
///
/// ```swift
/// let player = try await StereoPlayer(movie)
/// player.loops = true
/// player.play()
/// while isRunning {
///   if let frame = player.frame() { draw(frame.left, frame.right) }
///   swap()
/// }
/// ```
public final class StereoPlayer: Sendable {
  /// The output of the audio.
  public enum AudioOutput: Sendable {
    /// The system's default device. Without one, the movie plays silently, and
    /// ``StereoPlayer/states`` has a warning.
    case automatic
    /// No audio.
    case none
  }

  /// The precision of a seek.
  public enum Tolerance: Sendable {
    /// Seek to the frame that is shown at that time.
    case exact
    /// Seek to the last keyframe up to it, which is faster.
    case keyframe
  }

  /// The state of a player.
  public enum State: Equatable, Sendable {
    /// Paused at a frame; initially the first one.
    case paused
    /// Playing.
    case playing
    /// Ended, with the last frame shown; playing starts again at the first one.
    case ended
    /// The audio cannot be played; playback continues without it.
    case warning(StereoMediaError)
    /// Playback has failed. No state follows.
    case failed(StereoMediaError)
  }

  private let playback: Playback
  private let given = Locked(0)

  /// Opens a movie and shows its first frame, paused.
  ///
  /// - Parameters:
  ///   - movie: the movie to play.
  ///   - audio: the output of its first audio track.
  ///   - format: the pixel format; nil for that of the decoder.
  ///   - size: the picture size; nil for that of the movie.
  ///   - packing: the arrangement of the eyes, for a packed movie that does not signal it; ignored
  ///     for others.
  /// - Throws: a ``StereoMediaError`` if the movie cannot be decoded; `CancellationError` if the
  ///   task is cancelled.
  public init(
    _ movie: StereoMovie, audio: AudioOutput = .automatic, format: PixelFormat? = nil,
    size: PictureSize? = nil, packing: PackingLayout? = nil
  ) async throws {
    try await Engine.start()
    playback = try await Self.open(audio == .automatic ? movie : nil) { withAudio in
      let graph = try DecodeGraph(
        movie.source, .eyes, DecodeGraph.Conversion(format: format, size: size), packing: packing,
        pace: .realTime(withAudio: withAudio))
      return try PlaybackContent(movie.source, graph)
    }
  }

  /// Opens a composition and shows its first frame, paused. The frames are those of
  /// ``StereoComposition/frames()``, each composed shortly before it is due. If the compositor is
  /// slower than real time, late frames are skipped.
  ///
  /// A seek to a frame that the compositor skips shows the next one that it does not skip.
  ///
  /// - Parameters:
  ///   - composition: the composition to play, in its current state.
  ///   - audio: the output of the audio that ``StereoComposition/sound`` selects.
  /// - Throws: a ``StereoMediaError`` if the sources and times are inconsistent, a source cannot be
  ///   decoded or the compositor throws at the first frame; `CancellationError` if the task is
  ///   cancelled.
  public init<Compositor: StereoCompositor>(
    _ composition: StereoComposition<Compositor>, audio: AudioOutput = .automatic
  ) async throws {
    try await Engine.start()
    let plan = try composition.plan()
    playback = try await Self.open(audio == .automatic ? composition.audioMovie : nil) {
      withAudio in
      try PlaybackContent(composition, plan, withAudio: withAudio)
    }
  }

  /// Opens the content with its audio, or without it if the audio cannot be played.
  ///
  /// - Parameter movie: the movie that has the audio; nil for none.
  private static func open(
    _ movie: StereoMovie?, _ program: (_ withAudio: Bool) throws -> PlaybackContent
  ) async throws -> Playback {
    guard let movie, movie.tracks.contains(where: { $0.kind == .audio }) else {
      return try await Playback.open(program(false))
    }
    do {
      return try await Playback.open(program(true))
    } catch let error as StereoMediaError {
      // The audio may be the cause.
      let playback = try await Playback.open(program(false))
      playback.warn(.silent(movie.path, error.message, hint: error.hint))
      return playback
    }
  }

  deinit { playback.close() }

  /// Plays from the current frame, or from the first one if the movie has ended.
  ///
  /// - Parameter rate: the speed, from 0.1 to 16; other values are clamped. The pitch of the audio
  ///   changes with it.
  public func play(rate: Double = 1) {
    let rate = rate.isNaN ? 1 : min(max(rate, 0.1), 16)
    playback.start { try $0.play(rate: rate) }
  }

  /// Pauses at the current frame.
  public func pause() {
    playback.start { $0.pause() }
  }

  /// Seeks to a time and shows the frame there, which is limited to the first and the last one. A
  /// playing movie continues from there.
  ///
  /// - Throws: a ``StereoMediaError`` if that frame cannot be decoded or the playback has failed;
  ///   `CancellationError` if the task is cancelled, which may happen before or after the seek.
  public func seek(to time: Duration, _ tolerance: Tolerance = .exact) async throws {
    try await playback.run { playback, cancellation in
      let frames = playback.program.frames
      let exact = frames.playing(at: time) ?? 0
      let index =
        tolerance == .exact ? exact : frames[...exact].lastIndex(where: \.isSync) ?? 0
      try playback.jump(to: index, cancellation)
    }
  }

  /// Moves by a number of frames, backwards if it is negative and limited to the first and the last
  /// frame, and pauses there.
  ///
  /// - Throws: the errors of ``seek(to:_:)``.
  public func step(by count: Int) async throws {
    try await playback.run { try $0.step(by: count, $1) }
  }

  /// Presentation time of the current frame, on the movie's timeline.
  public var time: Duration { playback.frames.latest?.element.time ?? .zero }

  /// Whether the movie loops, without a gap.
  public var loops: Bool {
    get { playback.control.current.loops }
    set {
      playback.control.withLock { $0.loops = newValue }
      playback.start { try $0.updateLooping() }
    }
  }

  /// Returns the newest frame that is due, with both eyes of the same time; nil if it has been
  /// returned before. After a seek, a frame is returned again.
  ///
  /// It never waits.
  public func frame() -> StereoFrame? {
    given.withLock { given in
      guard let (frame, number) = playback.frames.latest, number != given else { return nil }
      given = number
      return frame
    }
  }

  /// The current frame, and then each one when it is due. A slow loop skips frames. The sequence
  /// ends at the end of the movie, unless it loops; with the player; and if the playback fails. To
  /// follow a movie that is played again, iterate over the sequence again.
  public var frames: AsyncStream<StereoFrame> { playback.frames.stream() }

  /// The current state, and then each change. The sequence ends with the player and if the playback
  /// fails.
  public var states: AsyncStream<State> {
    playback.states.stream(startingWith: playback.control.current.warning.map { .warning($0) })
  }
}
