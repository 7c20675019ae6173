// SPDX-License-Identifier: MPL-2.0

import StereoVideo

/// What somebody wants to see of a movie, and how.
///
/// ```swift
/// try player.seek(SeekRequest(to: 12_000_000_000))
/// ```
public struct SeekRequest: Hashable, Sendable {
  /// One end of what is to be played, on the movie's time line.
  public enum Bound: Hashable, Sendable {
    /// As it was.
    case unchanged
    /// A time; nil for the start, or the end, of the movie.
    case at(Nanoseconds?)
    /// So much behind the end of the movie; below 0 before it.
    case fromEnd(Int64)
  }

  /// Which random access point is meant by a time between two of them.
  public enum Snap: Hashable, Sendable {
    case before, after, nearest
  }

  /// Where playing begins.
  public enum Precision: Hashable, Sendable {
    /// With the frame that is shown at the time asked for.
    case exact
    /// With a random access point near it, which is there at once.
    case keyUnit(Snap)
  }

  /// How fast; below 0 backwards.
  public var rate = 1.0
  public var start: Bound
  public var stop: Bound = .unchanged
  public var precision = Precision.exact
  /// What holds for the segment that comes of it; with ``PlaybackSegment/Flags/reset`` all that is
  /// under way is dropped.
  public var flags: PlaybackSegment.Flags = .reset

  public init(rate: Double = 1, start: Bound, stop: Bound = .unchanged) {
    (self.rate, self.start, self.stop) = (rate, start, stop)
  }

  /// Goes to a time of the movie.
  public init(to time: Nanoseconds) {
    self.init(start: .at(time))
  }
}

extension PlaybackSegment {
  /// The segment that a seek makes of this one, whose `position` says how far it has been played;
  /// nil where the seek makes no sense.
  func applying(_ seek: SeekRequest) -> PlaybackSegment? {
    guard seek.rate.isFinite, seek.rate != 0 else { return nil }
    let start = min(bound(seek.start, now: start) ?? 0, duration ?? .max)
    let stop = bound(seek.stop, now: stop).map { min($0, duration ?? .max) }
    guard start <= stop ?? .max else { return nil }
    var wanted = self
    wanted.flags = seek.flags
    wanted.base = seek.flags.contains(.reset) ? 0 : runningTime(of: position)
    wanted.rate = seek.rate
    wanted.appliedRate = 1
    // It is played from its very beginning, also where the seek leaves that as it was.
    wanted.offset = 0
    (wanted.start, wanted.time, wanted.stop) = (start, start, stop)
    wanted.position = start
    guard seek.rate < 0 else { return wanted }
    guard let end = [stop, duration].compactMap({ $0 }).min() else { return nil }
    (wanted.stop, wanted.position) = (end, end)
    return wanted
  }

  private func bound(_ bound: SeekRequest.Bound, now: Nanoseconds?) -> Nanoseconds? {
    switch bound {
    case .unchanged: return now
    case .at(let time): return time
    case .fromEnd(let distance):
      guard let duration else { return now }
      let moved =
        distance < 0
        ? duration - min(duration, distance.magnitude)
        : saturatingSum(duration, distance.magnitude)
      return moved
    }
  }
}
