// SPDX-License-Identifier: MPL-2.0

/// What a source says, to whatever a player is at. To phases of another kind of source it means
/// nothing.
extension Phase {
  /// Takes the payload out, so that it is not copied where it is changed.
  mutating func take() -> Phase {
    var taken = Phase.failed
    swap(&taken, &self)
    return taken
  }

  mutating func append(
    _ slice: ByteSlice, _ times: ChunkTimes
  ) throws(MoviePlayerError) {
    switch take() {
    case .probing(var probing):
      probing.append(slice, times)
      self = .probing(probing)
    case .streamedMovie(var movie):
      movie.append(slice, times)
      self = .streamedMovie(movie)
    case .elementary(var stream):
      try stream.append(slice, times)
      self = .elementary(stream)
    case let other: self = other
    }
  }

  /// What comes next belongs to this place of the file.
  mutating func begin(at offset: UInt64) {
    switch take() {
    case .probing(var probing):
      probing.begin(at: offset)
      self = .probing(probing)
    case .streamedMovie(var movie):
      movie.begin(at: offset)
      self = .streamedMovie(movie)
    case let other: self = other
    }
  }

  /// What comes next has times in this segment of the source's.
  mutating func begin(_ segment: PlaybackSegment) {
    switch take() {
    case .probing(var probing):
      probing.upstream = segment
      self = .probing(probing)
    case .streamedMovie(var movie):
      movie.begin(upstream: segment)
      self = .streamedMovie(movie)
    case .elementary(var stream):
      stream.begin(segment)
      self = .elementary(stream)
    case let other: self = other
    }
  }

  /// What comes next is where a seek leads to.
  mutating func begin(_ plan: SeekPlan) {
    switch take() {
    case .readMovie(var movie):
      movie.playback.begin(plan.segment)
      self = .readMovie(movie)
    case .streamedMovie(var movie):
      movie.begin(plan)
      self = .streamedMovie(movie)
    case let other: self = other
    }
  }

  mutating func endSource() {
    switch take() {
    case .probing(var probing):
      probing.endInput()
      self = .probing(probing)
    case .streamedMovie(var movie):
      movie.endInput()
      self = .streamedMovie(movie)
    case .elementary(var stream):
      stream.endInput()
      self = .elementary(stream)
    case let other: self = other
    }
  }

  /// All that was under way has been dropped.
  mutating func flush() {
    switch take() {
    case .streamedMovie(var movie):
      movie.flush()
      self = .streamedMovie(movie)
    case .elementary(var stream):
      stream.flush()
      self = .elementary(stream)
    case let other: self = other
    }
  }

  mutating func select(_ stream: StreamID, _ isSelected: Bool) {
    switch take() {
    case .readMovie(var movie):
      movie.playback.select(stream, isSelected)
      self = .readMovie(movie)
    case .streamedMovie(var movie):
      movie.playback.select(stream, isSelected)
      self = .streamedMovie(movie)
    case .elementary(var elementary):
      elementary.select(stream, isSelected)
      self = .elementary(elementary)
    case let other: self = other
    }
  }

  /// What comes next begins with a box, and does not continue what came before.
  mutating func beginBox() {
    switch take() {
    case .streamedMovie(var movie):
      movie.beginBox()
      self = .streamedMovie(movie)
    case let other: self = other
    }
  }

  /// Takes parameter sets that come beside an elementary stream.
  mutating func add(parameterSets: [[UInt8]]) throws(MoviePlayerError) {
    switch take() {
    case .elementary(var stream):
      try stream.add(parameterSets: parameterSets)
      self = .elementary(stream)
    case let other: self = other
    }
  }
}
