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
