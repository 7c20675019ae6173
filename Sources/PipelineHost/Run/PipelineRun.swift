internal import GStreamer
public import PipelineFile

/// One run of a pipeline.
public final class PipelineRun: Sendable {
  public struct Options: Sendable {
    /// Outputs that are there already are replaced.
    public var overwrites = false
    /// How often progress is told.
    public var interval = Duration.milliseconds(200)
    /// Keeps the graph as it was at the end, for ``PipelineRun/graphAtEnd``.
    public var keepsGraph = false

    public init() {}
  }

  public enum Event: Sendable {
    case progress(RunProgress)
    /// An element's warning, or the error behind which the file starts anew.
    case warning(Diagnostic)
  }

  public struct Summary: Sendable {
    public let progress: RunProgress
    /// The finished files.
    public let outputs: [String]
    /// The stream was ended early, by ``PipelineRun/stop()``.
    public let wasStopped: Bool
  }

  /// What happens, until the run ends. For one consumer, which may come late: the newest 256 are
  /// kept.
  public let events: AsyncStream<Event>

  let pipeline: HostedPipeline
  let options: Options
  private let eventSink: AsyncStream<Event>.Continuation
  private let state = Locked(State())

  private struct State {
    var attempt: RunAttempt?
    var isStopping = false
    var isAborted = false
    var graph: String?
  }

  public init(_ pipeline: HostedPipeline, options: Options = Options()) {
    self.pipeline = pipeline
    self.options = options
    (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
  }

  /// Runs to the end of the stream. To be called once. A cancelled task aborts the run.
  @discardableResult
  public func run() async throws(RunFailure) -> Summary {
    defer { eventSink.finish() }
    let outputs = OutputFiles(of: pipeline.graph, registry: pipeline.registry)
    if !options.overwrites, let existing = outputs.existing().first {
      throw RunFailure(
        .wouldOverwrite,
        Diagnostic(
          .error, "'\(existing.path)' is there already", at: existing.location,
          help: "choose another name, or allow it to be replaced (--force)"))
    }
    do {
      let progress = try await attempts(outputs)
      let paths = try outputs.finish()
      return Summary(
        progress: progress, outputs: paths,
        wasStopped: state.current.isStopping)
    } catch let failure as RunFailure {
      outputs.discard()
      throw failure
    } catch let problems as PipelineProblems {
      throw RunFailure(.failed, problems.diagnostics)
    } catch {
      throw RunFailure(.failed, Diagnostic(.error, "\(error)", at: nil))
    }
  }

  /// Ends the stream: what has come in is worked off and the outputs are finished.
  public func stop() {
    let attempt = state.withLock { state in
      state.isStopping = true
      return state.attempt
    }
    attempt?.stop()
  }

  /// Ends the run at once; outputs are removed.
  public func abort() {
    let attempt = state.withLock { state in
      state.isAborted = true
      return state.attempt
    }
    attempt?.abort()
  }

  /// The graph as it runs, for Graphviz; nil where it does not.
  public var graph: String? { state.current.attempt?.graph }

  /// The graph as it was when the run ended or failed.
  public var graphAtEnd: String? { state.current.graph }

  /// Starts anew after each error, where the file asks for that.
  private func attempts(_ outputs: OutputFiles) async throws -> RunProgress {
    while true {
      let attempt = RunAttempt(pipeline, outputs, options, eventSink)
      let (isStopping, isAborted) = state.withLock { state in
        state.attempt = attempt
        return (state.isStopping, state.isAborted)
      }
      if isAborted { attempt.abort() }
      if isStopping { attempt.stop() }
      do {
        defer {
          let graph = attempt.graphAtEnd
          state.withLock { state in
            state.attempt = nil
            state.graph = graph
          }
        }
        return try await withTaskCancellationHandler {
          try await attempt.run()
        } onCancel: {
          abort()
        }
      } catch let failure as RunFailure
        where failure.kind != .aborted && failure.kind != .notBuilt
        && pipeline.graph.run.onError == .restart && !state.current.isStopping
      {
        for diagnostic in failure.diagnostics.all { eventSink.yield(.warning(diagnostic)) }
        try await Task.sleep(for: .seconds(1))
      }
    }
  }
}
