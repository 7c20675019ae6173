// SPDX-License-Identifier: MPL-2.0

internal import Dispatch
internal import Glibc

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
