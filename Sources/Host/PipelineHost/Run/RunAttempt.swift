// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import PipelineFile

/// A graph from its first state to its last: what ``PipelineRun`` starts, and starts again where
/// the file asks for that.
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
    /// The end of the stream has come to all sinks: the files are whole, on failure too.
    let isFinished: Bool
    /// In seconds.
    let elapsed: Double
  }

  private let pipeline: HostedPipeline
  private let take: Take
  private let options: PipelineRun.Options
  private let events: AsyncStream<PipelineRun.Event>.Continuation
  private let inbox: AsyncStream<Signal>
  private let outbox: AsyncStream<Signal>.Continuation
  private let assembly: GraphAssembly
  private let lastGraph = Locked<String?>(nil)

  /// A source that hangs cannot be waited for; nothing else takes this long.
  private static let patience = Duration.seconds(5)
  /// Where it is known that something hangs.
  private static let shortPatience = Duration.seconds(1)

  init(
    _ pipeline: HostedPipeline, _ take: Take, _ options: PipelineRun.Options,
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
      report: { outbox.yield(.failed($0)) }, warn: { events.yield(.warning($0)) })
  }

  func stop() { outbox.yield(.stop) }
  func abort() { outbox.yield(.abort) }
  var graphAtEnd: String? { lastGraph.current }

  /// Whether anything was recorded in the file of the sink at this position in the graph.
  func hasRecorded(_ sink: Int) -> Bool { assembly.hasRecorded(sink) }

  func run() async -> Outcome {
    do {
      try assembly.build()
    } catch {
      return Outcome(
        result: .failure(RunFailure(.notBuilt, error.diagnostics)), isFinished: false, elapsed: 0)
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
    _ = await Blocking.run(timeout: hangs ? Self.shortPatience : Self.patience) { [assembly] in
      assembly.pipeline.end()
    }
    return outcome
  }
}

/// How a run that was stopped or has failed comes to its end: its sources are told to end the
/// stream; where that does not get through, its muxers and sinks are; and where that does not help
/// either, the run ends without.
struct RunEnding {
  enum Reason {
    case stopped
    case failed(RunFailure)
  }

  enum Step {
    /// The stream ends behind the sources, which take no word because the graph has not started.
    case endBehindSources
    /// The stream ends at the muxers' inputs that nothing comes to, so that the others go on.
    case endWhereNothingComes
    /// The stream ends at the muxers, without what is held up before them.
    case endAtMuxers
    case giveUp
  }

  private(set) var reason: Reason
  /// How many steps have been taken.
  private var step = 0
  /// In seconds.
  private var rest = 0.0
  private var standstill = 0.0
  private var elapsed = 0.0
  private var hasEndedBehindSources = false

  /// An encoder that looks far ahead works for long before anything comes out of it.
  private static let longPatience = 60.0
  /// How long a graph has to start before its sources can be told to end, in seconds.
  private static let startPatience = 0.8

  /// How long what has come through may be worked off where an input hangs, in seconds.
  private static let hangPatience = 2.6

  init(_ reason: Reason) {
    self.reason = reason
  }

  /// The stream did not end by itself.
  var isCut: Bool { step > 0 }

  /// How long nothing may happen before each step, in seconds. What was stopped is to be finished
  /// within five seconds even where its input hangs.
  private var patience: [(Step, Double)] {
    var (first, second, last) = (1.2, 0.8, 1.2)
    if case .failed(let failure) = reason {
      switch failure.kind {
      case .frozen: first = 0
      case .aborted: (first, second, last) = (0, 0, 0.8)
      case .wouldOverwrite, .notBuilt, .failed: first = 0.4
      }
    }
    return [(.endWhereNothingComes, first), (.endAtMuxers, second), (.giveUp, last)]
  }

  /// The first failure is the one to be told.
  mutating func fail(_ failure: RunFailure) {
    if case .failed(let first) = reason, first.kind == .aborted || failure.kind != .aborted {
      return
    }
    reason = .failed(failure)
    (rest, standstill) = (0, 0)
  }

  /// What is to be done next, after `interval` seconds more.
  ///
  /// - Parameter hasTold: whether the sources have been told.
  mutating func next(_ state: Activity.State, interval: Double, hasTold: Bool) -> Step? {
    elapsed += interval
    if !hasTold, !hasEndedBehindSources, elapsed >= Self.startPatience {
      hasEndedBehindSources = true
      return .endBehindSources
    }
    if case .stopped = reason, hasEndedBehindSources || isCut, step < 2,
      elapsed >= Self.hangPatience
    {
      (rest, standstill, step) = (0, 0, 2)
      return .endAtMuxers
    }
    standstill = state == .moves ? 0 : standstill + interval
    rest = state == .rests ? rest + interval : 0
    let (next, patience) = patience[min(step, 2)]
    guard rest >= patience || standstill >= Self.longPatience else { return nil }
    (rest, standstill) = (0, 0)
    step += 1
    return next
  }
}
