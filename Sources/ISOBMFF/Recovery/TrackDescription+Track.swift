// SPDX-License-Identifier: LGPL-2.1-or-later

extension TrackDescription {
  /// What a track that was read says of itself, to be written again. Nil where it has no sample
  /// entry.
  init?(_ track: Track) {
    guard let entry = track.sampleEntries.first else { return nil }
    self.init(entry, timescale: track.timescale)
    if LanguageCode.letters(LanguageCode.packed(track.language)) == track.language {
      language = track.language
    } else {
      languageTag = track.language
    }
    orientation = track.matrix.orientation ?? .upright
    metadata = track.metadata
    userData = track.userData.filter { $0.type != "meta" }
    alternateGroup = track.alternateGroup
    isEnabled = track.isEnabled
    references = track.references.flatMap { reference in
      reference.tracks.map { TrackReference(type: reference.type, track: $0) }
    }
    mediaHeader = track.otherBoxes.first { ["gmhd", "sthd"].contains($0.type) }
    handlerName = track.handlerName
  }
}

extension MovieMetadata {
  /// What a movie that was read says of itself, to be written again.
  init(_ movie: Movie) {
    self.init(
      creationTime: movie.creationTime == 0
        ? nil : Int64(clamping: movie.creationTime) &- Self.secondsTo1970,
      items: movie.metadata, userData: movie.userData.filter { $0.type != "meta" })
  }
}
