// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import StereoVideo

/// The pipeline of a player, and its output.
///
/// All changes of the pipeline's state or position are serialized on a queue, for which the
/// streaming threads never wait. Releasing the last reference stops the pipeline.
final class Playback: Sendable {
  let program: PlaybackContent
  let pipeline: Pipeline
  let problem: PipelineProblem
  /// The latest element is the current frame.
  let frames = Broadcast<StereoFrame>(depth: 1)
  let states = Broadcast<StereoPlayer.State>(depth: 64)
  let control = Locked(Control())
  private let sinks: [AppSink]
  private let feed: CompositionFeed?
  private let queue = Blocking.Queue()
  private let pairs: Locked<PairMatcher<AppSink.Sample>>

  /// The requested and the actual state.
  struct Control {
    var rate = 1.0
    var loops = false
    var isPlaying = false
    var hasEnded = false
    /// The sequence number of the seek whose segment is being played.
    var seekNumber: UInt32?
    /// Whether that segment ends in a loop.
    var endsInLoop = false
    /// Number of loops since the last frame.
    var emptyLoops = 0
    /// The reason that the audio is not played.
    var warning: StereoMediaError?
    /// The error that ended the playback.
    var failure: StereoMediaError?
    /// Whether the playback is closed or has failed.
    var isOver = false
  }

  /// Builds the pipeline.
  ///
  /// - Throws: a ``StereoMediaError`` if it cannot be built.
  init(_ program: PlaybackContent) throws {
    self.program = program
    problem = PipelineProblem(program.name)
    do {
      let pipeline = try Pipeline(parsing: program.line)
      if let path = program.moviePath {
        try pipeline.element(named: "source")?.set("location", parsing: path)
      }
      var settings = AppSink.Settings()
      (settings.depth, settings.isSynchronised, settings.drops) = (1, true, true)
      sinks = program.sinks.compactMap { [settings] name in
        pipeline.element(named: name).map { AppSink($0, settings) }
      }
      feed = try program.composed.flatMap { composed in
        try pipeline.element(named: PlaybackContent.composedSource).map {
          try CompositionFeed($0, composed, program.frames)
        }
      }
      self.pipeline = pipeline
    } catch {
      throw StereoMediaError(building: error)
    }
    pairs = Locked(PairMatcher(eyeCount: sinks.count))
    for (eye, sink) in sinks.enumerated() {
      sink.deliver { [weak self] sample in self?.receive(sample, eye) }
    }
    pipeline.bus.watch { [weak self] message in self?.see(message) }
    feed?.failed = { [problem, weak self] error in
      let failure =
        error as? StereoMediaError
        ?? StereoMediaError(.compositionFailed, "the compositor failed: \(error)")
      // Operations on the queue that wait for frames check it there.
      problem.fail(failure)
      self?.start { _ in throw failure }
    }
  }

  /// Builds the pipeline and waits for the first frame.
  static func open(_ program: PlaybackContent) async throws -> Playback {
    let playback = try await Blocking.run { try Playback(program) }
    do {
      try await playback.run { try $0.open($1) }
      return playback
    } catch {
      playback.close()
      throw error
    }
  }

  deinit {
    feed?.stop()
    let (pipeline, sinks, feed) = (pipeline, sinks, feed)
    // Waits for the streaming threads, so the objects that they call have to live until then.
    queue.start { withExtendedLifetime((sinks, feed)) { pipeline.end() } }
  }

  /// Ends the playback and all pending calls.
  func close() {
    control.withLock { $0.isOver = true }
    frames.end()
    states.end()
    feed?.stop()
    let pipeline = pipeline
    Blocking.start { pipeline.end() }
  }

  // MARK: The playback queue

  /// Runs `body` after all earlier operations.
  ///
  /// - Parameter body: the operation. It is skipped if the playback has ended, and ends the
  ///   playback if it throws.
  func start(_ body: @escaping @Sendable (Playback) throws -> Void) {
    queue.start { [weak self] in
      guard let self, !control.current.isOver else { return }
      do {
        try body(self)
      } catch {
        fail(error)
      }
    }
  }

