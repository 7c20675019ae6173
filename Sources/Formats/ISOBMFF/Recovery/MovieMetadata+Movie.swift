// SPDX-License-Identifier: MPL-2.0

extension MovieMetadata {
  /// What a movie that was read says of itself, to be written again.
  init(_ movie: Movie) {
    self.init(
      creationTime: movie.creationTime == 0
        ? nil : Int64(clamping: movie.creationTime) &- Self.secondsTo1970,
      items: movie.metadata, userData: movie.userData.filter { $0.type != "meta" })
  }
}
