// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo

/// The current phase of a player, with the state that only this phase needs. Subclasses override
/// what concerns them: input for another kind of source is ignored.
///
/// A player owns the only reference to its phase, so two threads never use it at the same time, and
/// what is accessed for each sample needs no check at run time that it is not.
class Phase: @unchecked Sendable {
  /// The pending outputs, which the next phase takes over.
  @exclusivity(unchecked) final var outputs = OutputQueue()

  /// Advances until there may be output, a request is needed, or another phase begins.
  ///
  /// - Parameters:
  ///   - answer: The source's answer to a read request; nil if it has not answered.
  ///   - hasMoved: Whether the source moved as asked; nil if it has not answered.
  func step(_ answer: ReadAnswer?, hasMoved: Bool?) throws(MoviePlayerError) -> Progress {
    .wait(.awaitBytes)
  }

  // MARK: Input

  func append(_ slice: ByteSlice, _ times: ChunkTimes) throws(MoviePlayerError) {}

  func endInput() {}

  /// Sets the file offset of the next bytes.
  func begin(at offset: UInt64) {}

  /// Sets the segment that the times of the next bytes refer to.
  func begin(_ segment: PlaybackSegment) {}

  /// Continues at the target of a seek.
  func begin(_ plan: SeekPlan) {}

  /// Marks the next bytes as the start of a box that does not continue the previous bytes.
  func beginBox() {}

  /// Drops everything in progress, as after a flush.
  func flush() {}

  func select(_ stream: StreamID, _ isSelected: Bool) {}

  /// Adds out-of-band parameter sets of an elementary stream, valid from now on.
  func add(parameterSets: [[UInt8]]) throws(MoviePlayerError) {}

  // MARK: State

  /// The movie being played; nil before its index is known and for a stream without a container.
  var movie: MoviePlayback? { nil }

  /// The streams being played.
  var streams: [PlayedStream] { [] }

  /// Presentation time of the last frame.
  var position: ClockTime { 0 }

  /// The map for seeks; nil if the movie is not seekable.
  var seekMap: SeekMap? { nil }

  /// Number of bytes retained until the index arrives.
  var heldByteCount: UInt64 { 0 }
}

/// A phase in which a movie is played.
class MoviePhase: Phase, @unchecked Sendable {
  @exclusivity(unchecked) final var playback: MoviePlayback

  init(_ playback: MoviePlayback) {
    self.playback = playback
  }

  final override func select(_ stream: StreamID, _ isSelected: Bool) {
    playback.select(stream, isSelected)
  }

  final override var movie: MoviePlayback? { playback }

  final override var streams: [PlayedStream] { playback.tracks.flatMap(\.streams) }

  final override var position: ClockTime { playback.position }

  /// Ends playback when no samples are left.
  final func end() throws(MoviePlayerError) -> Progress {
    guard playback.isSelected else { return .wait(.end(.nothingSelected)) }
    return .wait(.end(try playback.end(&outputs)))
  }
}

/// The result of one step of a phase.
enum Progress {
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
