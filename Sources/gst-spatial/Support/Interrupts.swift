// SPDX-License-Identifier: MPL-2.0

internal import Dispatch
internal import Glibc
internal import PipelineHost
internal import Synchronization

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
  nonisolated(unsafe) private let sources: [any DispatchSourceSignal]

  init(_ run: PipelineRun, onFirst: @escaping @Sendable () -> Void) {
    self.run = run
    self.onFirst = onFirst
    sources = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      return DispatchSource.makeSignalSource(signal: number, queue: .global())
    }
    for source in sources {
      source.setEventHandler { [weak self] in self?.interrupt() }
      source.resume()
    }
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
