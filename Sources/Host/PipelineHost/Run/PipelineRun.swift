// SPDX-License-Identifier: MPL-2.0

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
    /// The file of a take that ended with an error, behind which the file starts anew.
    case kept(String)
  }

  public struct Summary: Sendable {
    public let progress: RunProgress
    /// The files, those of earlier takes too.
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
  ///
  /// What a run that fails has recorded is kept: ``RunFailure/kept`` tells where.
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
    var paths: [String] = []
    var restarts = Restarts(limit: pipeline.graph.run.restarts)
    while true {
      let take = try Take(outputs)
      let (outcome, hasRecorded) = await attempt(take)
      do throws(RunFailure) {
        let progress = try outcome.result.get()
        paths += try take.finish(replaces: options.overwrites, number: paths.isEmpty ? 1 : 2)
        return Summary(
          progress: progress, outputs: paths, wasStopped: state.current.isStopping)
      } catch {
        var failure = error
        let goesOn = goesOn(behind: failure)
        var recorded: [String]
        if goesOn, outcome.isFinished {
          recorded = try take.finish(replaces: options.overwrites, number: paths.isEmpty ? 1 : 2)
        } else {
          recorded = failure.kind == .wouldOverwrite ? [] : take.keep(hasRecorded)
        }
        paths += recorded
        failure.kept = paths
        guard goesOn else { throw failure }
        for diagnostic in failure.diagnostics.all { eventSink.yield(.warning(diagnostic)) }
        for path in recorded { eventSink.yield(.kept(path)) }
        guard let pause = restarts.pause(after: outcome.elapsed) else {
          failure.giveUp(after: restarts.limit)
          throw failure
        }
        guard await wait(pause) else {
          guard state.current.isStopping, !state.current.isAborted, !paths.isEmpty else {
            failure.kind = .aborted
            throw failure
          }
          return Summary(progress: RunProgress(), outputs: paths, wasStopped: true)
        }
      }
    }
  }

  /// Ends the stream: what has come in is worked off and the outputs are finished. Where an input
  /// hangs, the outputs are finished without it.
  public func stop() {
    let attempt = state.withLock { state in
      state.isStopping = true
      return state.attempt
    }
    attempt?.stop()
  }

  /// Ends the run at once; what was recorded is kept as an incomplete file.
  public func abort() {
    let attempt = state.withLock { state in
      state.isAborted = true
      return state.attempt
    }
    attempt?.abort()
  }

  /// The graph as it was when the run ended or failed.
  public var graphAtEnd: String? { state.current.graph }

  private func attempt(
    _ take: Take
  ) async -> (outcome: RunAttempt.Outcome, hasRecorded: (Int) -> Bool) {
    let attempt = RunAttempt(pipeline, take, options, eventSink)
    let (isStopping, isAborted) = state.withLock { state in
      state.attempt = attempt
      return (state.isStopping, state.isAborted)
    }
    if isAborted { attempt.abort() }
    if isStopping { attempt.stop() }
    // In a task of its own: a cancelled one could not wait until the files are finished.
    let running = Task { await attempt.run() }
    let outcome = await withTaskCancellationHandler {
      await running.value
    } onCancel: {
      abort()
    }
    let graph = attempt.graphAtEnd
    state.withLock { state in
      state.attempt = nil
      state.graph = graph
    }
    return (outcome, attempt.hasRecorded)
  }

  /// Whether the run starts anew, where the file asks for that.
  private func goesOn(behind failure: RunFailure) -> Bool {
    switch failure.kind {
    case .aborted, .notBuilt, .wouldOverwrite: false
    case .failed, .frozen:
      pipeline.graph.run.onError == .restart && !state.current.isStopping
    }
  }

  /// False where the run is to end in the meantime.
  private func wait(_ pause: Duration) async -> Bool {
    let end = ContinuousClock.now + pause
    while ContinuousClock.now < end {
      let (isStopping, isAborted) = (state.current.isStopping, state.current.isAborted)
      guard !isStopping, !isAborted, !Task.isCancelled else { return false }
      try? await Task.sleep(for: .milliseconds(50))
    }
    return true
  }
}

/// How often, and after what pause, a run that fails starts anew.
private struct Restarts {
  let limit: Int
  private var count = 0

  /// An attempt that lasts as long as this, in seconds, begins a new count.
  private static let success = 60.0

  init(limit: Int) {
    self.limit = limit
  }

  /// Longer from time to time, up to a minute; nil where it has failed too often.
  mutating func pause(after elapsed: Double) -> Duration? {
    count = elapsed >= Self.success ? 1 : count + 1
    guard count <= limit else { return nil }
    return .seconds(min(60, 1 << min(count - 1, 6)))
  }
}

extension RunFailure {
  fileprivate mutating func giveUp(after count: Int) {
    let kept = self.kept
    self = RunFailure(
      kind,
      diagnostics
        + Diagnostics([
          Diagnostic(
            .error, "it failed \(count + 1) times in a row and is not started again", at: nil,
            help: "the limit is 'restarts' in 'run'")
        ]))
    self.kept = kept
  }
}

/// Why a run did not come to its end.
public struct RunFailure: Error, Sendable, CustomStringConvertible {
  public enum Kind: Sendable {
    /// An output is there already or is being written by another run, and nobody said that it may
    /// be replaced.
    case wouldOverwrite
    /// An element could not be made, linked or set.
    case notBuilt
    /// An element failed, or a pad never came.
    case failed
    /// Nothing moved for as long as the file's watchdog allows.
    case frozen
    /// It was told to stop at once.
    case aborted
  }

  public internal(set) var kind: Kind
  /// What happened, with the line of the file.
  public let diagnostics: Diagnostics
  /// The files that hold what was recorded until then.
  public internal(set) var kept: [String] = []

  init(_ kind: Kind, _ diagnostic: Diagnostic) {
    self.init(kind, Diagnostics([diagnostic]))
  }

  init(_ kind: Kind, _ diagnostics: Diagnostics) {
    self.kind = kind
    self.diagnostics = diagnostics
  }

  public var description: String { diagnostics.text() }
}
