// SPDX-License-Identifier: MPL-2.0

/// What a source says, to whatever a player is at. To phases of another kind of source it means
/// nothing.
extension Phase {
  func append(
    _ slice: ByteSlice, _ times: ChunkTimes
  ) throws(MoviePlayerError) {
    switch self {
    case .probing(let probing): probing.value.append(slice, times)
    case .streamedMovie(let movie): movie.value.append(slice, times)
    case .elementary(let stream): try stream.value.append(slice, times)
    default: break
    }
  }

  /// What comes next belongs to this place of the file.
  func begin(at offset: UInt64) {
    switch self {
    case .probing(let probing): probing.value.begin(at: offset)
    case .streamedMovie(let movie): movie.value.begin(at: offset)
    default: break
    }
  }

  /// What comes next has times in this segment of the source's.
  func begin(_ segment: PlaybackSegment) {
    switch self {
    case .probing(let probing): probing.value.upstream = segment
    case .streamedMovie(let movie): movie.value.begin(upstream: segment)
    case .elementary(let stream): stream.value.begin(segment)
    default: break
    }
  }

  /// What comes next is where a seek leads to.
  func begin(_ plan: SeekPlan) {
    switch self {
    case .readMovie(let movie): movie.value.playback.begin(plan.segment)
    case .streamedMovie(let movie): movie.value.begin(plan)
    default: break
    }
  }

  func endSource() {
    switch self {
    case .probing(let probing): probing.value.endInput()
    case .streamedMovie(let movie): movie.value.endInput()
    case .elementary(let stream): stream.value.endInput()
    default: break
    }
  }

  /// All that was under way has been dropped.
  func flush() {
    switch self {
    case .streamedMovie(let movie): movie.value.flush()
    case .elementary(let stream): stream.value.flush()
    default: break
    }
  }

  func select(_ stream: StreamID, _ isSelected: Bool) {
    switch self {
    case .readMovie(let movie): movie.value.playback.select(stream, isSelected)
    case .streamedMovie(let movie): movie.value.playback.select(stream, isSelected)
    case .elementary(let elementary): elementary.value.select(stream, isSelected)
    default: break
    }
  }

  /// What comes next begins with a box, and does not continue what came before.
  func beginBox() {
    switch self {
    case .streamedMovie(let movie): movie.value.beginBox()
    default: break
    }
  }

  /// Takes parameter sets that come beside an elementary stream.
  func add(parameterSets: [[UInt8]]) throws(MoviePlayerError) {
    switch self {
    case .elementary(let stream): try stream.value.add(parameterSets: parameterSets)
    default: break
    }
  }
}
