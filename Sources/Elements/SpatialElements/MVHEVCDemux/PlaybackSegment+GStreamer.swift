// SPDX-License-Identifier: MPL-2.0

import GStreamer
import MoviePlayer

// A segment and a seek, in GStreamer's words and in the player's.

extension PlaybackSegment {
  init(_ segment: Segment) {
    self.init()
    flags = Flags(segment.flags)
    (rate, appliedRate) = (segment.rate, segment.appliedRate)
    (start, stop) = (segment.start, segment.stop)
    // What has no stream time begins with it.
    time = segment.hasStreamTime ? segment.time : segment.start
    (base, offset) = (segment.base, segment.offset)
    (position, duration) = (segment.position ?? segment.start, segment.duration)
  }
}

extension Segment {
  init(_ other: PlaybackSegment) {
    self.init(.time)
    flags = other.flags.segmentFlags
    (rate, appliedRate) = (other.rate, other.appliedRate)
    (start, stop, time) = (other.start, other.stop, other.time)
    (base, offset) = (other.base, other.offset)
    (position, duration) = (other.position, other.duration)
  }
}

extension PlaybackSegment.Flags {
  private static let table: [(Self, SegmentFlags)] = [
    (.reset, .reset), (.trickMode, .trickMode), (.endsWithSegmentDone, .segment),
    (.keyUnitsOnly, .trickModeKeyUnits), (.forwardPredicted, .trickModeForwardPredicted),
    (.withoutAudio, .trickModeNoAudio),
  ]

  fileprivate init(_ flags: SegmentFlags) {
    self = []
    for (flag, other) in Self.table where flags.contains(other) { insert(flag) }
  }

  fileprivate var segmentFlags: SegmentFlags {
    Self.table.reduce(into: []) { if contains($1.0) { $0.insert($1.1) } }
  }
}

extension SeekRequest {
  /// Nil for a seek of another kind than to a time.
  init?(_ seek: Seek) {
    guard seek.format == .time, !seek.flags.contains(.instantRateChange) else { return nil }
    self.init(rate: seek.rate, start: Bound(seek.start), stop: Bound(seek.stop))
    flags = PlaybackSegment.Flags(SegmentFlags(seek.flags))
    guard seek.flags.contains(.keyUnit), !seek.flags.contains(.accurate) else { return }
    precision = .keyUnit(
      seek.flags.contains(.snapNearest)
        ? .nearest : seek.flags.contains(.snapAfter) ? .after : .before)
  }
}

extension SeekRequest.Bound {
  fileprivate init(_ bound: Seek.Bound) {
    self =
      switch bound {
      case .set(let value): .at(ClockTime(exactly: value))
      case .end(let value): .fromEnd(value)
      case .unchanged: .unchanged
      }
  }
}
