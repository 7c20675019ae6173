// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import StereoVideo

/// The pipeline of a player, and what comes out of it.
///
/// Whatever changes the pipeline's state or position happens in one line, a thing at a time; the
/// streaming threads bring pictures and never wait for that. With the last reference to it, the
/// pipeline goes.
final class Playback: Sendable {
  let program: PlaybackProgram
  let pipeline: Pipeline
  let problem: PipelineProblem
  /// What came last is what is shown.
  let frames = Broadcast<StereoFrame>(depth: 1)
  let states = Broadcast<StereoPlayer.State>(depth: 64)
  let control = Locked(Control())
  private let sinks: [AppSink]
  private let feed: CompositionFeed?
  private let queue = Blocking.Queue()
  private let pairs: Locked<PairMatcher<AppSink.Sample>>

  /// What is wanted, and how far it is.
  struct Control {
    var rate = 1.0
    var loops = false
    var isPlaying = false
    var hasEnded = false
    /// Of the seek whose part of the movie is played.
    var seekNumber: UInt32?
    /// Whether that part ends in a loop.
    var endsInLoop = false
    /// Loops since the last pair of pictures.
    var emptyLoops = 0
    /// Why the sound is not heard.
    var warning: StereoMediaError?
    /// Why it cannot go on.
    var failure: StereoMediaError?
    /// No longer wanted, or beyond use.
    var isOver = false
  }

  /// Builds the pipeline.
  ///
  /// - Throws: a ``StereoMediaError`` where it cannot be built.
  init(_ program: PlaybackProgram) throws {
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
        try pipeline.element(named: PlaybackProgram.composedSource).map {
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
        ?? StereoMediaError(.compositionFailed, "the compositor gave up: \(error)")
      // Who waits for pictures in the line looks there.
      problem.fail(failure)
      self?.start { _ in throw failure }
    }
  }

  /// Builds it and waits for the first frame.
  static func open(_ program: PlaybackProgram) async throws -> Playback {
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
    // Waits for the streaming threads. What they call lives as long.
    queue.start { withExtendedLifetime((sinks, feed)) { pipeline.end() } }
  }

  /// Nobody wants it any more: what is waited for ends.
  func close() {
    control.withLock { $0.isOver = true }
    frames.end()
    states.end()
    feed?.stop()
    let pipeline = pipeline
    Blocking.start { pipeline.end() }
  }

  // MARK: The line

  /// Does something when all that was asked for before is done.
  ///
  /// - Parameter body: gets nothing where the playback is over. An error that it throws ends the
  ///   playback.
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

  /// The same, for a task that waits for it. An error of the movie's is thrown and ends nothing; one
  /// of the pipeline's does both.
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

  /// Whether the task that waits is cancelled.
  final class Cancellation: Sendable {
    private let isCancelled = Locked(false)

    func cancel() { isCancelled.withLock { $0 = true } }

    func check() throws {
      if isCancelled.current { throw CancellationError() }
    }
  }

  /// Ends the playback for an error. In the line.
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

  /// Gives out the pictures of a frame.
  ///
  /// - Parameter again: even if it is the frame that is shown already.
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

  /// When it is shown, and the index of its frame.
  func place(of sample: AppSink.Sample) -> (time: ClockTime, index: Int?) {
    let time = sample.streamTime ?? 0
    return (time, program.frames.index(ofPictureAt: time))
  }

  /// The pictures that the sinks wait with in PAUSED.
  func prerolled() throws -> [AppSink.Sample] {
    // No streaming thread is under way here.
    pairs.withLock { $0.clear() }
    let samples = sinks.compactMap { $0.pullPreroll() }
    guard samples.count == sinks.count else { return [] }
    guard samples.allSatisfy({ $0.streamTime == samples[0].streamTime }) else {
      throw StereoMediaError(
        .unpairedEyes,
        "the frame at \(Duration(samples[0].streamTime ?? 0)) of '\(program.name)' has one eye only"
      )
    }
    return samples
  }

  /// Has the sinks wait with pictures that are so many further on.
  func skip(_ count: Int) {
    for sink in sinks { sink.skip(count) }
  }

  /// Whether all pictures up to the end have been given out.
  var isAtEnd: Bool { sinks.allSatisfy(\.hasEnded) }

  /// Has the movie searched. False where it cannot be.
  func send(_ seek: Seek) -> Bool {
    let event = Event.seek(seek)
    control.withLock { control in
      control.seekNumber = event.sequenceNumber
      control.endsInLoop = seek.flags.contains(.segment)
    }
    // Composed pictures and their sound come from elements of their own.
    if program.composed != nil, let sound = pipeline.element(named: DecodeGraph.soundSink) {
      guard sound.send(event) else { return false }
    }
    return sinks.first?.push(event) ?? false
  }

  /// Says why the sound is not heard.
  func warn(_ reason: StereoMediaError) {
    control.withLock { $0.warning = reason }
    states.send(.warning(reason), isPassing: true)
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
    where pipeline.child(sending: message) == DecodeGraph.soundSink:
      warn(.silent(program.name, failure.message))
    case .other("segment-done"): start { try $0.loop(behind: message.sequenceNumber) }
    case .other("latency"): start { $0.pipeline.answer(message) }
    case .other("clock-lost"):
      start { if $0.control.current.isPlaying { $0.pipeline.answer(message) } }
    default: break
    }
  }
}

extension StereoMediaError {
  /// Why a movie's sound is not heard.
  static func silent(_ path: String, _ reason: String, hint: String? = nil) -> StereoMediaError {
    StereoMediaError(.soundless, "the sound of '\(path)' cannot be heard: \(reason)", hint: hint)
  }
}
