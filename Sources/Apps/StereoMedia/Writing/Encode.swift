// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// The pipeline that encodes and writes a movie, and takes frames and audio as fast as it can
/// process them.
///
/// Each input is used by one task at a time. Releasing the last reference stops the pipeline.
final class Encode: Sendable {
  /// An input of the movie: the pictures of all eyes, or an audio track.
  private struct Input: Sendable {
    let name: String
    let sources: FedPipeline.Input
    /// The time up to which the input has data; nil before the first.
    var reach: Duration?
    var hasEnded = false
  }

  private struct State {
    var isClosed = false
    var inputs: [Input]
  }

  private let pipeline: FedPipeline
  private let state: Locked<State>

  /// Maximum number of buffers in each source.
  private static let depth = 2

  /// Maximum time that one input waits for another.
  static let patience = Duration.seconds(10)

  /// Builds and starts the pipeline, for threads that may block.
  ///
  /// - Parameters:
  ///   - path: the movie's path, for messages.
  ///   - graph: the pipeline as text.
  ///   - file: the file to write.
  ///   - audio: the movie whose audio is copied; nil for none.
  ///   - tags: the metadata of the movie; nil for none.
  init(
    _ path: String, _ graph: WriterGraph, file: String, audio: String?, tags: TagList?
  ) throws {
    do {
      let pipeline = try Pipeline(parsing: graph.line)
      try pipeline.element(named: WriterGraph.sink)?.set("location", parsing: file)
      if let audio { try pipeline.element(named: "sound")?.set("location", parsing: audio) }
      if let tags { pipeline.element(named: WriterGraph.muxer)?.setTags(tags) }
      for (element, name, value) in graph.properties {
        try pipeline.element(named: element)?.set(name, parsing: value)
      }
      self.pipeline = FedPipeline(
        pipeline, sources: graph.inputs.flatMap(\.sources), depth: Self.depth,
        problem: PipelineProblem(path, .writing))
    } catch {
      throw StereoMediaError(building: error)
    }
    var count = 0
    let inputs = graph.inputs.map { [pipeline] input in
      defer { count += input.sources.count }
      return Input(
        name: input.name, sources: pipeline.input(count..<count + input.sources.count))
    }
    state = Locked(State(inputs: inputs))
  }

  /// Stops the pipeline and waits until it has stopped. Pending calls of other functions throw.
  func close() async {
    state.withLock { $0.isClosed = true }
    pipeline.waker.wake()
    await pipeline.close()
  }

  /// Sets the caps of an input's buffers, source by source.
  func setCaps(_ caps: [Caps], of input: Int) {
    state.current.inputs[input].sources.setCaps(caps)
  }

  /// Waits for room and passes a buffer to each source of an input.
  ///
  /// - Parameters:
  ///   - buffers: one for each source.
  ///   - input: the position of the input in the graph.
  ///   - reach: the time up to which the input then has data.
  /// - Throws: a ``StereoMediaError``; `CancellationError` if the task is cancelled before a buffer
  ///   has been passed on.
  func append(_ buffers: [Buffer], to input: Int, until reach: Duration) async throws {
    try await wait(in: input) { $0.sources.wantsMore }
    try state.current.inputs[input].sources.push(
      buffers, failure: StereoMediaError(.encodingFailed, "the frame or audio cannot be encoded"))
    state.withLock { $0.inputs[input].reach = reach }
  }

  /// Ends an input.
  func end(_ input: Int) {
    let ended = state.withLock { state -> FedPipeline.Input? in
      guard !state.inputs[input].hasEnded else { return nil }
      state.inputs[input].hasEnded = true
      return state.inputs[input].sources
    }
    ended?.end()
    // Wakes tasks that wait for this input.
    pipeline.waker.wake()
  }

  /// Ends all inputs and waits until the file is complete.
  func finish() async throws {
    for input in state.current.inputs.indices { end(input) }
    while !pipeline.problem.hasEnded {
      let count = pipeline.waker.count
      try check()
      if pipeline.problem.hasEnded { return }
      await pipeline.waker.wait(since: count)
    }
  }