  /// Runs `body` after all earlier operations and waits for its result. An error of the pipeline
  /// ends the playback; other errors are only thrown.
  func run<Result: Sendable>(
    _ body: @escaping @Sendable (Playback, Cancellation) throws -> Result
  ) async throws -> Result {
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        queue.start { [self] in
          continuation.resume(
            with: Swift.Result {
              try cancellation.check()
              let control = control.current
              if let failure = control.failure ?? problem.error { throw failure }
              guard !control.isOver else { throw CancellationError() }
              do {
                return try body(self, cancellation)
              } catch {
                if problem.error != nil || (error as? StereoMediaError)?.code == .stalled {
                  fail(error)
                }
                throw error
              }
            })
        }
      }
    } onCancel: {
      cancellation.cancel()
    }
  }

  /// Whether the waiting task has been cancelled.
  final class Cancellation: Sendable {
    private let isCancelled = Locked(false)

    func cancel() { isCancelled.withLock { $0 = true } }

    func check() throws {
      if isCancelled.current { throw CancellationError() }
    }
  }

  /// Ends the playback with an error. Called on the queue.
  private func fail(_ error: any Error) {
    let failure = error as? StereoMediaError ?? .decoding(program.name, "\(error)")
    let isFirst = control.withLock { control in
      guard !control.isOver else { return false }
      (control.isOver, control.failure) = (true, failure)
      return true
    }
    guard isFirst else { return }
    feed?.stop()
    pipeline.end()
    states.send(.failed(failure))
    frames.end()
    states.end()
  }

  // MARK: Streaming threads

  private func receive(_ sample: AppSink.Sample, _ eye: Int) {
    pairs.withLock { pairs in
      guard let samples = pairs.add(sample, at: sample.streamTime ?? 0, of: eye) else { return }
      control.withLock { $0.emptyLoops = 0 }
      do {
        try show(samples, again: false)
      } catch {
        start { _ in throw error }
      }
    }
  }

  /// Delivers the pictures of a frame.
  ///
  /// - Parameter again: whether to deliver it even if it is the current frame.
  @discardableResult
  func show(_ samples: [AppSink.Sample], again: Bool) throws -> StereoFrame? {
    guard let first = samples.first else { return nil }
    let (time, index) = place(of: first)
    let decoded = Decode.Frame(
      pictures: try samples.map { try Picture($0, of: program.name) }, time: time,
      duration: first.buffer.duration)
    guard
      let frame = StereoFrame(decoded, index, of: program.frames, metadata: program.metadata)
    else { return nil }
    if again || frames.latest?.element.time != frame.time { frames.send(frame) }
    return frame
  }

  /// Returns the time and the frame index of a sample.
  func place(of sample: AppSink.Sample) -> (time: ClockTime, index: Int?) {
    let time = sample.streamTime ?? 0
    return (time, program.frames.index(ofPictureAt: time))
  }

  /// Returns the samples with which the sinks have prerolled.
  func prerolled() throws -> [AppSink.Sample] {
    // The streaming threads are blocked in PAUSED, so they do not add samples.
    pairs.withLock { $0.clear() }
    let samples = sinks.compactMap { $0.pullPreroll() }
    guard samples.count == sinks.count else { return [] }
    guard samples.allSatisfy({ $0.streamTime == samples[0].streamTime }) else {
      throw StereoMediaError(
        .unpairedEyes,
        "the frame at \((samples[0].streamTime ?? 0).duration) of '\(program.name)' has only one "
          + "eye")
    }
    return samples
  }

  /// Makes the sinks drop a number of samples and preroll with the one after them.
  func skip(_ count: Int) {
    for sink in sinks { sink.skip(count) }
  }

  /// Whether all frames up to the end have been delivered.
  var isAtEnd: Bool { sinks.allSatisfy(\.hasEnded) }

  /// Sends a seek. Returns false if the movie is not seekable.
  func send(_ seek: Seek) -> Bool {
    let event = Event.seek(seek)
    control.withLock { control in
      control.seekNumber = event.sequenceNumber
      control.endsInLoop = seek.flags.contains(.segment)
    }
    // The audio of a composition has a source of its own, separate from that of the frames.
    if program.composed != nil, let audio = pipeline.element(named: DecodeGraph.audioSink) {
      guard audio.send(event) else { return false }
    }
    return sinks.first?.push(event) ?? false
  }

  /// Reports that the audio is not played.
  func warn(_ reason: StereoMediaError) {
    control.withLock { $0.warning = reason }
    states.send(.warning(reason), isTransient: true)
  }

  private func see(_ message: Message) {
    if problem.see(message) {
      if problem.error != nil {
        start { playback in
          if let error = playback.problem.error { throw error }
        }
      } else {
        start { $0.end() }
      }
    }
    switch message.content {
    case .warning(let failure)
    where pipeline.child(sending: message) == DecodeGraph.audioSink:
      warn(.silent(program.name, failure.message))
    case .other("segment-done"): start { try $0.loop(after: message.sequenceNumber) }
    case .other("latency"): start { $0.pipeline.answer(message) }
    case .other("clock-lost"):
      start { if $0.control.current.isPlaying { $0.pipeline.answer(message) } }
    default: break
    }
  }
}

extension StereoMediaError {
  /// Returns the error for audio that cannot be played.
  static func silent(_ path: String, _ reason: String, hint: String? = nil) -> StereoMediaError {
    StereoMediaError(
      .audioUnavailable, "the audio of '\(path)' cannot be played: \(reason)", hint: hint)
  }
}
