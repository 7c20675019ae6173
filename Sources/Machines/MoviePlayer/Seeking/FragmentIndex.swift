// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// Where the fragments lie of a movie that comes as a stream, by an index in the file.
enum FragmentIndex: Sendable {
  /// A `sidx` box.
  case segments(SegmentIndex)
  /// The `mfra` box that the file ends with.
  case randomAccess(FragmentRandomAccess)

  /// Where reading may start.
  struct Start {
    /// In bytes from the file's start.
    var offset: UInt64
    /// When what begins there is shown, on the movie's time line.
    var time: Nanoseconds
  }

  /// Where the media ends that is told of; nil where the index does not say that.
  var end: Nanoseconds? {
    guard case .segments(let index) = self, index.references.count > 1 else { return nil }
    return scale(index.end, .second, UInt64(index.timescale))
  }

  /// Where to read from on for what is shown at a time of the movie; nil where the index does not
  /// reach there.
  func start(for tracks: [SeekMap.Track], at time: Nanoseconds) -> Start? {
    switch self {
    case .segments(let index):
      guard let track = tracks.first(where: { $0.id == index.trackID }),
        let reference = index.start(for: track.timeline, at: time)
      else { return nil }
      let media = scale(
        reference.time, UInt64(track.timeline.timescale), UInt64(index.timescale))
      return Start(offset: reference.offset, time: track.timeline.firstMovieTime(of: media))
    case .randomAccess(let index):
      let starts = tracks.compactMap { track -> (track: SeekMap.Track, start: Start)? in
        let wanted = UInt64(clamping: track.timeline.mediaTime(shownAt: time))
        guard
          let entry = index.entry(of: track.id, at: wanted) ?? index.entries[track.id]?.first
        else { return nil }
        return (
          track,
          Start(
            offset: entry.fragmentOffset, time: track.timeline.firstMovieTime(of: entry.time))
        )
      }
      guard
        let reference = starts.first(where: { $0.track.timeline.kind == .video }) ?? starts.first
      else { return nil }
      // Tracks may have fragments of their own, one behind the other.
      let offset = starts.map(\.start.offset).min() ?? reference.start.offset
      return Start(offset: offset, time: reference.start.time)
    }
  }
}

extension SegmentIndex {
  /// Where the media ends that is told of, in units of the timescale.
  fileprivate var end: UInt64 {
    references.last.map { $0.time.addingReportingOverflow(UInt64($0.duration)).partialValue } ?? 0
  }

  /// The segment to read from on for what is shown at a time of the movie; nil where this index
  /// does not reach there.
  fileprivate func start(for timeline: TrackTimeline, at time: Nanoseconds) -> Reference? {
    let media = timeline.mediaTime(shownAt: time)
    let wanted = scale(UInt64(clamping: media), UInt64(timescale), UInt64(timeline.timescale))
    guard wanted <= end, var reference = reference(at: wanted), !reference.isIndex else {
      return nil
    }
    // Some muxers never say where decoding can start; it is at each segment's start then.
    guard references.contains(where: \.startsWithSync) else { return reference }
    while !reference.startsWithSync, reference.time > 0,
      let earlier = self.reference(at: reference.time - 1), earlier.offset < reference.offset
    {
      reference = earlier
    }
    return reference
  }
}

extension TrackTimeline {
  /// The media time that is shown at a time of the movie.
  fileprivate func mediaTime(shownAt time: Nanoseconds) -> Int64 {
    mediaTime(of: edits[edit(at: time)].timestamp(at: time))
  }

  /// When a media time is shown first.
  fileprivate func firstMovieTime(of media: UInt64) -> Nanoseconds {
    let pts = pts(Int64(clamping: media))
    return edits.last { $0.mediaStart != nil && $0.start <= pts }?.movieTime(of: pts) ?? 0
  }
}
