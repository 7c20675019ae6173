// SPDX-License-Identifier: MPL-2.0

/// One edit of a track: a part of the movie, and what of the media plays in it.
struct TimelineEdit: Hashable, Sendable {
  /// Where it begins on the movie's time line.
  var movieStart: Nanoseconds
  /// nil: as long as there is media.
  var duration: Nanoseconds?
  /// The media time that it begins with, in units of the track's timescale; nil shows nothing.
  var mediaStart: Int64?
  /// The timestamp of `mediaStart`.
  var start: Nanoseconds
  /// How fast the media plays, in 1/65536 of its own speed; never 0.
  var rate: UInt64 = Self.normalRate

  static let normalRate: UInt64 = 0x1_0000

  var movieEnd: Nanoseconds? { duration.map { saturatingSum(movieStart, $0) } }
  var stop: Nanoseconds? { movieEnd.map { timestamp(at: $0) } }

  /// The timestamp that is shown at a time of the movie; the edit's first for what is before it.
  func timestamp(at time: Nanoseconds) -> Nanoseconds {
    let distance = time - min(time, movieStart)
    return saturatingSum(start, scale(distance, rate, Self.normalRate))
  }

  /// When a timestamp is shown; what is before the edit's first may have its time, 0 at least.
  func movieTime(of timestamp: Nanoseconds) -> Nanoseconds {
    let time = decodeOrder(of: timestamp)
    return time > 0 ? Nanoseconds(time) : 0
  }

  /// When a timestamp would be shown, or have been.
  func decodeOrder(of timestamp: Nanoseconds) -> Int64 {
    let distance = Int64(
      clamping: scale(max(timestamp, start) - min(timestamp, start), Self.normalRate, rate))
    return saturatingDifference(
      Int64(clamping: movieStart), timestamp < start ? distance : -distance)
  }

  /// The part of this edit that `segment`, one of the movie's time line, wants to play, as a
  /// segment of the track's own timestamps; nil where it wants none of it.
  func segment(in movie: PlaybackSegment) -> PlaybackSegment? {
    let from = max(movieStart, movie.start)
    let to = min(movieEnd ?? .max, movie.stop ?? .max)
    guard from < to || (from == movie.start && to == from) else { return nil }
    var segment = movie
    segment.start = timestamp(at: from)
    segment.stop = to == .max ? nil : timestamp(at: to)
    if rate != Self.normalRate {
      // To the movie's time line, the media's speed is as if somebody had changed it already.
      let speed = Double(rate) / Double(Self.normalRate)
      segment.rate = movie.rate * speed
      segment.appliedRate /= speed
    }
    segment.time = from
    segment.duration = nil
    segment.position = segment.start
    let end = movie.stop ?? to
    let passed = movie.rate < 0 ? end - min(to, end) : from - movie.start
    segment.base = saturatingSum(
      movie.base,
      movie.rate.magnitude == 1
        ? passed : PlaybackSegment.scaled(passed, by: 1 / movie.rate.magnitude))
    return segment
  }
}
