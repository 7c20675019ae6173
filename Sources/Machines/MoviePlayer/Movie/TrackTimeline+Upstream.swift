// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// Time lines of movies of which upstream says what plays when, as adaptive streaming does.
extension TrackTimeline {
  /// The time line whose timestamps are times of the movie: where the first edit puts them.
  init(upstream timeline: TrackTimeline) {
    let first = timeline.edits.first { $0.mediaStart != nil }
    let start = scale(first?.movieStart ?? 0, UInt64(timeline.timescale), .second)
    let shift = saturatingDifference(Int64(clamping: start), first?.mediaStart ?? 0)
    let distance = saturatingDifference(timeline.presentationShift, timeline.decodeShift)
    self = timeline
    presentationShift = shift
    decodeShift = saturatingDifference(shift, distance)
    isUpstream = true
    edits = [TimelineEdit(movieStart: 0, duration: nil, mediaStart: 0, start: 0)]
  }

  /// Moves all timestamps.
  mutating func shift(by nanoseconds: Int64) {
    let units = Int64(
      clamping: scale(nanoseconds.magnitude, UInt64(timescale), .second))
    let distance = nanoseconds < 0 ? units : -units
    presentationShift = saturatingDifference(presentationShift, distance)
    decodeShift = saturatingDifference(decodeShift, distance)
  }
}
