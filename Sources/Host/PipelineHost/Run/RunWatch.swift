// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import PipelineFile
import StereoVideo

/// Monitors a running graph: its messages, its progress and its end.
final class RunWatch {
  private let assembly: GraphAssembly
  private let take: AttemptOutputs
  private let outputs: OutputFiles
  private let inputs: InputFiles
  private let events: AsyncStream<PipelineRun.Event>.Continuation
  /// Interval of the ticks in seconds.
  private let beat: Double
  private let ticksPerReport: Int
  private let answers = Blocking.Queue()
  private var meter: ProgressMeter
  private var watchdog: Watchdog
  private var activity = Activity()
  /// Number of frames that the encoder still had at the last tick of an ending run.
  private var framesLeft: Int?
  private var ticks = 0
  private var lastTick: SuspendingClock.Instant?
  private var isStarted = true
  /// Nil while the stream runs normally.
  private var ending: RunEnding?
  /// Whether the sources have been told to end.
  private let hasSentEndOfStream = Locked(false)
  private var hasWarnedOfCut = false
  /// Whether the run was stopped before anything was written; what is still at work is left alone.
  private var hasStoppedEarly = false
  /// Descriptions of missing plugins, by element name.
  private var missing: [String: String] = [:]
  /// Time without progress since a plugin was found missing, in seconds.
  private var quiet = 0.0

  init(
    _ pipeline: HostedPipeline, _ assembly: GraphAssembly, _ take: AttemptOutputs,
    _ options: PipelineRun.Options, beat: Duration,
    _ events: AsyncStream<PipelineRun.Event>.Continuation
  ) {
    self.assembly = assembly
    self.take = take
    self.events = events
    outputs = OutputFiles(of: pipeline.graph, registry: pipeline.registry)
    inputs = InputFiles(of: pipeline.graph, registry: pipeline.registry)
    meter = ProgressMeter(of: assembly.graph)
    watchdog = Watchdog(assembly)
    self.beat = max(0.001, beat.seconds)
    ticksPerReport = max(1, Int((options.interval.seconds / self.beat).rounded()))
  }

  /// Handles the signals until the run ends; returns whether something hangs.
  func outcome(
    _ inbox: AsyncStream<RunAttempt.Signal>
  ) async -> (outcome: RunAttempt.Outcome, hangs: Bool) {
    for await signal in inbox {
      if let outcome = outcome(of: signal) {
        return (outcome, hasStoppedEarly || ending?.isCut ?? false)
      }
    }
    return (failure(RunFailure(.aborted, Self.aborted)), true)
  }

  /// Answers no more messages, and waits for the answer that is being given.
  func stopAnswering(timeout: Duration) async { await answers.finish(timeout: timeout) }

  private func outcome(of signal: RunAttempt.Signal) -> RunAttempt.Outcome? {
    switch signal {
    case .tick: return tick()
    case .stop:
      guard ending == nil else { return nil }
      if inputs.provideAllData {
        // Files can be read again: there is no need to wait for a first picture.
        guard hasOutput else {
          hasStoppedEarly = true
          return failure(RunFailure(.aborted, Self.stoppedEarly))
        }
        ending = RunEnding(.stopped, isImmediate: true)
        assembly.endImmediately()
      } else {
        ending = RunEnding(.stopped)
        endAtSources()
      }
    case .abort:
      assembly.discardPendingFrames()
      return fail(RunFailure(.aborted, Self.aborted))
    // Usually, the error message that states the reason comes first.
    case .notStarted: isStarted = false
    case .failed(let diagnostic): return fail(RunFailure(.failed, diagnostic))
    case .message(let message): return outcome(of: message)
    }
    return nil
  }

  private func outcome(of message: Message) -> RunAttempt.Outcome? {
    if let plugin = message.missingPlugin, let child = assembly.pipeline.child(sending: message) {
      missing[child] = plugin
    }
    switch message.content {
    case .endOfStream: return end()
    case .error(let failure):
      if ending == nil, let child = assembly.pipeline.child(sending: message),
        assembly.leaveOutTrack(of: child, failure)
      {
        resumeStart()
        return nil
      }
      let diagnostic =
        assembly.missingPad(after: failure)
        ?? assembly.diagnostic(.error, failure, message, missing: missing)
      var failed = RunFailure(.failed, diagnostic)
      // A file of another type stays so; from a network, there may be a better one next time.
      failed.isPermanent = failure.isPermanent || failure.isOfWrongType && inputs.provideAllData
      return fail(failed)
    case .element(let structure):
      meter.note(structure, from: assembly.pipeline.child(sending: message))
      if let event = PipelineRun.Event(structure) { events.yield(event) }
    case .warning(let failure):
      events.yield(.warning(assembly.diagnostic(.warning, failure, message, missing: missing)))
    // In the background: answering may wait for a state change that itself waits for data.
    default: answers.start { [assembly] in assembly.pipeline.answer(message) }
    }
    return nil
  }

