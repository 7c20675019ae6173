internal import Dispatch
internal import Glibc
internal import PipelineHost
internal import Synchronization

/// Ctrl-C: the first one ends the stream, the second one the run, a third one the program.
final class Interrupts: Sendable {
  private let count = Atomic(0)
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

  var happened: Bool { count.load(ordering: .relaxed) > 0 }

  private func interrupt() {
    switch count.add(1, ordering: .relaxed).newValue {
    case 1:
      onFirst()
      run.stop()
    case 2: run.abort()
    default: _exit(130)
    }
  }
}
