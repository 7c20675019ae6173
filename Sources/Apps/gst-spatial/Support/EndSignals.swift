// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Dispatch
internal import Glibc
internal import MovieParts
internal import PipelineHost
internal import Synchronization

/// The signals that ask the command to end: SIGINT (Ctrl-C), SIGTERM and SIGHUP.
///
/// Each keeps its default action until all of them are watched, so that none is lost. A signal that
/// was ignored when the command started stays ignored, which `nohup` needs for SIGHUP.
final class EndSignals: Sendable {
  nonisolated(unsafe) private let sources: [any DispatchSourceSignal]
  private let numbers: [Int32]

  /// Watches the signals until `stop`.
  ///
  /// - Parameter handler: called with the number of each signal, from any thread.
  init(_ handler: @escaping @Sendable (Int32) -> Void) {
    numbers = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }
    sources = numbers.map { DispatchSource.makeSignalSource(signal: $0, queue: .global()) }
    let watched = DispatchGroup()
    for (source, number) in zip(sources, numbers) {
      watched.enter()
      source.setRegistrationHandler { watched.leave() }
      source.setEventHandler { handler(number) }
      source.resume()
    }
    watched.wait()
  }

  /// Restores the default action of the signals.
  func stop() {
    for source in sources { source.cancel() }
    for number in numbers { signal(number, SIG_DFL) }
  }

  /// Waits for the first signal. The next one terminates the command immediately.
  ///
  /// - Parameter ready: called when the signals are watched.
  static func wait(_ ready: () -> Void = {}) async {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let signals = EndSignals { _ in continuation.finish() }
    ready()
    for await _ in stream {}
    signals.stop()
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

/// Handles Ctrl-C: the first one ends the stream, the second one aborts the run, and the third one
/// terminates the program. SIGTERM and SIGHUP do the same.
///
/// A signal within a quarter of a second of the previous one is ignored, as `timeout` signals a
/// program and then its process group, and keys repeat.
final class Interrupts: Sendable {
  enum Step {
    case first
    case second
    /// The program is terminated after this.
    case last
  }

  private struct State {
    var count = 0
    var last: ContinuousClock.Instant?
    /// The number of the first signal.
    var signal: Int32?
  }

  private let state = Mutex(State())
  private let run: PipelineRun
  private let report: @Sendable (Step) -> Void
  private let signals = Mutex<EndSignals?>(nil)

  /// - Parameter report: tells the user what happens.
  init(_ run: PipelineRun, report: @escaping @Sendable (Step) -> Void) {
    self.run = run
    self.report = report
    // A conversion among many that ended early would count as done.
    guard !Lifeline.isChild else { return }
    let watched = EndSignals { [weak self] in self?.interrupt($0) }
    signals.withLock { $0 = watched }
  }

  /// The exit code that shells report for a program that the first signal ended; nil if there was
  /// none.
  var exitCode: ExitCode? { state.withLock { $0.signal.map { ExitCode(128 + $0) } } }

  private func interrupt(_ number: Int32) {
    let count = state.withLock { state -> Int? in
      let now = ContinuousClock.now
      defer { state.last = now }
      if let last = state.last, last.duration(to: now) < .milliseconds(250) { return nil }
      state.count += 1
      state.signal = state.signal ?? number
      return state.count
    }
    switch count {
    case nil: break
    case 1:
      report(.first)
      run.stop()
    case 2:
      report(.second)
      run.abort()
    default:
      report(.last)
      _exit(128 + number)
    }
  }
}