  private func tick() -> RunAttempt.Outcome? {
    guard let interval = intervalSinceLastTick() else { return nil }
    ticks += 1
    let meters = assembly.state.withLock { $0.meters }
    var state = activity.state(meters, bytes: take.size, interval: interval)
    if ending != nil {
      // Frames leave the encoder long before bytes reach the file.
      let left = progress().framesLeft
      if left != framesLeft { state = .moves }
      framesLeft = left
    }
    watchdog.look(at: meters)
    if ending == nil {
      for warning in watchdog.silentSources(state, interval: interval) {
        events.yield(.warning(warning))
      }
    }
    defer { for meter in meters { meter.resumeWatching() } }
    if ticks.isMultiple(of: ticksPerReport) { events.yield(.progress(progress())) }
    guard isStarted || ending != nil else { return fail(RunFailure(.failed, Self.notStarted)) }
    if let complaint = missingPluginFailure(state, interval) { return fail(complaint) }
    guard
      let step = ending?.next(
        state, interval: interval, hasSentEndOfStream: hasSentEndOfStream.current)
    else {
      guard ending == nil, let frozen = watchdog.complaint(state, interval: interval) else {
        return nil
      }
      return fail(RunFailure(.frozen, frozen))
    }
    switch (step, ending?.reason) {
    case (.endAfterSources, let reason):
      warnOfCut(reason)
      assembly.endAfterSources()
    case (.endIdleInputs, let reason):
      warnOfCut(reason)
      assembly.endAtMuxers(onlyIdleInputs: true)
    case (.endAtMuxers, _): assembly.endAtMuxers(onlyIdleInputs: false)
    case (.giveUp, .failed(let failure)?): return self.failure(failure)
    case (.giveUp, _):
      return failure(
        RunFailure(.frozen, Diagnostic(.error, "the stream could not be ended", at: nil)))
    }
    return nil
  }

  /// Returns the time since the last tick in seconds, at most that between ticks; nil if hardly any
  /// has passed: on a busy machine, ticks come late and in bursts, during which nothing can have
  /// happened.
  private func intervalSinceLastTick() -> Double? {
    let now = SuspendingClock.now
    let interval = lastTick.map { $0.duration(to: now).seconds } ?? beat
    guard interval >= beat / 2 else { return nil }
    lastTick = now
    return min(beat, interval)
  }

  /// Returns a failure if a plugin is missing and no data flows any more; until then, the element
  /// may still provide other streams.
  private func missingPluginFailure(_ state: Activity.State, _ interval: Double) -> RunFailure? {
    guard ending == nil, !missing.isEmpty else { return nil }
    quiet = state == .moves ? 0 : quiet + interval
    guard quiet >= 1 else { return nil }
    return assembly.complaint(ofMissing: missing).map { RunFailure(.failed, $0) }
  }

  /// Handles the end of the stream at all sinks.
  private func end() -> RunAttempt.Outcome {
    var wasStopped = false
    switch ending?.reason {
    case .failed(let failure)?: return self.failure(failure, isFinished: true)
    case .stopped?: wasStopped = true
    case nil: break
    }
    if !wasStopped, let problem = assembly.missingPad() ?? inputs.complaint() {
      return failure(RunFailure(.failed, problem), isFinished: true)
    }
    for output in outputs.outputs where !output.isOptional {
      guard
        let problem = assembly.missingDataError(
          output.element, output: output.path, wasStopped: wasStopped)
      else { continue }
      return failure(RunFailure(.failed, problem), isFinished: true)
    }
    var progress = progress()
    meter.setWritten(in: &progress)
    if progress.frames == nil, let end = assembly.pipeline.position {
      progress.position = max(progress.position ?? .zero, end.duration)
    }
    events.yield(.progress(progress))
    if !wasStopped, !outputs.outputs.isEmpty { warnOfMissingEnd(progress) }
    return RunAttempt.Outcome(
      result: .success(progress), isFinished: true, isCutShort: ending?.isImmediate ?? false,
      elapsed: progress.elapsed)
  }

