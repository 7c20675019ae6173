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
    bareMovie = bare
    playback.movie = movie
    let known = Set(playback.tracks.map(\.id))
    for track in movie.tracks where !known.contains(track.id) {
      outputs.warn(.track(track.id, "begins in mid-stream and is left out"))
    }
    for track in playback.tracks.indices {
      let old = playback.tracks[track]
      let index = movie.tracks.firstIndex {
        $0.id == old.id && PlayerStream.Kind(handlerType: $0.handlerType) == old.kind
      }
      if let index {
        follow(index, with: track, &outputs)
      } else {
        outputs.warn(.track(old.id, "has no successor in the new index, and ends"))
        playback.tracks[track].finish()
      }
    }
    outputs.append(.statusChanged)
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
      guard let format = new.formats.first, case .video(let entry) = format.entry else { return old }
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
