// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import PipelineFile

/// One attempt to run a graph, from start to end; ``PipelineRun`` makes further attempts if the
/// file requests restarts.
final class RunAttempt: Sendable {
  enum Signal: Sendable {
    case message(Message)
    case tick
    case stop
    case abort
    case notStarted
    case failed(Diagnostic)
  }

  struct Outcome {
    let result: Result<RunProgress, RunFailure>
    /// Whether the end of the stream has reached all sinks, so that the files are complete even
    /// after a failure.
    let isFinished: Bool
    /// Whether data of input files was discarded because the run was stopped.
    var isCutShort = false
    /// Duration of the attempt.
    let elapsed: Duration
  }

  private let pipeline: HostedPipeline
  private let take: AttemptOutputs
  private let options: PipelineRun.Options
  private let events: AsyncStream<PipelineRun.Event>.Continuation
  private let inbox: AsyncStream<Signal>
  private let outbox: AsyncStream<Signal>.Continuation
  private let assembly: GraphAssembly
  private let lastGraph = Locked<String?>(nil)

  /// Time limit for stopping the pipeline. Only a source that hangs takes this long.
  private static let patience = Duration.seconds(5)
  /// The time limit if something is known to hang.
  private static let shortPatience = Duration.seconds(1)
  /// The time limit for the answer to a message.
  private static let answerPatience = Duration.milliseconds(500)

  init(
    _ pipeline: HostedPipeline, _ take: AttemptOutputs, _ options: PipelineRun.Options,
    _ events: AsyncStream<PipelineRun.Event>.Continuation
  ) {
    self.pipeline = pipeline
    self.take = take
    self.options = options
    self.events = events
    let (inbox, outbox) = AsyncStream.makeStream(of: Signal.self)
    (self.inbox, self.outbox) = (inbox, outbox)
    assembly = GraphAssembly(
      pipeline.graph, registry: pipeline.registry, locations: take.locations,
      overwrites: options.overwrites, report: { outbox.yield(.failed($0)) },
      warn: { events.yield(.warning($0)) })
  }

  func stop() { outbox.yield(.stop) }
  func abort() { outbox.yield(.abort) }
  var graphAtEnd: String? { lastGraph.current }
  var incompletePaths: [String] { take.incompletePaths }

  /// Returns whether anything was recorded in the file of the sink with this index in the graph.
  func hasRecorded(_ sink: Int) -> Bool { assembly.hasRecorded(sink) }

  func run() async -> Outcome {
    do {
      try assembly.build()
    } catch {
      return Outcome(
        result: .failure(RunFailure(.notBuilt, error.diagnostics)), isFinished: false,
        elapsed: .zero)
    }
    let pump = Task { [assembly, outbox] in
      for await message in assembly.pipeline.bus.messages { outbox.yield(.message(message)) }
    }
    let beat = min(options.interval, .milliseconds(200))
    let ticker = Task { [outbox] in
      while !Task.isCancelled {
        try await Task.sleep(for: beat)
        outbox.yield(.tick)
      }
    }
    Blocking.start { [assembly, outbox] in
      if !assembly.pipeline.play() { outbox.yield(.notStarted) }
    }
    let watch = RunWatch(pipeline, assembly, take, options, beat: beat, events)
    let (outcome, hangs) = await watch.outcome(inbox)
    pump.cancel()
    ticker.cancel()
    if options.keepsGraph {
      let graph = assembly.pipeline.dot
      lastGraph.withLock { $0 = graph }
    }
    // Nothing else may use the pipeline while it ends: an answer to a lost clock would start it
    // again, and elements that one thread disposes of must not be reached from another.
    await watch.stopAnswering(timeout: Self.answerPatience)
    _ = await Blocking.run(timeout: hangs ? Self.shortPatience : Self.patience) { [assembly] in
      assembly.pipeline.end()
    }
    // The messages hold their elements.
    await pump.value
    outbox.finish()
    for await _ in inbox {}
    return outcome
  }
}

/// The steps by which a stopped or failed run ends: its sources are told to end the stream; if that
/// does not get through, its muxers and sinks are; and if that does not help either, the run ends
/// anyway.
struct RunEnding {
  enum Reason {
    case stopped
    case failed(RunFailure)
  }

  enum Step {
    /// Send EOS downstream of the sources, which ignore it before PLAYING.
    case endAfterSources
    /// Send EOS to the muxer inputs that receive no data, so that the others continue.
    case endIdleInputs
    /// Send EOS to the muxers and drop data that is blocked upstream of them.
    case endAtMuxers
    case giveUp
  }

  private(set) var reason: Reason
  /// Whether everything that waits upstream of the muxers is discarded.
  let isImmediate: Bool
  /// Number of steps taken.
  private var step: Int
  /// Time in seconds in which the pipeline has been idle.
  private var rest = 0.0
  /// Time in seconds without progress.
  private var timeWithoutProgress = 0.0
  private var elapsed = 0.0
  private var hasEndedAfterSources: Bool

  /// Limit for being busy without progress, in seconds: an encoder with a long lookahead works for
  /// long before it outputs anything.
  private static let longPatience = 60.0
  /// Time that a graph may take to start before its sources can be told to end, in seconds.
  private static let startPatience = 0.8

  /// Time for processing the data already received if an input hangs, in seconds.
  private static let hangPatience = 2.6

  /// - Parameter isImmediate: whether the muxers have been told to end the stream.
  init(_ reason: Reason, isImmediate: Bool = false) {
    self.reason = reason
    self.isImmediate = isImmediate
    step = isImmediate ? 2 : 0
    hasEndedAfterSources = isImmediate
  }

  /// Whether the stream had to be ended by force.
  var isCut: Bool { !isImmediate && step > 0 }

  /// The idle time before each step, in seconds. A stopped run must finish within five seconds even
  /// if its input hangs.
  private var patience: [(Step, Double)] {
    var (first, second, last) = (1.2, 0.8, 1.2)
    if case .failed(let failure) = reason {
      switch failure.kind {
      case .frozen: first = 0
      case .aborted: (first, second, last) = (0, 0, 0.8)
      case .wouldOverwrite, .notBuilt, .failed: first = 0.4
      }
    }
    return [(.endIdleInputs, first), (.endAtMuxers, second), (.giveUp, last)]
  }

  /// Records a failure; only the first one is reported, except that an abort takes precedence.
  mutating func fail(_ failure: RunFailure) {
    if case .failed(let first) = reason, first.kind == .aborted || failure.kind != .aborted {
      return
    }
    reason = .failed(failure)
    (rest, timeWithoutProgress) = (0, 0)
  }

  /// Returns the next step, if one is due after another `interval` seconds.
  ///
  /// - Parameter hasSentEndOfStream: whether the end of the stream has been sent.
  mutating func next(_ state: Activity.State, interval: Double, hasSentEndOfStream: Bool) -> Step? {
    elapsed += interval
    if !hasSentEndOfStream, !hasEndedAfterSources, elapsed >= Self.startPatience {
      hasEndedAfterSources = true
      return .endAfterSources
    }
    if case .stopped = reason, hasEndedAfterSources || isCut, step < 2,
      elapsed >= Self.hangPatience
    {
      (rest, timeWithoutProgress, step) = (0, 0, 2)
      return .endAtMuxers
    }
    timeWithoutProgress = state == .moves ? 0 : timeWithoutProgress + interval
    rest = state == .rests ? rest + interval : 0
    let (next, patience) = patience[min(step, 2)]
    guard rest >= patience || timeWithoutProgress >= Self.longPatience else { return nil }
    (rest, timeWithoutProgress) = (0, 0)
    step += 1
    return next
  }
}
