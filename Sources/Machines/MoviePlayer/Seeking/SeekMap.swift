// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// Where in a movie's file what is shown when lies: all that is to be known to prepare a seek.
///
/// It does not change any more, so that an application may ask it while a player plays in another
/// thread.
public struct SeekMap: Sendable {
  struct Track: Sendable {
    let id: TrackID
    let timeline: TrackTimeline
    let samples: TrackSamples
    let streams: [StreamID]
  }

  /// What says where samples lie.
  enum Places: Sendable {
    /// The samples themselves, all of which are known.
    case samples
    /// An index of the fragments that hold them.
    case fragments(FragmentIndex)
  }

  let tracks: [Track]
  let places: Places
  /// The source gives bytes in order: it can be made to go on elsewhere, with all that is under way
  /// dropped, and forwards alone.
  let isStream: Bool

  /// What a seek comes to; nil where it makes no sense, or leads to what is not known.
  ///
  /// - Parameters:
  ///   - segment: what is played now of the movie, with its position and the movie's duration.
  ///   - selected: streams that somebody takes: video among them is what key units are looked for
  ///     in.
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

  /// The track by which others go where it matters: video that somebody takes.
  private func reference(_ selected: Set<StreamID>) -> Track? {
    let video = tracks.filter { $0.timeline.kind == .video }
    return video.first { !selected.isDisjoint(with: $0.streams) } ?? video.first ?? tracks.first
  }

  /// The time of the random access point that a seek means by another time.
  private func keyTime(
    _ time: Nanoseconds, _ snap: SeekRequest.Snap, _ track: Track?
  ) -> Nanoseconds? {
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
  /// Begins at another time of the movie.
  fileprivate mutating func begin(at time: Nanoseconds) {
    (start, self.time, position) = (time, time, time)
  }
}

/// What a seek comes to.
public struct SeekPlan: Sendable {
  /// The part of the movie that is to be played, on its own time line.
  public let segment: PlaybackSegment
  /// The byte of the file from which on a stream has to come for it.
  public let offset: UInt64
  /// A fragment begins there, from which on the movie is read anew.
  let isFragment: Bool
}

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
