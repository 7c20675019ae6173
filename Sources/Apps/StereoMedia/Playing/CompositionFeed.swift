// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import StereoVideo

/// Feeds the frames of a composition to a player's pipeline, from the last seek position and on
/// demand.
final class CompositionFeed: Sendable {
  private struct State {
    /// Number of the last seek: frames for earlier ones are dropped.
    var search = 0
    /// The seek position; nil after the source has requested the first frame from there.
    var start: ClockTime? = 0
    var work: Task<Void, Never>?
    /// The format in the current caps.
    var format: PictureFormat?
    var isOver = false
    var failed: (@Sendable (any Error) -> Void)?
  }

  private let source: AppSource
  private let composed: ComposedFrames
  private let frames: FrameIndex
  private let waker: Waker
  private let state: Locked<State>

  /// Number of queued buffers: both eyes of two frames.
  private static let depth = 4

  /// - Parameters:
  ///   - element: an `appsrc` of a pipeline that is not running yet.
  ///   - composed: composes the frames.
  ///   - frames: the times of the composition's frames.
  init(_ element: Element, _ composed: ComposedFrames, _ frames: FrameIndex) throws {
    (self.composed, self.frames) = (composed, frames)
    let (waker, state) = (Waker(), Locked(State()))
    (self.waker, self.state) = (waker, state)
    let needData = Locked<(@Sendable () -> Void)?>(nil)
    source = AppSource(
      element, depth: Self.depth,
      AppSource.Callbacks(
        needData: {
          waker.wake()
          needData.current?()
        },
        seekData: { time in
          state.withLock { state in
            state.search += 1
            state.start = time
            state.work?.cancel()
          }
        }))
    needData.withLock { $0 = { [weak self] in self?.begin() } }
  }

  /// Called once with the error that ended the feed.
  var failed: (@Sendable (any Error) -> Void)? {
    get { state.current.failed }
    set { state.withLock { $0.failed = newValue } }
  }

  /// Ends the feed.
  func stop() {
    state.withLock { state in
      state.isOver = true
      state.work?.cancel()
    }
  }

  /// Composes from the last seek position, unless that has begun.
  private func begin() {
    state.withLock { state in
      guard !state.isOver, let start = state.start.take() else { return }
      let (search, last) = (state.search, state.work)
      state.work = Task { [weak self] in
        await last?.value
        await self?.work(from: start, search)
      }
    }
  }

  private func work(from start: ClockTime, _ search: Int) async {
    do {
      try await composed.compose(frames.index(ofPictureAt: start) ?? 0) { frame in
        try await give(frame, from: start, search)
      }
      state.withLock { state in
        if state.search == search { source.end() }
      }
    } catch is NotAccepted {
      // There is a new seek, the feed is stopped, or the pipeline posts the error itself.
    } catch {
      let failed = state.withLock { state in
        state.isOver || state.search != search ? nil : state.failed
      }
      failed?(error)
    }
  }

  /// The pipeline does not accept the frame.
  private struct NotAccepted: Error {}

  /// Waits for room and passes on a frame.
  private func give(_ frame: StereoFrame, from start: ClockTime, _ search: Int) async throws {
    while !source.wantsMore {
      let count = waker.count
      if source.wantsMore { break }
      try Task.checkCancellation()
      await waker.wait(since: count)
    }
    try Task.checkCancellation()
    try state.withLock { state in
      guard state.search == search, !state.isOver else { throw NotAccepted() }
      let format = PictureFormat(frame.left)
      if format != state.format { source.setCaps(caps(of: frame.left)) }
      state.format = format
      for buffer in buffers(of: frame, from: start) {
        do {
          try source.push(buffer)
        } catch {
          throw NotAccepted()
        }
      }
    }
  }

