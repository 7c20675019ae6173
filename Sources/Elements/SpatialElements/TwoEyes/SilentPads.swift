// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// Sink pads that are no longer waited for: in a live pipeline, those that have received nothing
/// for a while. A pad is waited for again once it receives data.
final class SilentPads: Sendable {
  private struct State {
    var names: Set<String> = []
    /// Running time of the latest data seen.
    var latest: RunningTime = 0
    /// Time of the clock at which the element began to wait for a pad, less the latency.
    var waitingSince: RunningTime?
    var latency: ClockTime = 0
  }

  private let state = Locked(State())

  func forget() { state.withLock { $0 = State() } }

  /// Whether a pad is no longer waited for.
  func contains(_ pad: AggregatorPad) -> Bool { state.withLock { $0.names.contains(pad.name) } }

  /// Returns the running time until which pads without data are waited for, latency not included;
  /// nil if no other pad is waiting for them.
  ///
  /// The wait begins with the data that another pad has. If that is older than it may be by the
  /// clock, or far in the future, as after the clock of a source has jumped, the wait begins when
  /// the data is there.
  fileprivate func deadline(
    _ pads: [AggregatorPad], now: ClockTime?, patience: ClockTime
  ) -> ClockTime? {
    let times = pads.compactMap { pad in pad.peek().flatMap { pad.runningTime($0) } }
    // A pad at EOS also waits for the others.
    guard !times.isEmpty || pads.contains(where: \.isAtEnd) else { return nil }
    let missing = pads.filter(\.isMissing).map(\.name)
    return state.withLock { state in
      if let latest = times.max() { state.latest = latest }
      guard !state.names.isSuperset(of: missing) else { return 0 }
      if state.waitingSince == nil {
        let latency = RunningTime(clamping: state.latency)
        state.waitingSince = now.map { RunningTime(clamping: $0) - latency }
      }
      let time = times.min() ?? state.latest
      guard let since = state.waitingSince, time < since || time - since >= TimestampMender.farthest
      else { return ClockTime(clamping: time) + patience }
      return ClockTime(clamping: since) + patience
    }
  }

  /// Records which pads have no data; returns those that had some before.
  fileprivate func replace(with missing: Set<String>, latency: ClockTime) -> Set<String> {
    state.withLock { state in
      defer { (state.names, state.waitingSince, state.latency) = (missing, nil, latency) }
      return missing.subtracting(state.names)
    }
  }
}

extension EyePairing {
  func deadline() -> ClockTime? {
    let patience = settings.current.pairing.padTimeout
    let now = currentRunningTime
    guard patience > 0,
      let due = pairing.silentPads.deadline(sinkPads, now: now, patience: patience)
    else { return nil }
    // Live sources produce nothing unless the pipeline is playing.
    guard !isPlaying else { return due }
    return now.map { max(due, $0 + patience) }
  }

  /// Decides what to do about pads without data when `aggregate` is called. Throws `.needData` if
  /// there is still time to wait.
  func skipSilentPads(timeout: Bool) throws {
    let pads = sinkPads
    let missing = timeout ? Set(pads.filter(\.isMissing).map(\.name)) : []
    let patience = settings.current.pairing.padTimeout
    if timeout {
      guard isPlaying, let now = currentRunningTime,
        let due = pairing.silentPads.deadline(pads, now: now, patience: patience), due <= now
      else { throw FlowReturn.needData }
    }
    for name in pairing.silentPads.replace(with: missing, latency: latency).sorted() {
      postWarning(
        ElementError(
          .failedStream,
          "The pad \(name) received nothing for \(patience.seconds) s; it is not waited "
            + "for until it receives data again (property pad-timeout)."))
    }
  }
}

extension AggregatorPad {
  /// Whether the pad has no data and may get some.
  fileprivate var isMissing: Bool { !hasBuffer && !isAtEnd }
}

/// Watches sink pads without a source: those that are not linked, or only to elements that are not
/// linked themselves. GstAggregator would wait for them forever.
struct UnlinkedPads {
  /// Time allowed for links that are made while data flows, as after a demuxer.
  private static let patience = ClockTime.second * 5
  /// The same for eyes, without which there is no movie: a busy machine may take long to start a
  /// decoder.
  private static let patienceForEyes = ClockTime.second * 15

  private var timer: Timer?
  private var timerForEyes: Timer?

  /// Call it when a stream begins on a pad of the element. Some seconds later, an eye without a
  /// source is an error; any other pad without one gets EOS.
  mutating func watch(_ element: some AggregatorImplementation) {
    let unlinked = element.unlinkedPads
    if timer == nil, unlinked.contains(where: { $0.eye == nil }) {
      timer = Timer(after: Self.patience, for: element) {
        for pad in element.unlinkedPads where pad.eye == nil {
          element.postWarning(
            ElementError(
              .pad, "Nothing is linked to the pad \(pad.name), so it is treated as ended."))
          pad.end()
        }
      }
    }
    if timerForEyes == nil, unlinked.contains(where: { $0.eye != nil }) {
      timerForEyes = Timer(after: Self.patienceForEyes, for: element) {
        for pad in element.unlinkedPads {
          guard let eye = pad.eye else { continue }
          element.post(
            ElementError(
              .pad,
              "Nothing is linked to the pad of the \(eye) eye; both eyes are needed. Link a video "
                + "source to the pad \(pad.name)."))
        }
      }
    }
  }
}

extension AggregatorPad {
  fileprivate var eye: Eye? { Eye(rawValue: name) }
}

extension AggregatorImplementation {
  /// Sink pads that have received no stream and have no source.
  fileprivate var unlinkedPads: [AggregatorPad] {
    sinkPads.filter { $0.streamStart == nil && !$0.hasSource }
  }
}
