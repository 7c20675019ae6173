// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo

/// The current phase of a player, with the state that only this phase needs.
enum Phase: ~Copyable, Sendable {
  /// A random-access source whose index is being read.
  case opening(Boxed<Opening>)
  /// A stream whose kind and index are being determined.
  case probing(Boxed<Probing>)
  /// A movie in a random-access source.
  case seekablePlayback(Boxed<SeekablePlayback>)
  /// A movie that is read as a stream.
  case streamPlayback(Boxed<StreamPlayback>)
  /// H.265 without a container.
  case elementary(Boxed<ElementaryPlayback>)
}

/// The result of one step of a phase.
enum Progress: ~Copyable {
  /// The state has changed and output may be queued; there is more to do.
  case again
  /// Another phase begins.
  case phase(Phase)
  /// The player cannot continue before the caller has handled this step.
  case wait(PlayerStep)
}

/// A source's answer to a read request.
struct ReadAnswer: Sendable {
  /// First byte of the request.
  var offset: UInt64
  /// The bytes from there; nil if there are none.
  var slice: ByteSlice?
}

/// A value stored on the heap and modified in place, so that moving it is cheap whatever its size.
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

/// The pointer is never shared.
extension Boxed: @unchecked Sendable where Value: ~Copyable & Sendable {}

/// Input from the source. A phase that belongs to another kind of source ignores it.
extension Phase {
  func append(
    _ slice: ByteSlice, _ times: ChunkTimes
  ) throws(MoviePlayerError) {
    switch self {
    case .probing(let probing): probing.value.append(slice, times)
    case .streamPlayback(let movie): movie.value.append(slice, times)
    case .elementary(let stream): try stream.value.append(slice, times)
    default: break
    }
  }

  /// Sets the file offset of the next bytes.
  func begin(at offset: UInt64) {
    switch self {
    case .probing(let probing): probing.value.begin(at: offset)
    case .streamPlayback(let movie): movie.value.begin(at: offset)
    default: break
    }
  }

  /// Sets the segment that the times of the next bytes refer to.
  func begin(_ segment: PlaybackSegment) {
    switch self {
    case .probing(let probing): probing.value.upstream = segment
    case .streamPlayback(let movie): movie.value.begin(upstream: segment)
    case .elementary(let stream): stream.value.begin(segment)
    default: break
    }
  }

  /// Continues at the target of a seek.
  func begin(_ plan: SeekPlan) {
    switch self {
    case .seekablePlayback(let movie): movie.value.playback.begin(plan.segment)
    case .streamPlayback(let movie): movie.value.begin(plan)
    default: break
    }
  }

  func endSource() {
    switch self {
    case .probing(let probing): probing.value.endInput()
    case .streamPlayback(let movie): movie.value.endInput()
    case .elementary(let stream): stream.value.endInput()
    default: break
    }
  }

  /// Drops everything in progress.
  func flush() {
    switch self {
    case .streamPlayback(let movie): movie.value.flush()
    case .elementary(let stream): stream.value.flush()
    default: break
    }
  }

  func select(_ stream: StreamID, _ isSelected: Bool) {
    switch self {
    case .seekablePlayback(let movie): movie.value.playback.select(stream, isSelected)
    case .streamPlayback(let movie): movie.value.playback.select(stream, isSelected)
    case .elementary(let elementary): elementary.value.select(stream, isSelected)
    default: break
    }
  }

  /// Marks the next bytes as the start of a box that does not continue the previous bytes.
  func beginBox() {
    switch self {
    case .streamPlayback(let movie): movie.value.beginBox()
    default: break
    }
  }

  /// Adds out-of-band parameter sets of an elementary stream.
  func add(parameterSets: [[UInt8]]) throws(MoviePlayerError) {
    switch self {
    case .elementary(let stream): try stream.value.add(parameterSets: parameterSets)
    default: break
    }
  }
}

/// Properties of the movie.
extension Phase {
  private var playback: MoviePlayback? {
    switch self {
    case .seekablePlayback(let movie): movie.value.playback
    case .streamPlayback(let movie): movie.value.playback
    default: nil
    }
  }

  var movie: Movie? { playback?.movie }

  var fileType: FileType? { playback?.fileType }

  var segment: PlaybackSegment { playback?.segment ?? PlaybackSegment() }

  var duration: ClockTime? { playback?.duration }

  /// The map for seeks; nil if the movie is not seekable.
  var seekMap: SeekMap? {
    switch self {
    case .seekablePlayback(let movie):
      return SeekMap(movie.value.playback, places: .samples, isStream: false)
    case .streamPlayback(let movie):
      guard movie.value.stream.input.isMovable, movie.value.upstream == nil else { return nil }
      let playback = movie.value.playback
      if let fragments = playback.fragments {
        return SeekMap(playback, places: .fragments(fragments), isStream: true)
      }
      return playback.isComplete ? SeekMap(playback, places: .samples, isStream: true) : nil
    default: return nil
    }
  }

  /// Returns the largest delay of a stream's samples so far.
  func latency(of stream: StreamID) -> ClockTime {
    let streams: [PlayedStream] =
      switch self {
      case .seekablePlayback(let movie): movie.value.playback.tracks.flatMap(\.streams)
      case .streamPlayback(let movie): movie.value.playback.tracks.flatMap(\.streams)
      case .elementary(let elementary): elementary.value.streams
      default: []
      }
    return streams.first { $0.id == stream }?.latency ?? 0
  }

  /// Number of bytes retained until the index arrives.
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
