// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// The sink pads that are not waited for any more: in a live pipeline, those that have given nothing
/// for a while. Such a pad is waited for again once it gives something.
final class SilentPads: Sendable {
  private struct State {
    var names: Set<String> = []
    /// The running time of the data that was there last.
    var latest: Int64 = 0
  }

  private let state = Locked(State())

  func forget() { state.withLock { $0 = State() } }

  /// Whether a pad is not waited for.
  func contains(_ pad: AggregatorPad) -> Bool { state.withLock { $0.names.contains(pad.name) } }

  /// The running time at which the pads without data have been waited for long enough; nil where
  /// nothing waits for them.
  fileprivate func deadline(_ pads: [AggregatorPad], patience: ClockTime) -> ClockTime? {
    let times = pads.compactMap { pad in pad.peek().flatMap { pad.runningTime($0) } }
    // An end waits for the others, too.
    guard !times.isEmpty || pads.contains(where: \.isAtEnd) else { return nil }
    let missing = pads.filter(\.isMissing).map(\.name)
    return state.withLock { state in
      if let latest = times.max() { state.latest = latest }
      guard !state.names.isSuperset(of: missing) else { return 0 }
      return saturatingSum(ClockTime(clamping: times.min() ?? state.latest), patience)
    }
  }

  /// Takes down which pads have nothing; returns those that had something before.
  fileprivate func replace(with missing: Set<String>) -> Set<String> {
    state.withLock { state in
      defer { state.names = missing }
      return missing.subtracting(state.names)
    }
  }
}

extension PairsEyes {
  func deadline() -> ClockTime? {
    let patience = settings.current.pairing.padTimeout
    guard patience > 0, let due = pairing.silentPads.deadline(sinkPads, patience: patience) else {
      return nil
    }
    // While nothing flows, pads have nothing to give.
    guard !isPlaying else { return due }
    return currentRunningTime.map { max(due, saturatingSum($0, patience)) }
  }

  /// Decides what becomes of pads without data when `aggregate` is called. Throws `.needData` where
  /// there is more time to wait.
  func passOverSilentPads(timeout: Bool) throws {
    let pads = sinkPads
    let missing = timeout ? Set(pads.filter(\.isMissing).map(\.name)) : []
    let patience = settings.current.pairing.padTimeout
    if timeout {
      guard isPlaying, let now = currentRunningTime,
        let due = pairing.silentPads.deadline(pads, patience: patience), due <= now
      else { throw FlowReturn.needData }
    }
    for name in pairing.silentPads.replace(with: missing).sorted() {
      postWarning(
        ElementError(
          .failedStream,
          "Nothing came to the pad \(name) for \(Double(patience) / 1e9) s, so it is not waited "
            + "for until it gives something again (property pad-timeout)."))
    }
  }
}

extension AggregatorPad {
  /// Whether the pad has no data and may get some.
  fileprivate var isMissing: Bool { !hasBuffer && !isAtEnd }
}

/// Looks after sink pads that nobody feeds: those that are not linked, or that have only elements
/// before them which are not. GstAggregator would wait for them for ever.
struct UnlinkedPads {
  /// How long links may take that are made while data flows, as those behind a demuxer are.
  private static let patience = ClockTime.second * 5

  private var timer: Timer?

  /// Call it when a stream begins at a pad of the element. Some seconds later, an eye that nobody feeds
  /// is an error, and any other pad is taken for one that has ended.
  mutating func watch(_ element: some AggregatorImplementation) {
    guard timer == nil, !element.unlinkedPads.isEmpty else { return }
    timer = Timer(after: Self.patience, for: element) {
      for pad in element.unlinkedPads {
        guard let eye = Eye(rawValue: pad.name) else {
          element.postWarning(
            ElementError(
              .pad, "Nothing is linked to the pad \(pad.name), so it is taken for ended."))
          pad.end()
          continue
        }
        element.post(
          ElementError(
            .pad,
            "Nothing is linked to the pad of the \(eye) eye; both eyes are needed. Link a source "
              + "of video to the pad \(pad.name)."))
      }
    }
  }
}

extension AggregatorImplementation {
  /// The sink pads that nothing has come to, and nothing can come to.
  fileprivate var unlinkedPads: [AggregatorPad] {
    sinkPads.filter { $0.streamStart == nil && !$0.hasSource }
  }
}
