// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
public import PipelineFile

/// One run of a pipeline.
public final class PipelineRun: Sendable {
  /// Options of a run.
  public struct Options: Sendable {
    /// Whether existing outputs may be replaced.
    public var overwrites = false
    /// Interval between progress events.
    public var interval = Duration.milliseconds(200)
    /// Whether to keep the graph as it was at the end, for ``PipelineRun/graphAtEnd``.
    public var keepsGraph = false

    /// Creates the default options.
    public init() {}
  }

  /// An event of a run.
  public enum Event: Sendable {
    case progress(RunProgress)
    /// An element's warning, or the error that caused a restart.
    case warning(Diagnostic)
    /// A file of an attempt that failed and was followed by a restart.
    case kept(String)
    /// A segment of an HLS stream is complete.
    case segment(RunSegment)
    /// A pad of an HLS sink whose source gives nothing, or gives data again.
    case silence(pad: String, isSilent: Bool)
  }

  /// The result of a successful run.
  public struct Summary: Sendable {
    /// The final progress.
    public let progress: RunProgress
    /// The paths of the outputs, including those of earlier attempts.
    public let outputs: [String]
    /// The outputs of sinks with many files: a playlist, or the pattern of the names.
    public var patterns: [String] = []
    /// Whether the stream was ended early by ``PipelineRun/stop()``.
    public let wasStopped: Bool
    /// Whether the rest of the input files is missing in the outputs for that reason; false for a
    /// stream that has no end of its own.
    public var isCutShort = false
  }

  /// The events until the run ends, for one consumer. It may start late: the newest 256 events are
  /// buffered.
  public let events: AsyncStream<Event>

  let pipeline: HostedPipeline
  let options: Options
  private let eventSink: AsyncStream<Event>.Continuation
  private let state = Locked(State())

  private struct State {
    var attempt: RunAttempt?
    var isStopping = false
    var isAborted = false
    var hasRun = false
    var graph: String?
  }

