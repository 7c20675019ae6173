// SPDX-License-Identifier: MPL-2.0

internal import Dispatch
internal import Glibc
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
  /// - Parameter handler: called for each signal, from any thread.
  init(_ handler: @escaping @Sendable () -> Void) {
    numbers = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }
    sources = numbers.map { DispatchSource.makeSignalSource(signal: $0, queue: .global()) }
    let watched = DispatchGroup()
    for source in sources {
      watched.enter()
      source.setRegistrationHandler { watched.leave() }
      source.setEventHandler(handler: handler)
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
    let signals = EndSignals { continuation.finish() }
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
/// terminates the program.
///
/// A signal within a quarter of a second of the previous one is ignored, as `timeout` signals a
/// program and then its process group, and keys repeat.
final class Interrupts: Sendable {
  private struct State {
    var count = 0
    var last: ContinuousClock.Instant?
  }

  private let state = Mutex(State())
  private let run: PipelineRun
  private let onFirst: @Sendable () -> Void
  private let signals = Mutex<EndSignals?>(nil)

  init(_ run: PipelineRun, onFirst: @escaping @Sendable () -> Void) {
    self.run = run
    self.onFirst = onFirst
    let watched = EndSignals { [weak self] in self?.interrupt() }
    signals.withLock { $0 = watched }
  }

  var happened: Bool { state.withLock { $0.count > 0 } }

  private func interrupt() {
    let count = state.withLock { state -> Int? in
      let now = ContinuousClock.now
      defer { state.last = now }
      if let last = state.last, last.duration(to: now) < .milliseconds(250) { return nil }
      state.count += 1
      return state.count
    }
    switch count {
    case nil: break
    case 1:
      onFirst()
      run.stop()
    case 2: run.abort()
    default: _exit(130)
    }
  }
}
