// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// The requested part of a movie, with rate, direction and accuracy.
///
/// ```swift
/// try player.seek(SeekRequest(to: 12_000_000_000))
/// ```
public struct SeekRequest: Hashable, Sendable {
  /// One end of the part to play, on the movie's timeline.
  public enum Bound: Hashable, Sendable {
    /// Leaves this end where it is.
    case unchanged
    /// A time; nil for the start or the end of the movie.
    case at(ClockTime?)
    /// A distance from the end of the movie; negative values are before it.
    case fromEnd(RunningTime)
  }

  /// Which random access point to choose for a time between two of them.
  public enum Snap: Hashable, Sendable {
    case before, after, nearest
  }

  /// Where playback begins.
  public enum Precision: Hashable, Sendable {
    /// At the frame shown at the requested time.
    case exact
    /// At a nearby random access point, which needs no preroll.
    case keyUnit(Snap)
  }

  /// Playback rate; negative plays backwards.
  public var rate = 1.0
  /// Start of the part to play.
  public var start: Bound
  /// End of the part to play.
  public var stop: Bound = .unchanged
  /// Whether playback begins at the exact time or at a random access point.
  public var precision = Precision.exact
  /// Flags of the resulting segment. ``PlaybackSegment/Flags/reset`` makes the seek a flushing one.
  public var flags: PlaybackSegment.Flags = .reset

  /// Creates an exact, flushing seek.
  public init(rate: Double = 1, start: Bound, stop: Bound = .unchanged) {
    (self.rate, self.start, self.stop) = (rate, start, stop)
  }

  /// Creates an exact, flushing seek to a time.
  public init(to time: ClockTime) {
    self.init(start: .at(time))
  }
}

extension PlaybackSegment {
  /// Returns the segment that results when a seek is applied to this one at its current `position`;
  /// nil if the seek is invalid.
  package func applying(_ seek: SeekRequest) -> PlaybackSegment? {
    guard seek.rate.isFinite, seek.rate != 0 else { return nil }
    let start = min(bound(seek.start, now: start) ?? 0, duration ?? .max)
    let stop = bound(seek.stop, now: stop).map { min($0, duration ?? .max) }
    guard start <= stop ?? .max else { return nil }
    var wanted = self
    wanted.flags = seek.flags
    wanted.base = seek.flags.contains(.reset) ? 0 : runningTime(of: position)
    wanted.rate = seek.rate
    wanted.appliedRate = 1
    // The new segment starts from its beginning even if the seek leaves that bound unchanged.
    wanted.offset = 0
    (wanted.start, wanted.time, wanted.stop) = (start, start, stop)
    wanted.position = start
    guard seek.rate < 0 else { return wanted }
    guard let end = [stop, duration].compactMap({ $0 }).min() else { return nil }
    (wanted.stop, wanted.position) = (end, end)
    return wanted
  }

  private func bound(_ bound: SeekRequest.Bound, now: ClockTime?) -> ClockTime? {
    switch bound {
    case .unchanged: return now
    case .at(let time): return time
    case .fromEnd(let distance):
      guard let duration else { return now }
      return distance < 0 ? duration - distance.magnitude : duration + distance.magnitude
    }
  }
}
