internal import GStreamer
internal import PipelineFile

/// A graph from its first state to its last: what ``PipelineRun`` starts, and starts again where
/// the file asks for that.
final class RunAttempt: Sendable {
  private enum Signal: Sendable {
    case message(Message)
    case tick
    case stop
    case abort
    case notStarted
    case failed(Diagnostic)
  }

  private let pipeline: HostedPipeline
  private let outputs: OutputFiles
  private let options: PipelineRun.Options
  private let events: AsyncStream<PipelineRun.Event>.Continuation
  private let inbox: AsyncStream<Signal>
  private let outbox: AsyncStream<Signal>.Continuation
  private let assembly: GraphAssembly
  private let lastGraph = Locked<String?>(nil)
  private let answers = Blocking.Line()

  /// A source that hangs cannot be waited for; nothing else takes this long.
  private static let patience = Duration.seconds(5)

  init(
    _ pipeline: HostedPipeline, _ outputs: OutputFiles, _ options: PipelineRun.Options,
    _ events: AsyncStream<PipelineRun.Event>.Continuation
  ) {
    self.pipeline = pipeline
    self.outputs = outputs
    self.options = options
    self.events = events
    let (inbox, outbox) = AsyncStream.makeStream(of: Signal.self)
    (self.inbox, self.outbox) = (inbox, outbox)
    assembly = GraphAssembly(
      pipeline.graph, registry: pipeline.registry, locations: outputs.locations
    ) { outbox.yield(.failed($0)) }
  }

  func stop() { outbox.yield(.stop) }
  func abort() { outbox.yield(.abort) }
  var graph: String { assembly.pipeline.dot }
  var graphAtEnd: String? { lastGraph.current }

  func run() async throws(RunFailure) -> RunProgress {
    do {
      try assembly.build()
    } catch {
      throw RunFailure(.notBuilt, error.diagnostics)
    }
    let pump = Task { [assembly, outbox] in
      for await message in assembly.pipeline.bus.messages { outbox.yield(.message(message)) }
    }
    let ticker = Task { [outbox, options] in
      while !Task.isCancelled {
        try await Task.sleep(for: options.interval)
        outbox.yield(.tick)
      }
    }
    Blocking.start { [assembly, outbox] in
      if !assembly.pipeline.play() { outbox.yield(.notStarted) }
    }
    let result = await result()
    pump.cancel()
    ticker.cancel()
    if options.keepsGraph {
      let graph = graph
      lastGraph.withLock { $0 = graph }
    }
    _ = await Blocking.run(timeout: Self.patience) { [assembly] in
      assembly.pipeline.end()
    }
    return try result.get()
  }

  private func result() async -> Result<RunProgress, RunFailure> {
    var meter = ProgressMeter(of: pipeline.graph)
    var watchdog = Watchdog(assembly)
    let inputs = InputFiles(of: pipeline.graph, registry: pipeline.registry)
    // By the element that misses them.
    var missing: [String: String] = [:]
    var isStarted = true
    func progress() -> RunProgress {
      let meters = assembly.state.withLock { $0.meters }
      return meter.progress(meters, bytes: outputs.size)
    }
    for await signal in inbox {
      switch signal {
      case .tick:
        guard isStarted else { return .failure(.init(.failed, notStarted)) }
        events.yield(.progress(progress()))
        if let frozen = watchdog.complaint() { return .failure(.init(.frozen, frozen)) }
        for meter in assembly.state.withLock({ $0.meters }) { meter.watchOn() }
      case .stop: Blocking.start { [assembly] in assembly.pipeline.endStream() }
      case .abort:
        return .failure(.init(.aborted, Diagnostic(.error, "the run was stopped", at: nil)))
      // Mostly, the error message that says why comes first.
      case .notStarted: isStarted = false
      case .failed(let diagnostic): return .failure(.init(.failed, diagnostic))
      case .message(let message):
        if let plugin = message.missingPlugin, let child = assembly.pipeline.child(sending: message)
        {
          missing[child] = plugin
        }
        switch message.content {
        case .endOfStream:
          if let problem = assembly.missingPad() ?? inputs.complaint() {
            return .failure(.init(.failed, problem))
          }
          var progress = progress()
          if progress.frames == nil, let end = assembly.pipeline.position {
            let seconds = Double(end) / Double(ClockTime.second)
            progress.position = max(progress.position ?? 0, seconds)
          }
          events.yield(.progress(progress))
          return .success(progress)
        case .error(let failure):
          let diagnostic =
            assembly.missingPad(behind: failure)
            ?? assembly.diagnostic(
              .error, failure, message, missing: missing)
          return .failure(.init(.failed, diagnostic))
        case .warning(let failure):
          events.yield(
            .warning(assembly.diagnostic(.warning, failure, message, missing: missing)))
        // It may wait for a change of state that itself waits for data.
        default: answers.start { [assembly] in assembly.pipeline.answer(message) }
        }
      }
    }
    return .failure(.init(.aborted, Diagnostic(.error, "the run was stopped", at: nil)))
  }

  private var notStarted: Diagnostic {
    Diagnostic(.error, "the pipeline does not start, and no element says why", at: nil)
  }
}

extension GraphAssembly {
  /// An element's error or warning with the line that makes the element.
  fileprivate func diagnostic(
    _ severity: Diagnostic.Severity, _ failure: PipelineFailure, _ message: Message,
    missing: [String: String]
  ) -> Diagnostic {
    let child = pipeline.child(sending: message)
    let place = child.flatMap(location(ofChild:))
    // The first line is a place in the element's source code.
    let details = failure.debug.split(separator: "\n").dropFirst().joined(separator: ", ")
    let help =
      child.flatMap { missing[$0] }.map { "it would need \($0)" }
      ?? (details.isEmpty ? nil : details)
    return Diagnostic(
      severity, "\(place?.title ?? "'\(failure.element)'"): \(failure.message)",
      at: place?.location, help: help)
  }

  /// A stream that goes nowhere fails as an "internal data stream error" of the source.
  fileprivate func missingPad(behind failure: PipelineFailure) -> Diagnostic? {
    failure.debug.contains("not-linked") ? missingPad() : nil
  }
}
