// SPDX-License-Identifier: MPL-2.0

internal import Dispatch
internal import Glibc

/// Ctrl-C, and what service managers send, for commands that have nothing to finish.
enum EndSignal {
  /// Waits for the first one.
  static func wait() async {
    let signals = [SIGINT, SIGTERM, SIGHUP]
    for number in signals { signal(number, SIG_IGN) }
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let sources = signals.map { DispatchSource.makeSignalSource(signal: $0, queue: .global()) }
    for source in sources {
      source.setEventHandler { continuation.finish() }
      source.resume()
    }
    for await _ in stream {}
    for source in sources { source.cancel() }
    // The next one ends the command, whatever it still does.
    for number in signals { signal(number, SIG_DFL) }
  }
}
