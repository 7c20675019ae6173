// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// A new index in mid-stream, as where adaptive streaming goes on with other pictures, or an
/// encoder begins anew.
struct LaterMovie: Sendable {
  let bare: Movie
  /// With its first fragment, which says what the samples are; nil as long as that has not come.
  var withFragment: Movie?
}

extension StreamedMovie {
  /// Goes on with a new index, now that all samples of the old one have been given. Tracks go on
  /// that have the same number and kind; streams stay what they are.
  mutating func follow(_ bare: Movie, _ movie: Movie, _ outputs: inout OutputQueue) {
    let known = Set(playback.tracks.map(\.id))
    for track in movie.tracks where !known.contains(track.id) {
      outputs.warn(.track(track.id, "begins in mid-stream and is left out"))
    }
    for track in playback.tracks.indices.reversed()
    where movie.successor(of: track, playback) == nil {
      outputs.warn(
        .track(playback.tracks[track].id, "has no successor in the new index, and ends"))
      playback.remove(track, &outputs)
    }
    bareMovie = bare
    playback.movie = movie
    for track in playback.tracks.indices {
      guard let index = movie.successor(of: track, playback) else { continue }
      follow(index, with: track, &outputs)
    }
    goOnBehindWhatWasPlayed()
    outputs.append(.statusChanged)
  }

  /// Where times begin anew, what is played goes on in running time all the same.
  private mutating func goOnBehindWhatWasPlayed() {
    guard upstream == nil, let end = playback.tracks.map(\.end).max() else { return }
    let starts = playback.tracks.indices.compactMap { track in
      playback.tracks[track].leastPTS(playback.samples(track), isComplete: true).map {
        playback.tracks[track].movieTime(ofPTS: $0)
      }
    }
    // Tracks do not end all at once.
    guard let start = starts.min(), start < end, end - start > .second / 10 else { return }
    playback.segment.base = playback.segment.runningTime(of: end)
    (playback.segment.start, playback.segment.time) = (start, start)
    playback.position = start
    for track in playback.tracks.indices {
      playback.tracks[track].end = start
      playback.tracks[track].needsSegment = true
    }
  }

  /// Goes on with a track of the new index.
  private mutating func follow(_ index: Int, with track: Int, _ outputs: inout OutputQueue) {
    var builder = StreamBuilder(movie: playback.movie)
    let new = builder.add(index, first: nil, &outputs)
    let isSame = new.formats.map(\.entry) == playback.tracks[track].formats.map(\.entry)
    if !isSame { playback.interrupt(track, &outputs) }
    playback.tracks[track].follow(new, isSame: isSame)
    if let shift = upstream?.shift { playback.tracks[track].timeline.shift(by: shift) }
    guard !isSame, let format = new.formats.first else { return }
    for stream in playback.tracks[track].streams where stream.role == .samples {
      outputs.append(.format(stream.id, .samples(format)))
    }
  }
}

extension Movie {
  /// The track that goes on where one that is played ends; nil where there is none.
  fileprivate func successor(of track: Int, _ playback: MoviePlayback) -> Int? {
    let old = playback.tracks[track]
    return tracks.firstIndex {
      $0.id == old.id && PlayerStream.Kind(handlerType: $0.handlerType) == old.kind
    }
  }
}

extension PlayedTrack {
  /// Goes on as another one, of a new index.
  fileprivate mutating func follow(_ new: PlayedTrack, isSame: Bool) {
    let old = timeline
    index = new.index
    timeline = old.isUpstream ? TrackTimeline(upstream: new.timeline) : new.timeline
    needsSegment = needsSegment || timeline.edits != old.edits
    edit = min(edit, timeline.edits.count - 1)
    formats = new.formats
    itemLength = new.itemLength
    restartSamples()
    guard !isSame else { return }
    sampleEntryIndex = 0
    eyeFormat = eyeFormat.map { old in
      guard let format = new.formats.first, case .video(let entry) = format.entry else {
        return old
      }
      var changed = old
      changed.description = format.description
      changed.spatial = entry.spatialMetadata
      return changed
    }
    hasUnknownLayers = streams.contains { $0.role != .samples }
  }
}

extension PlayerWarning {
  fileprivate static func track(_ id: TrackID, _ what: String) -> PlayerWarning {
    PlayerWarning(.tracks, "Track \(id.rawValue) \(what).")
  }
}
