// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// What a player is at, with what belongs to that alone.
enum Phase: ~Copyable, Sendable {
  /// A source that can be read anywhere: its index is looked for.
  case opening(Boxed<Opening>)
  /// A stream: what it is, and its index, are looked for.
  case probing(Boxed<Probing>)
  /// A movie in a source that can be read anywhere.
  case readMovie(Boxed<ReadMovie>)
  /// A movie that comes as a stream.
  case streamedMovie(Boxed<StreamedMovie>)
  /// H.265 without a container.
  case elementary(Boxed<ElementaryPlayback>)
}

/// What a phase came to.
enum Progress: ~Copyable {
  /// Something has changed, and perhaps been given: there is more to do.
  case again
  /// Something else begins.
  case phase(Phase)
  /// The player cannot go on before this has been done.
  case wait(PlayerStep)
}

/// What a source gave for a request.
struct ReadAnswer: Sendable {
  /// The first byte that was asked for.
  var offset: UInt64
  /// What there is from there on; nil where there is nothing.
  var slice: ByteSlice?
}

/// A value in memory of its own, which is changed there: moving it is cheap, however large it is.
struct Boxed<Value: ~Copyable>: ~Copyable {
  private let pointer: UnsafeMutablePointer<Value>

  init(_ value: consuming Value) {
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: value)
  }

  deinit {
    pointer.deinitialize(count: 1)
    pointer.deallocate()
  }

  var value: Value {
    _read { yield pointer.pointee }
    nonmutating _modify { yield &pointer.pointee }
  }
}

/// Nothing else has the pointer.
extension Boxed: @unchecked Sendable where Value: ~Copyable & Sendable {}

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