  /// Creates a run; ``run()`` starts it.
  public init(_ pipeline: HostedPipeline, options: Options = Options()) {
    self.pipeline = pipeline
    self.options = options
    (events, eventSink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
  }

  /// Runs to the end of the stream. May be called only once. Cancelling the task aborts the run.
  ///
  /// - Throws: ``RunFailure``; its ``RunFailure/kept`` lists the files with the data recorded so
  ///   far. `CancellationError` if the task was cancelled; these files are then the last events.
  @discardableResult
  public func run() async throws -> Summary {
    defer { eventSink.finish() }
    do {
      return try await runAttempts()
    } catch {
      guard error.kind == .aborted, Task.isCancelled else { throw error }
      for path in error.kept { eventSink.yield(.kept(path)) }
      throw CancellationError()
    }
  }

  private func runAttempts() async throws(RunFailure) -> Summary {
    guard
      state.withLock({ state in
        defer { state.hasRun = true }
        return !state.hasRun
      })
    else {
      throw RunFailure(
        .notBuilt,
        Diagnostic(
          .error, "a run can run only once", at: nil, help: "create another PipelineRun for it"))
    }
    let outputs = OutputFiles(of: pipeline.graph, registry: pipeline.registry)
    if !options.overwrites, let existing = outputs.existing().first {
      throw RunFailure(
        .wouldOverwrite,
        Diagnostic(
          .error, "'\(existing.path)' already exists", at: existing.location,
          help: "choose another name, or allow it to be replaced (--force)"))
    }
    var paths: [String] = []
    var restarts = Restarts(limit: pipeline.graph.run.restarts)
    var options = options
    while true {
      let take = try AttemptOutputs(outputs)
      let (outcome, hasRecorded) = await attempt(take, options)
      // No attempt replaces the stream of the one before.
      options.overwrites = false
      do throws(RunFailure) {
        let progress = try outcome.result.get()
        // A part of a movie does not replace what was there.
        let earlier = outcome.isCutShort ? outputs.existing().first : nil
        paths += try take.finish(
          replaces: self.options.overwrites && earlier == nil,
          number: paths.isEmpty && earlier == nil ? 1 : 2)
        if let earlier, let path = paths.last {
          eventSink.yield(
            .warning(
              Diagnostic(
                .warning, "'\(earlier.path)' is not replaced by a part of it, which is '\(path)'",
                at: nil)))
        }
        return Summary(
          progress: progress, outputs: paths, patterns: outputs.patterns,
          wasStopped: state.current.isStopping, isCutShort: outcome.isCutShort)
      } catch {
        var failure = error
        let isRestarting = leadsToRestart(failure)
        var recorded: [String]
        if isRestarting, outcome.isFinished {
          recorded = try take.finish(replaces: options.overwrites, number: paths.isEmpty ? 1 : 2)
        } else {
          recorded = failure.kind == .wouldOverwrite ? [] : take.keep(hasRecorded)
        }
        paths += recorded
        failure.kept = paths
        guard isRestarting else { throw failure }
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

  /// Ends the stream: data in the pipeline is processed and the outputs are finished. If an input
  /// hangs, the outputs are finished without it.
  public func stop() {
    let attempt = state.withLock { state in
      state.isStopping = true
      return state.attempt
    }
    attempt?.stop()
  }

  /// Aborts the run; recorded data is kept in an incomplete file.
  public func abort() {
    let attempt = state.withLock { state in
      state.isAborted = true
      return state.attempt
    }
    attempt?.abort()
  }

  /// The paths of the files that are being written, for a program that ends without waiting for the
  /// run.
  public var incompletePaths: [String] { state.current.attempt?.incompletePaths ?? [] }

  /// Whether all data comes from files, so that a failed run loses nothing that cannot be made
  /// again.
  package var readsOnlyFiles: Bool {
    InputFiles(of: pipeline.graph, registry: pipeline.registry).provideAllData
  }

  /// The graph in GraphViz format as it was when the run ended or failed; nil unless requested.
  public var graphAtEnd: String? { state.current.graph }

  private func attempt(
    _ take: AttemptOutputs, _ options: Options
  ) async -> (outcome: RunAttempt.Outcome, hasRecorded: (Int) -> Bool) {
    let attempt = RunAttempt(pipeline, take, options, eventSink)
    let (isStopping, isAborted) = state.withLock { state in
      state.attempt = attempt
      return (state.isStopping, state.isAborted)
    }
    if isAborted { attempt.abort() }
    if isStopping { attempt.stop() }
    // In a separate task: a cancelled one could not wait until the files are finished.
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

  /// Returns whether the failure leads to a restart, according to the file.
  private func leadsToRestart(_ failure: RunFailure) -> Bool {
    switch failure.kind {
    case .aborted, .notBuilt, .wouldOverwrite: false
    case .failed, .frozen:
      pipeline.graph.run.onError == .restart && !state.current.isStopping && !failure.isPermanent
    }
  }

  /// Waits; returns false if the run is to end in the meantime.
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

/// Limits and delays restarts after failures.
private struct Restarts {
  let limit: Int
  private var count = 0

  /// An attempt that lasts at least this long resets the count.
  private static let success = Duration.seconds(60)

  init(limit: Int) {
    self.limit = limit
  }

  /// Returns the delay before the next attempt, doubling up to a minute; nil if there were too many
  /// failures.
  mutating func pause(after elapsed: Duration) -> Duration? {
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
            .error, "it failed \(count + 1) times in a row and is not restarted", at: nil,
            help: "the limit is 'restarts' in 'run'")
        ]))
    self.kept = kept
  }
}

/// The reason why a run failed.
public struct RunFailure: Error, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public enum Kind: Sendable {
    /// An output already exists or is being written by another run, and the options do not allow
    /// replacing it.
    case wouldOverwrite
    /// An element could not be created, linked or configured.
    case notBuilt
    /// An element failed, or a pad never appeared.
    case failed
    /// There was no progress for the time that the file's watchdog allows.
    case frozen
    /// The run was aborted.
    case aborted
  }

  /// The kind of failure.
  public internal(set) var kind: Kind
  /// The errors, with their locations in the file.
  public let diagnostics: Diagnostics
  /// The files that hold the data recorded until then.
  public internal(set) var kept: [String] = []
  /// Whether the run fails again whenever it is tried: its settings cannot be used, or its input
  /// cannot be sought in, or is a file of another type.
  public internal(set) var isPermanent = false

  init(_ kind: Kind, _ diagnostic: Diagnostic) {
    self.init(kind, Diagnostics([diagnostic]))
  }

  init(_ kind: Kind, _ diagnostics: Diagnostics) {
    self.kind = kind
    self.diagnostics = diagnostics
  }

  /// The errors as a compiler prints them.
  public var description: String { diagnostics.text() }
}
