// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// Finds the live streams of a sink that have given nothing for a while, so that the others need
/// not wait for them. All times are running times.
final class SilenceWatch: Sendable {
  /// How often to look.
  static let interval = 250 * ClockTime.millisecond

  private struct Stream {
    /// When the last buffer came, by the clock.
    var arrival: RunningTime
    /// How much later than the time at which it is written it came.
    var lag: RunningTime = 0
    var isSilent = false
  }

  private struct State {
    var streams: [String: Stream] = [:]
    var lastLook: RunningTime?
  }

  private let state = Locked(State())

  /// Forgets all streams.
  func forget() { state.withLock { $0 = State() } }

  /// Forgets a stream that has ended or is flushed.
  func remove(_ name: String) {
    state.withLock { _ = $0.streams.removeValue(forKey: name) }
  }

  /// Notes that a buffer comes; returns whether the stream was silent.
  func note(_ name: String, now: RunningTime) -> Bool {
    state.withLock { state in
      let before = state.streams[name]
      state.streams[name] = Stream(arrival: now, lag: before?.lag ?? 0)
      return before?.isSilent ?? false
    }
  }

  /// Notes the time at which the buffer that came last is written. Its own may have jumped.
  func setTime(_ time: RunningTime, of name: String) {
    state.withLock { state in
      if let arrival = state.streams[name]?.arrival { state.streams[name]?.lag = arrival - time }
    }
  }

  /// Returns the streams that have given nothing for longer than `patience`.
  func overdue(now: RunningTime, patience: ClockTime) -> [String] {
    state.withLock { state in
      // A machine that has no time for this thread has none for the streams.
      if let last = state.lastLook, now - last > RunningTime(clamping: Self.interval * 2) {
        let lost = now - last
        state.streams = state.streams.mapValues { stream in
          Stream(arrival: stream.arrival + lost, lag: stream.lag, isSilent: stream.isSilent)
        }
      }
      state.lastLook = now
      return state.streams.filter { !$0.value.isSilent && $0.value.arrival + patience < now }
        .keys.sorted()
    }
  }

  /// Forgets when it looked last, as the clock does not run.
  func pause() { state.withLock { $0.lastLook = nil } }

  /// Notes that a stream is not waited for.
  func setSilent(_ name: String) { state.withLock { $0.streams[name]?.isSilent = true } }

  /// Number of streams that are not waited for.
  var silentCount: Int { state.withLock { $0.streams.values.count(where: \.isSilent) } }

  /// The time that the streams would have reached by now, if all are silent; else nil.
  func reached(now: RunningTime) -> RunningTime? {
    state.withLock { state in
      guard !state.streams.isEmpty, state.streams.values.allSatisfy(\.isSilent) else { return nil }
      return now - (state.streams.values.map(\.lag).max() ?? 0)
    }
  }
}
