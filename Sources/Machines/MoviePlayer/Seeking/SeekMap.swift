// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo

/// An immutable map from movie time to file offsets: everything needed to plan a seek.
///
/// The application may query it while a player runs in another thread.
public struct SeekMap: Sendable {
  struct Track: Sendable {
    let id: TrackID
    let timeline: TrackTimeline
    let samples: TrackSamples
    let streams: [StreamID]
  }

  /// The source of sample positions.
  enum Places: Sendable {
    /// The sample tables, which are complete.
    case samples
    /// An index of the fragments that contain the samples.
    case fragments(FragmentIndex)
  }

  let tracks: [Track]
  let places: Places
  /// Whether the source delivers bytes in order. It can then seek only with a flush, and play only
  /// forwards.
  let isStream: Bool

  /// Returns the result of a seek; nil if the seek is invalid or its target is not known.
  ///
  /// - Parameters:
  ///   - segment: The segment being played, with its position and the movie's duration.
  ///   - selected: The selected streams. Key units are preferably those of a selected video stream.
  public func plan(
    _ seek: SeekRequest, from segment: PlaybackSegment, selected: Set<StreamID> = []
  ) -> SeekPlan? {
    guard var wanted = segment.applying(seek) else { return nil }
    guard !isStream || wanted.rate > 0 && wanted.flags.contains(.reset) else { return nil }
    wanted.duration = nil
    switch places {
    case .samples:
      if wanted.rate > 0, case .keyUnit(let snap) = seek.precision,
        let time = keyTime(wanted.start, snap, reference(selected))
      {
        wanted.begin(at: time)
      }
      let offsets = tracks.compactMap { track in
        track.samples.sample(at: track.timeline.sample(at: wanted.start, track.samples))?.offset
      }
      return SeekPlan(segment: wanted, offset: offsets.min() ?? 0, isFragment: false)
    case .fragments(let index):
      guard wanted.rate > 0, let start = index.start(for: tracks, at: wanted.start) else {
        return nil
      }
      if case .keyUnit = seek.precision { wanted.begin(at: min(wanted.start, start.time)) }
      return SeekPlan(segment: wanted, offset: start.offset, isFragment: true)
    }
  }

  /// The track whose key units the others follow: preferably selected video.
  private func reference(_ selected: Set<StreamID>) -> Track? {
    let video = tracks.filter { $0.timeline.kind == .video }
    return video.first { !selected.isDisjoint(with: $0.streams) } ?? video.first ?? tracks.first
  }

  /// Returns the time of the random access point to which `time` snaps.
  private func keyTime(
    _ time: ClockTime, _ snap: SeekRequest.Snap, _ track: Track?
  ) -> ClockTime? {
    guard let track else { return nil }
    let (timeline, samples) = (track.timeline, track.samples)
    let before = timeline.sample(at: time, samples)
    let earlier = timeline.movieTime(ofSample: before, near: time, samples)
    guard snap != .before, earlier ?? 0 < time, let after = samples.syncSample(after: before),
      let later = timeline.movieTime(ofSample: after, near: time, samples)
    else { return earlier }
    if snap == .nearest, let earlier, later > time {
      return later - time < time - earlier ? later : earlier
    }
    return later
  }
}

extension PlaybackSegment {
  /// Moves the start of the segment.
  fileprivate mutating func begin(at time: ClockTime) {
    (start, self.time, position) = (time, time, time)
  }
}

/// The result of a seek.
public struct SeekPlan: Sendable {
  /// The segment to play, on the movie's timeline.
  public let segment: PlaybackSegment
  /// The file offset, in bytes, from which a stream has to deliver.
  public let offset: UInt64
  /// Whether a fragment starts at the offset. The movie is then parsed again from there.
  let isFragment: Bool
}

/// The fragment index of a movie that is read as a stream.
enum FragmentIndex: Sendable {
  /// A `sidx` box.
  case segments(SegmentIndex)
  /// The `mfra` box at the end of the file.
  case randomAccess(FragmentRandomAccess)

  /// A position where reading may start.
  struct Start {
    /// In bytes from the start of the file.
    var offset: UInt64
    /// The movie time at which the media from there is first shown.
    var time: ClockTime
  }

  /// End of the indexed media; nil if the index does not give it.
  var end: ClockTime? {
    guard case .segments(let index) = self, index.references.count > 1 else { return nil }
    return ClockTime(index.end, perSecond: index.timescale)
  }

  /// Returns the position to read from to show the movie at `time`; nil if the index does not reach
  /// that far.
  func start(for tracks: [SeekMap.Track], at time: ClockTime) -> Start? {
    switch self {
    case .segments(let index):
      guard let track = tracks.first(where: { $0.id == index.trackID }),
        let reference = index.start(for: track.timeline, at: time)
      else { return nil }
      let media = reference.time.scaled(
        by: UInt64(track.timeline.timescale), over: UInt64(index.timescale))
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
      // Tracks may have separate fragments, one after the other.
      let offset = starts.map(\.start.offset).min() ?? reference.start.offset
      return Start(offset: offset, time: reference.start.time)
    }
  }
}

extension SegmentIndex {
  /// End of the indexed media, in units of the timescale.
  fileprivate var end: UInt64 {
    references.last.map { $0.time.addingReportingOverflow(UInt64($0.duration)).partialValue } ?? 0
  }

  /// Returns the segment to read from to show the movie at `time`; nil if this index does not reach
  /// that far.
  fileprivate func start(for timeline: TrackTimeline, at time: ClockTime) -> Reference? {
    let media = timeline.mediaTime(shownAt: time)
    let wanted = UInt64(clamping: media).scaled(
      by: UInt64(timescale), over: UInt64(timeline.timescale))
    guard wanted <= end, var reference = reference(at: wanted), !reference.isIndex else {
      return nil
    }
    // Some muxers never set starts_with_SAP; decoding can then start at every segment.
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
  /// Returns the media time shown at a movie time.
  fileprivate func mediaTime(shownAt time: ClockTime) -> Int64 {
    mediaTime(of: edits[edit(at: time)].timestamp(at: time))
  }

  /// Returns the movie time of a media time, by the last edit that starts at or before it.
  fileprivate func firstMovieTime(of media: UInt64) -> ClockTime {
    let pts = pts(Int64(clamping: media))
    return edits.last { $0.mediaStart != nil && $0.start <= pts }?.movieTime(of: pts) ?? 0
  }
}
