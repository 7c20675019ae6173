// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// A movie that is being encoded and written: takes frames and sound as fast as they are worked off.
///
/// One task at a time gives to each input. With the last reference to it, the pipeline goes.
final class Encode: Sendable {
  /// What comes from the program as one: the pictures of all eyes, or a track of sound.
  private struct Input: Sendable {
    let name: String
    let sources: FedPipeline.Input
    /// How far the movie has got by what was given; nil before anything was.
    var reach: Duration?
    var hasEnded = false
  }

  private struct State {
    var isClosed = false
    var inputs: [Input]
  }

  private let pipeline: FedPipeline
  private let state: Locked<State>

  /// How many buffers wait in each source.
  private static let depth = 2

  /// How long one input may wait for another.
  static let patience = Duration.seconds(10)

  /// Builds the pipeline and starts it, for threads that may block.
  ///
  /// - Parameters:
  ///   - path: what messages call the file.
  ///   - file: where it is written.
  init(_ path: String, _ graph: WriterGraph, file: String, sound: String?) throws {
    do {
      let pipeline = try Pipeline(parsing: graph.line)
      try pipeline.element(named: WriterGraph.sink)?.set("location", parsing: file)
      if let sound { try pipeline.element(named: "sound")?.set("location", parsing: sound) }
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

  /// Stops everything, and waits for that. Who waits in another function gets an error.
  func close() async {
    state.withLock { $0.isClosed = true }
    pipeline.waker.wake()
    await pipeline.close()
  }

  /// Says what buffers an input gives.
  func setCaps(_ caps: [Caps], of input: Int) {
    state.current.inputs[input].sources.setCaps(caps)
  }

  /// Gives a buffer to each source of an input, once there is room for them.
  ///
  /// - Parameters:
  ///   - input: by its position in the graph.
  ///   - reach: the time up to which the movie is known then, by this input.
  /// - Throws: a ``StereoMediaError``; `CancellationError`, before anything is given, where the task
  ///   is cancelled.
  func append(_ buffers: [Buffer], to input: Int, until reach: Duration) async throws {
    try await wait(in: input) { $0.sources.wantsMore }
    try state.current.inputs[input].sources.push(
      buffers, failure: StereoMediaError(.encodingFailed, "what was given cannot be encoded"))
    state.withLock { $0.inputs[input].reach = reach }
  }

  /// Says that an input gives nothing more.
  func end(_ input: Int) {
    let ended = state.withLock { state -> FedPipeline.Input? in
      guard !state.inputs[input].hasEnded else { return nil }
      state.inputs[input].hasEnded = true
      return state.inputs[input].sources
    }
    ended?.end()
    // Who waits for it waits no more.
    pipeline.waker.wake()
  }

  /// Ends the movie: what was given is worked off and the file is finished.
  func finish() async throws {
    for input in state.current.inputs.indices { end(input) }
    while !pipeline.problem.hasEnded {
      let count = pipeline.waker.count
      try check()
      if pipeline.problem.hasEnded { return }
      await pipeline.waker.wait(since: count)
    }
  }

  /// Waits until an input can be given something.
  private func wait(in input: Int, until isReady: (Input) -> Bool) async throws {
    let start = ContinuousClock.now
    while true {
      let count = pipeline.waker.count
      try check()
      let inputs = state.current.inputs
      if inputs[input].hasEnded {
        throw StereoMediaError(
          .invalidInput, "nothing can follow behind the end of \(inputs[input].name)")
      }
      if isReady(inputs[input]) { return }
      if ContinuousClock.now - start >= Self.patience,
        let starved = Self.starved(inputs, by: input)
      {
        throw starved
      }
      await pipeline.waker.wait(since: count, atMost: Self.patience)
    }
  }

  /// Throws where the pipeline gives up, or nobody wants it any more.
  private func check() throws {
    try Task.checkCancellation()
    if let error = pipeline.problem.error { throw error }
    guard !state.current.isClosed else {
      throw StereoMediaError(.invalidInput, "the movie has ended")
    }
  }

  /// What keeps an input waiting: another one that has nothing, and is behind. Nil where the encoders are
  /// at work.
  private static func starved(_ inputs: [Input], by waiting: Int) -> StereoMediaError? {
    let reach = inputs[waiting].reach ?? .zero
    let starved = inputs.enumerated().first { position, input in
      position != waiting && !input.hasEnded && input.sources.isEmpty
        && input.reach ?? .zero < reach
    }
    return starved.map { _, input in
      StereoMediaError(
        .stalled,
        "\(inputs[waiting].name) has waited for \(patience) at \(reach) for \(input.name), which "
          + "has come up to \(input.reach ?? .zero)",
        hint: "append what belongs to one time together, or from two tasks, and end what is over")
    }
  }
}

/// A pipeline that takes what a program gives by some `appsrc`s. It goes with the last reference to it.
final class FedPipeline: Sendable {
  let waker: Waker
  let problem: PipelineProblem
  private let pipeline: Pipeline
  private let sources: [AppSource]

  /// Starts a pipeline, for threads that may block.
  ///
  /// - Parameters:
  ///   - sources: the names of the `appsrc`s.
  ///   - depth: how many buffers may wait in each.
  ///   - waker: wakes who waits for room, or for what happens in the pipeline.
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
    // Waits for the streaming threads. What they call lives as long.
    Blocking.start { withExtendedLifetime(sources) { pipeline.end() } }
  }

  /// Some of the sources, by their positions.
  func input(_ positions: Range<Int>) -> Input {
    Input(sources: sources[positions.clamped(to: sources.indices)], problem: problem)
  }

  /// All sources.
  var input: Input { input(sources.indices) }

  /// Sources that are given a buffer each.
  struct Input: Sendable {
    fileprivate let sources: ArraySlice<AppSource>
    fileprivate let problem: PipelineProblem

    /// Says what the buffers from now on are, source by source.
    func setCaps(_ caps: [Caps]) {
      for (source, caps) in zip(sources, caps) { source.setCaps(caps) }
    }

    /// Whether there is room for one buffer more of each.
    var wantsMore: Bool { sources.allSatisfy(\.wantsMore) }

    /// Whether what was given has been taken.
    var isEmpty: Bool { sources.allSatisfy(\.isEmpty) }

    /// Gives a buffer to each.
    ///
    /// - Throws: what the pipeline has reported, or else an error that says `failure`.
    func push(_ buffers: [Buffer], failure: StereoMediaError) throws {
      for (source, buffer) in zip(sources, buffers) {
        do {
          try source.push(buffer)
        } catch {
          throw problem.error ?? failure
        }
      }
    }

    /// Says that nothing more comes.
    func end() {
      for source in sources { source.end() }
    }
  }

  /// Stops everything, and waits for that.
  func close() async {
    let pipeline = pipeline
    try? await Blocking.run { pipeline.end() }
  }
}