  /// Returns the caps for one picture for both eyes, or for those of the two eyes alternately.
  private func caps(of picture: Picture) -> Caps {
    let rate = (composed.rate ?? 0) * (composed.isMono ? 1 : 2)
    let caps = picture.info.caps.with(
      ["framerate": .fraction(Fraction(rate: rate))],
      removing: ["multiview-mode", "multiview-flags", "views"])
    return composed.isMono ? caps : caps.withMultiview(.frameByFrame)
  }

  /// Returns the buffers of a frame. They are copies that share the memory, as the program may keep
  /// its own.
  private func buffers(of frame: StereoFrame, from start: ClockTime) -> [Buffer] {
    let time = max(frame.time.clockTime, start)
    let duration = frame.duration.map { (frame.time + $0).clockTime - time }
    guard !composed.isMono else { return [buffer(of: frame.left, at: time, duration)] }
    let half = (duration ?? 0) / 2
    let first = buffer(of: frame.left, at: time, half)
    first.flags.insert(.firstInBundle)
    return [first, buffer(of: frame.right, at: time + half, half)]
  }

  private func buffer(of picture: Picture, at time: ClockTime, _ duration: ClockTime?) -> Buffer {
    let buffer = picture.buffer.copied()
    buffer.flags.subtract(.views)
    (buffer.pts, buffer.dts, buffer.duration) = (time, nil, duration)
    return buffer
  }
}

/// The content of a player: the frames of a movie or a composition, and their pipeline as text.
struct PlaybackContent: Sendable {
  /// The name in messages.
  let name: String
  let frames: FrameIndex
  let metadata: SpatialMetadata
  /// The pipeline in gst-launch syntax.
  let line: String
  /// The names of the sinks: those of the left and the right eye, or a single one.
  let sinks: [String]
  /// The file for the element `source`; nil if there is none.
  let moviePath: String?
  /// Composes the frames; nil for those of a movie.
  let composed: ComposedFrames?

  /// The name of the `appsrc` for composed frames.
  static let composedSource = "composed"

  /// Creates the content from a movie.
  ///
  /// - Throws: a ``StereoMediaError`` if the file has changed.
  init(_ source: MovieSource, _ graph: DecodeGraph) throws(StereoMediaError) {
    (name, frames, metadata) = (source.name, source.facts.frames, source.facts.metadata)
    (line, sinks, moviePath, composed) = (graph.line, graph.sinks, try source.currentPath(), nil)
  }

  /// Creates the content from a composition.
  ///
  /// - Throws: a ``StereoMediaError`` if it has too many frames, or the movie with the audio has
  ///   changed.
  init<Compositor: StereoCompositor>(
    _ composition: StereoComposition<Compositor>, _ plan: CompositionPlan, withAudio: Bool
  ) throws {
    let isMono = composition.compositor.output == .mono
    (name, metadata, frames) = ("the composition", composition.metadata, try plan.frames())
    let queue = "queue max-size-buffers=3 max-size-bytes=0 max-size-time=0 ! appsink name="
    let pictures =
      isMono
      ? "\(queue)only" : "sbssplit name=eyes eyes.left ! \(queue)left eyes.right ! \(queue)right"
    var line = "appsrc name=\(Self.composedSource) ! \(pictures)"
    if withAudio { line += " filesrc name=source ! mvhevcdemux name=demux\(DecodeGraph.audio)" }
    self.line = line
    sinks = isMono ? ["only"] : ["left", "right"]
    moviePath = try withAudio ? composition.audioMovie?.source.currentPath() : nil
    composed = ComposedFrames(isMono: isMono, rate: plan.frameRate) { index, take in
      var composer = try Composer(composition, from: index)
      while let frame = try await composer.next() { try await take(frame) }
    }
  }
}

/// The frames of a composition, regardless of the type of its compositor.
struct ComposedFrames: Sendable {
  /// Whether one picture is for both eyes.
  let isMono: Bool
  /// Frame rate in frames per second; nil if it is unknown.
  let rate: Double?
  /// Composes the frames from an index onwards, one by one, and waits until each has been taken.
  let compose:
    @Sendable (_ index: Int, _ take: (StereoFrame) async throws -> Void) async throws -> Void
}