  private func warnOfMissingEnd(_ progress: RunProgress) {
    guard progress.missingEnd != nil, let position = progress.position,
      let duration = progress.duration
    else { return }
    func text(_ time: Duration) -> String { "\((time.seconds * 10).rounded() / 10) s" }
    events.yield(
      .warning(
        Diagnostic(
          .warning,
          "the source says that it lasts \(text(duration)), but its video ended after "
            + "\(text(position)): it may be damaged or cut off", at: nil)))
  }

  /// Lets the recorded data be finished; returns the outcome if there is nothing to wait for.
  private func fail(_ failure: RunFailure) -> RunAttempt.Outcome? {
    guard hasRecorded else {
      if case .failed(let first)? = ending?.reason { return self.failure(first) }
      return self.failure(failure)
    }
    guard ending != nil else {
      ending = RunEnding(.failed(failure))
      endAtSources(hasFailed: true)
      return nil
    }
    ending?.fail(failure)
    return nil
  }

  /// Whether the files have contents that can be completed: samples have been written where that is
  /// reported, or else have arrived.
  private var hasOutput: Bool {
    assembly.reportsOutput
      ? take.size > 0 || meter.hasOutput(assembly.state.withLock { $0.meters })
      : outputs.outputs.allSatisfy { $0.isOptional || assembly.hasRecorded($0.element) }
  }

  private var hasRecorded: Bool {
    outputs.outputs.contains { assembly.hasRecorded($0.element) }
  }

  private func failure(
    _ failure: RunFailure, isFinished: Bool = false
  ) -> RunAttempt.Outcome {
    RunAttempt.Outcome(
      result: .failure(failure), isFinished: isFinished, elapsed: progress().elapsed)
  }

  private func progress() -> RunProgress {
    let meters = assembly.state.withLock { $0.meters }
    var progress = meter.progress(meters, bytes: take.size)
    if ending?.isImmediate == false { meter.addRest(to: &progress, meters) }
    return progress
  }

  /// Sends EOS to the sources, once the pipeline has started: the event would deadlock with a
  /// source that is blocked until then.
  ///
  /// - Parameter hasFailed: whether an element has reported an error.
  private func endAtSources(hasFailed: Bool = false) {
    Blocking.start { [assembly, hasSentEndOfStream, resumeStart] in
      _ = assembly.pipeline.waitForState(timeout: .max)
      hasSentEndOfStream.withLock { $0 = true }
      assembly.pipeline.send(.endOfStream)
      if hasFailed { resumeStart() }
    }
  }

  /// Continues the change to PLAYING, which GstBin gives up after an error: sinks that have not
  /// prerolled by then, because the encoder is still at its first pictures, would never write
  /// anything.
  private var resumeStart: @Sendable () -> Void {
    { [assembly, answers] in answers.start { _ = assembly.pipeline.play() } }
  }

  private func warnOfCut(_ reason: RunEnding.Reason?) {
    guard case .stopped? = reason, !hasWarnedOfCut, let cut = watchdog.cut else { return }
    hasWarnedOfCut = true
    events.yield(.warning(cut))
  }

  private static let aborted = Diagnostic(.error, "the run was stopped", at: nil)
  private static let stoppedEarly = Diagnostic(
    .error, "the run was stopped before anything was written", at: nil)
  private static let notStarted = Diagnostic(
    .error, "the pipeline did not start, and no element reported an error", at: nil)
}

extension GraphAssembly {
  /// Returns an element's error or warning with the location of the element in the file.
  fileprivate func diagnostic(
    _ severity: Diagnostic.Severity, _ failure: PipelineFailure, _ message: Message,
    missing: [String: String]
  ) -> Diagnostic {
    let child = pipeline.child(sending: message)
    let place = child.flatMap(location(ofChild:))
    // The first line is a location in the element's source code.
    let details = failure.debug.split(separator: "\n").dropFirst().joined(separator: ", ")
    let reason = failure.isUnreadableStream && severity == .error ? Self.damage : nil
    let help =
      child.flatMap { missing[$0] }.map { "it needs \($0)" }
      ?? (reason.map { details.isEmpty ? $0 : "\($0) (\(details))" }
        ?? (details.isEmpty ? nil : details))
    return Diagnostic(
      severity, "\(place?.title ?? "'\(failure.element)'"): \(failure.message)",
      at: place?.location, help: help)
  }

  /// The likely reason that a parser, demuxer or decoder gives up; GStreamer's texts do not say so.
  private static let damage = "the input may be damaged, cut off or encrypted"

  /// Returns the error for a missing pad: an unlinked stream fails as an "internal data stream
  /// error" of the source.
  fileprivate func missingPad(after failure: PipelineFailure) -> Diagnostic? {
    failure.debug.contains("not-linked") ? missingPad() : nil
  }
}
