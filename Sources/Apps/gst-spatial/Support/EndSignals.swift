// SPDX-License-Identifier: MPL-2.0

internal import Dispatch
internal import Glibc
internal import PipelineHost
internal import Synchronization

/// The signals that ask the command to end: Ctrl-C, and what terminals and service managers send.
///
/// Until all of them are watched, each has its usual effect, so that none is lost. One that was ignored when
/// the command started stays ignored, as `nohup` wants SIGHUP to be.
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

  /// Gives the signals their usual effect again.
  func stop() {
    for source in sources { source.cancel() }
    for number in numbers { signal(number, SIG_DFL) }
  }

  /// Waits for the first signal. The next one ends the command, whatever it still does.
  ///
  /// - Parameter ready: called when no signal is lost any more.
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

/// Ctrl-C: the first one ends the stream, the second one the run, a third one the program.
///
/// What comes within a quarter of a second of the one before is the same: `timeout` signals a
/// program and then its group, and keys repeat.
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
