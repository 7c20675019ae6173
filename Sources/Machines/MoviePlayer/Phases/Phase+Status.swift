// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// What a phase knows of the movie.
extension Phase {
  private var playback: MoviePlayback? {
    switch self {
    case .readMovie(let movie): movie.value.playback
    case .streamedMovie(let movie): movie.value.playback
    default: nil
    }
  }

  var movie: Movie? { playback?.movie }

  var fileType: FileType? { playback?.fileType }

  var segment: PlaybackSegment { playback?.segment ?? PlaybackSegment() }

  var duration: Nanoseconds? { playback?.duration }

  /// Where what lies in the movie; nil where it cannot be sought.
  var seekMap: SeekMap? {
    switch self {
    case .readMovie(let movie):
      return SeekMap(movie.value.playback, places: .samples, isStream: false)
    case .streamedMovie(let movie):
      guard movie.value.stream.input.isMovable, movie.value.upstream == nil else { return nil }
      let playback = movie.value.playback
      if let fragments = playback.fragments {
        return SeekMap(playback, places: .fragments(fragments), isStream: true)
      }
      return playback.isComplete ? SeekMap(playback, places: .samples, isStream: true) : nil
    default: return nil
    }
  }

  /// By how much the samples of a stream come late, at the most so far.
  func latency(of stream: StreamID) -> Nanoseconds {
    let streams: [PlayedStream] =
      switch self {
      case .readMovie(let movie): movie.value.playback.tracks.flatMap(\.streams)
      case .streamedMovie(let movie): movie.value.playback.tracks.flatMap(\.streams)
      case .elementary(let elementary): elementary.value.streams
      default: []
      }
    return streams.first { $0.id == stream }?.latency ?? 0
  }

  /// Bytes that are kept since the index has not come that says what they are.
  var heldByteCount: UInt64 {
    switch self {
    case .probing(let probing): probing.value.heldByteCount
    default: 0
    }
  }
}

extension SeekMap {
  init(_ playback: MoviePlayback, places: Places, isStream: Bool) {
    tracks = playback.tracks.indices.map { index in
      let track = playback.tracks[index]
      return Track(
        id: track.id, timeline: track.timeline, samples: playback.samples(index),
        streams: track.streams.map(\.id))
    }
    self.places = places
    self.isStream = isStream
  }
}
