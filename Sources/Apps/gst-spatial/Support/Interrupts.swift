// SPDX-License-Identifier: MPL-2.0

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
