// SPDX-License-Identifier: MPL-2.0

// What it takes to write the movie of an index again, with other samples or in another form.

extension SampleEntry {
  /// Whether this is PCM audio, which has too many samples to process one by one.
  package var isPCM: Bool {
    if case .audio(let entry) = self, case .pcm = entry.coding { true } else { false }
  }
}

extension Track {
  /// The description, from which the track can be written again next to ``MovieMetadata/init(_:)``,
  /// which has the items of its `meta` already.
  package var rewritable: TrackDescription {
    var description = description
    description.userData.removeAll { $0.type == "meta" }
    return description
  }

  /// The offset to subtract from media times to get movie times, in units of the track's timescale;
  /// assumes that a single edit presents all of the media.
  package func startOnMovieTimeLine(_ movieTimescale: UInt32) -> Int64 {
    var empty: UInt64 = 0
    for edit in edits {
      guard let mediaTime = edit.mediaTime else {
        empty = empty.addingReportingOverflow(edit.duration).partialValue
        continue
      }
      let start = rescale(
        empty, from: movieTimescale, to: description.timescale, .toNearestOrAwayFromZero)
      return mediaTime.subtractingReportingOverflow(Int64(clamping: start)).partialValue
    }
    return 0
  }
}

extension MovieMetadata {
  /// Copies the metadata of a movie, so that it can be written again.
  package init(_ movie: Movie) {
    self.init(
      creationTime: movie.creationTime == 0
        ? nil : Int64(clamping: movie.creationTime) &- Self.secondsTo1970,
      items: movie.metadata, userData: movie.userData.filter { $0.type != "meta" })
  }
}
