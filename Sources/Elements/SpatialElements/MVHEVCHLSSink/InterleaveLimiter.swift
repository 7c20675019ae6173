// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// Blocks streams that run ahead of the others, to bound the data held in memory until the others
/// catch up, whatever upstream is: a file may have an hour of audio before its first picture.
///
/// The streaming thread of a pad that is too far ahead waits. If its waiting may be what stops the
/// others, as after a demuxer whose other queue is full, it may go further ahead after a while; if
/// the same thread also delivers the other stream, it does not wait. Both are limited.
final class InterleaveLimiter: Sendable {
  /// Maximum lead of a stream over the slowest one.
  static let maximumLead: RunningTime = 10_000_000_000
  /// Time without data on the awaited pad after which the others may get further ahead.
  private static let patience: ClockTime = 5 * .second
  /// Maximum amount of data of one stream beyond the maximum lead, in bytes.
  private static let maximumExcess = 1 << 28

  private struct Input {
    /// First and latest running time of the stream.
    var start: RunningTime?
    var time: RunningTime?
    /// The thread that delivers the stream.
    var thread: UInt = 0
    var hasEnded = false
    /// Whether the pad is flushing or inactive, so that nothing waits in it.
    var isFlushing = false
    /// Number of bytes received while the stream is too far ahead.
    var excess = 0

    mutating func pass(_ time: RunningTime) {
      start = start ?? time
      self.time = max(self.time ?? time, time)
    }
  }

  private struct State {
    var inputs: [String: Input] = [:]
    var allowedLead = InterleaveLimiter.maximumLead
    var hasWarned = false

    /// The other input whose stream has come least far; nil if all others have ended. Texts are not
    /// waited for: the next one may come an hour later.
    fileprivate func slowest(but name: String) -> (name: String, input: Input)? {
      inputs.filter {
        $0.key != name && !$0.value.hasEnded && !$0.value.isFlushing
          && !HLSInput.isSubtitles($0.key)
      }
      .min { ($0.value.time ?? .min, $0.key) < ($1.value.time ?? .min, $1.key) }
      .map { ($0.key, $0.value) }
    }

    /// Notes a buffer on a pad, and returns whether the stream is too far ahead.
    mutating func take(_ time: RunningTime, _ size: Int, of name: String) -> Bool {
      var input = inputs[name, default: Input()]
      input.pass(time)
      input.thread = currentThread
      inputs[name] = input
      let isAhead =
        slowest(but: name).map { lead(of: name, over: $0.input) > InterleaveLimiter.maximumLead }
        ?? false
      inputs[name]?.excess = isAhead ? input.excess + size : 0
      return isAhead
    }

    /// Returns the lead of a stream over another.
    func lead(of name: String, over slowest: Input) -> RunningTime {
      guard let time = inputs[name]?.time else { return 0 }
      let start = inputs.values.compactMap(\.start).min() ?? time
      return time - (slowest.time ?? start)
    }
  }

  private enum Verdict {
    case go, flushing
    /// The awaited pad has received data.
    case keepWaiting
    case refuse
  }

  private let state = Monitor(State())

  /// Forgets all streams.
  func forget() { state.change { $0 = State() } }

  // MARK: Events

  /// Notes the current thread as the one that delivers data to a pad. Called for serialized events.
  func noteThread(of name: String) {
    state.change { $0.inputs[name, default: Input()].thread = currentThread }
  }

  /// Notes that a stream has reached a running time.
  func pass(_ time: RunningTime, of name: String) {
    state.change { $0.inputs[name, default: Input()].pass(time) }
  }

  /// Notes that a pad receives no more data.
  func end(_ name: String) {
    state.change { $0.inputs[name, default: Input()].hasEnded = true }
  }

  /// Notes that a pad starts or stops flushing, or is deactivated or activated.
  func setFlushing(_ isFlushing: Bool, _ name: String) {
    state.change {
      guard $0.inputs[name] != nil else { return }
      $0.inputs[name] = Input()
      $0.inputs[name]?.isFlushing = isFlushing
    }
  }

  /// Forgets a released pad.
  func remove(_ name: String) {
    state.change { _ = $0.inputs.removeValue(forKey: name) }
  }

  // MARK: Waiting

  /// Notes a buffer on a pad, and blocks while the stream is too far ahead.
  ///
  /// - Parameters:
  ///   - isLive: whether upstream cannot wait.
  ///   - warn: called once, when streams may get further ahead because a pad receives nothing.
  /// - Throws: `FlowReturn.flushing`, or an ``ElementError`` if too much data is pending.
  func wait(
    _ name: String, time: RunningTime, size: Int, isLive: () -> Bool, warn: (ElementError) -> Void
  ) throws {
    let isAhead = state.change { $0.take(time, size, of: name) }
    guard isAhead, !isLive() else { return }
    var awaited: (name: String, time: RunningTime?)?
    while true {
      let verdict = state.wait(atMost: Self.patience) { state -> Verdict? in
        guard let input = state.inputs[name], !input.isFlushing else { return .flushing }
        let isTooMuch = input.excess > Self.maximumExcess
        guard let slowest = state.slowest(but: name),
          isTooMuch || state.lead(of: name, over: slowest.input) > state.allowedLead
        else { return .go }
        guard slowest.input.thread != input.thread else {
          return isTooMuch ? .refuse : .go
        }
        let now = (name: slowest.name, time: slowest.input.time)
        defer { awaited = now }
        return awaited.map { $0 == now } ?? true ? nil : .keepWaiting
      }
      switch verdict {
      case .go: return
      case .flushing: throw FlowReturn.flushing
      case .keepWaiting: break
      case .refuse: throw refusal(of: name)
      case nil:
        // The awaited pad has received nothing for as long as `patience`.
        let (isTooMuch, isFirst) = state.change { state in
          defer { state.hasWarned = true }
          let lead = awaited.flatMap { state.inputs[$0.name] }.map {
            state.lead(of: name, over: $0)
          }
          let most = max(state.allowedLead, lead ?? 0)
          state.allowedLead = most + most
          return (state.inputs[name]?.excess ?? 0 > Self.maximumExcess, !state.hasWarned)
        }
        guard !isTooMuch else { throw refusal(of: name) }
        guard isFirst, let awaited else { break }
        warn(
          ElementError(
            .failedStream,
            "\(awaited.name) receives nothing while \(name) is "
              + "\(Int(Self.maximumLead.seconds)) s "
              + "ahead and waits for it, so \(name) continues and its data stays in memory until "
              + "then; use larger queues after the demuxer."))
      }
    }
  }

  private func refusal(of name: String) -> ElementError {
    ElementError(
      .failedStream,
      "The stream on \(name) is so far ahead of the others that \(Self.maximumExcess >> 20) MiB "
        + "of it wait in memory; interleave the file more finely, or put a large queue after each "
        + "pad of the demuxer.")
  }
}