  /// Waits until an input can take more data.
  private func wait(in input: Int, until isReady: (Input) -> Bool) async throws {
    let start = ContinuousClock.now
    while true {
      let count = pipeline.waker.count
      try check()
      let inputs = state.current.inputs
      if inputs[input].hasEnded {
        throw StereoMediaError(
          .invalidInput, "cannot append to \(inputs[input].name) after its end")
      }
      if isReady(inputs[input]) { return }
      if ContinuousClock.now - start >= Self.patience,
        let starvationError = Self.starvationError(inputs, by: input)
      {
        throw starvationError
      }
      await pipeline.waker.wait(since: count, atMost: Self.patience)
    }
  }

  /// Throws if the pipeline has failed or has been closed.
  private func check() throws {
    try Task.checkCancellation()
    if let error = pipeline.problem.error { throw error }
    guard !state.current.isClosed else {
      throw StereoMediaError(.invalidInput, "writing has already ended")
    }
  }

  /// Returns the error for an input that waits because another one is empty and lags; nil if the
  /// encoders are merely busy.
  private static func starvationError(_ inputs: [Input], by waiting: Int) -> StereoMediaError? {
    let reach = inputs[waiting].reach ?? .zero
    let starvationError = inputs.enumerated().first { position, input in
      position != waiting && !input.hasEnded && input.sources.isEmpty
        && input.reach ?? .zero < reach
    }
    return starvationError.map { _, input in
      StereoMediaError(
        .stalled,
        "\(inputs[waiting].name) waited at \(reach) for \(patience) for \(input.name), which "
          + "stopped at \(input.reach ?? .zero)",
        hint: "append data of the same time together or from two tasks; end finished inputs")
    }
  }
}

/// A pipeline that is fed through `appsrc` elements. Releasing the last reference stops it.
final class FedPipeline: Sendable {
  let waker: Waker
  let problem: PipelineProblem
  private let pipeline: Pipeline
  private let sources: [AppSource]

  /// Starts a pipeline, for threads that may block.
  ///
  /// - Parameters:
  ///   - sources: the names of the `appsrc` elements.
  ///   - depth: maximum number of buffers in each of them.
  ///   - problem: records the errors of the pipeline.
  ///   - waker: wakes tasks that wait for room or for a message of the pipeline.
  init(
    _ pipeline: Pipeline, sources: [String], depth: Int, problem: PipelineProblem,
    waker: Waker = Waker()
  ) {
    self.pipeline = pipeline
    self.sources = sources.compactMap { name in
      pipeline.element(named: name).map {
        AppSource($0, depth: depth, AppSource.Callbacks(needData: waker.wake))
      }
    }
    (self.waker, self.problem) = (waker, problem)
    problem.listen(to: pipeline, waker)
    pipeline.setState(.playing)
  }

  deinit {
    let (pipeline, sources) = (pipeline, sources)
    // Waits for the streaming threads, so the objects that they call have to live until then.
    Blocking.start { withExtendedLifetime(sources) { pipeline.end() } }
  }

  /// Returns the sources at some positions.
  func input(_ positions: Range<Int>) -> Input {
    Input(sources: sources[positions.clamped(to: sources.indices)], problem: problem)
  }

  /// All sources.
  var input: Input { input(sources.indices) }

  /// Sources that each take a buffer at the same time.
  struct Input: Sendable {
    fileprivate let sources: ArraySlice<AppSource>
    fileprivate let problem: PipelineProblem

    /// Sets the caps of the next buffers, source by source.
    func setCaps(_ caps: [Caps]) {
      for (source, caps) in zip(sources, caps) { source.setCaps(caps) }
    }

    /// Whether each source has room for another buffer.
    var wantsMore: Bool { sources.allSatisfy(\.wantsMore) }

    /// Whether all buffers have been taken.
    var isEmpty: Bool { sources.allSatisfy(\.isEmpty) }

    /// Passes a buffer to each source.
    ///
    /// - Throws: the error that the pipeline has posted, else `failure`.
    func push(_ buffers: [Buffer], failure: StereoMediaError) throws {
      for (source, buffer) in zip(sources, buffers) {
        do {
          try source.push(buffer)
        } catch {
          throw problem.error ?? failure
        }
      }
    }

    /// Ends the stream of each source.
    func end() {
      for source in sources { source.end() }
    }
  }

  /// Stops the pipeline and waits until it has stopped.
  func close() async {
    let pipeline = pipeline
    try? await Blocking.run { pipeline.end() }
  }
}
