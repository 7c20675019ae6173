// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
public import StereoVideo

/// Plays a stereo movie, or a ``StereoComposition``, in real time, with its sound, and gives each frame
/// when it is due.
///
/// A program that draws asks for ``frame()`` as often as its screen is drawn; another one loops over
/// ``frames``. What is not asked for in time is left out. A player that is let go of stops.
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
  /// Where the sound goes.
  public enum SoundOutput: Sendable {
    /// To the device that the system prefers. Without one, the movie plays silently, and
    /// ``StereoPlayer/states`` has a warning.
    case automatic
    /// Nowhere.
    case none
  }

  /// How exactly a place is searched.
  public enum Tolerance: Sendable {
    /// The frame that is shown at that time.
    case exact
    /// The last frame up to it that decoding can start with, which is quicker.
    case keyframe
  }

  /// What a player does.
  public enum State: Equatable, Sendable {
    /// It holds a frame, at the beginning the first one.
    case paused
    /// It plays.
    case playing
    /// It holds the last frame; playing on begins with the first one.
    case ended
    /// It plays on, but not as it should: the sound is not heard.
    case warning(StereoMediaError)
    /// It cannot go on. Nothing comes behind this.
    case failed(StereoMediaError)
  }

  private let playback: Playback
  private let given = Locked(0)

  /// Opens a movie and shows its first frame, paused.
  ///
  /// - Parameters:
  ///   - movie: what is played.
  ///   - sound: where its first track of sound goes.
  ///   - format: the format of the pictures; nil for what the decoder gives.
  ///   - size: the size of the pictures; nil for that of the movie.
  ///   - packing: how the eyes share a frame of a movie that does not say so; of no meaning for any
  ///     other.
  /// - Throws: a ``StereoMediaError`` where the movie cannot be decoded; `CancellationError` where the
  ///   task is cancelled.
  public init(
    _ movie: StereoMovie, sound: SoundOutput = .automatic, format: PixelFormat? = nil,
    size: PictureSize? = nil, packing: PackingLayout? = nil
  ) async throws {
    try await Engine.start()
    playback = try await Self.open(sound == .automatic ? movie : nil) { withSound in
      let graph = try DecodeGraph(
        movie.source, .eyes, DecodeGraph.Conversion(format: format, size: size), packing: packing,
        pace: .realTime(withSound: withSound))
      return PlaybackProgram(movie.source, graph)
    }
  }

  /// Opens a composition and shows its first frame, paused: the same frames as those of
  /// ``StereoComposition/frames()``, each composed a little before it is due. Where the compositor is
  /// slower than that, frames come late, and are left out.
  ///
  /// A jump to a frame that the compositor skips shows the next one that it does not.
  ///
  /// - Parameters:
  ///   - composition: what is played, as it is now.
  ///   - sound: where the sound of ``StereoComposition/sound`` goes.
  /// - Throws: a ``StereoMediaError`` where the sources and times do not go together, a source cannot be
  ///   decoded, or the compositor throws at the first frame; `CancellationError` where the task is
  ///   cancelled.
  public init<Compositor: StereoCompositor>(
    _ composition: StereoComposition<Compositor>, sound: SoundOutput = .automatic
  ) async throws {
    try await Engine.start()
    let plan = try composition.plan()
    playback = try await Self.open(sound == .automatic ? composition.soundMovie : nil) {
      withSound in
      try PlaybackProgram(composition, plan, withSound: withSound)
    }
  }

  /// Opens what is to be played with its sound, or without it where that cannot be heard.
  ///
  /// - Parameter movie: whose sound is wanted; nil for none.
  private static func open(
    _ movie: StereoMovie?, _ program: (_ withSound: Bool) throws -> PlaybackProgram
  ) async throws -> Playback {
    guard let movie, movie.tracks.contains(where: { $0.kind == .sound }) else {
      return try await Playback.open(program(false))
    }
    do {
      return try await Playback.open(program(true))
    } catch let error as StereoMediaError {
      // What is wrong may be the sound.
      let playback = try await Playback.open(program(false))
      playback.warn(.silent(movie.path, error.message, hint: error.hint))
      return playback
    }
  }

  deinit { playback.close() }

  /// Plays on from the frame that is shown, or from the first one where the movie has ended.
  ///
  /// - Parameter rate: how fast, from 0.1 to 16; other numbers count as the nearest of these. Sound
  ///   is as much higher as it is faster.
  public func play(rate: Double = 1) {
    let rate = rate.isNaN ? 1 : min(max(rate, 0.1), 16)
    playback.start { try $0.play(rate: rate) }
  }

  /// Holds the frame that is shown.
  public func pause() {
    playback.start { $0.pause() }
  }

  /// Goes to a time of the movie and shows the frame there: before the first frame that, behind the
  /// last one that. What was played plays on from there.
  ///
  /// - Throws: a ``StereoMediaError`` where that frame cannot be decoded or the playback has failed;
  ///   `CancellationError` where the task is cancelled, which may be before or behind the jump.
  public func seek(to time: Duration, _ tolerance: Tolerance = .exact) async throws {
    try await playback.run { playback, cancellation in
      let frames = playback.program.frames
      let exact = frames.playing(at: time) ?? 0
      let index =
        tolerance == .exact ? exact : frames[...exact].lastIndex(where: \.isSync) ?? 0
      try playback.jump(to: index, cancellation)
    }
  }

  /// Goes so many frames on, or back where the count is below 0, but not beyond the first and the
  /// last one; shows the frame there and pauses.
  ///
  /// - Throws: as ``seek(to:_:)`` does.
  public func step(by count: Int) async throws {
    try await playback.run { try $0.step(by: count, $1) }
  }

  /// That of the frame that is shown.
  public var time: Duration { playback.frames.latest?.element.time ?? .zero }

  /// Whether the first frame follows the last one, without a break.
  public var loops: Bool {
    get { playback.control.current.loops }
    set {
      playback.control.withLock { $0.loops = newValue }
      playback.start { try $0.followLoops() }
    }
  }

  /// The newest frame that is due, both eyes of the same time; nil where it was given already. A
  /// place that was searched is shown anew.
  ///
  /// It never waits.
  public func frame() -> StereoFrame? {
    given.withLock { given in
      guard let (frame, number) = playback.frames.latest, number != given else { return nil }
      given = number
      return frame
    }
  }

  /// The frame that is shown, and then each one when it is due. A loop that is too slow for all gets
  /// the newest one. It ends with the player, and where the playback fails.
  public var frames: AsyncStream<StereoFrame> { playback.frames.stream() }

  /// What the player does, and then each change. It ends with the player, and where the playback
  /// fails.
  public var states: AsyncStream<State> {
    playback.states.stream(behind: playback.control.current.warning.map { .warning($0) })
  }
}
