// SPDX-License-Identifier: MPL-2.0

/// Turns an interrupted recording into an ordinary movie: a file that was begun with
/// ``MovieWriter/init(finalising:movieTimescale:metadata:)`` and never finished.
///
/// It opens no file and reads no samples: it requests only the bytes of indexes.
///
/// ```swift
/// var recovery = MovieRecovery(fileSize: size)
/// while true {
///   switch try recovery.next() {
///   case .needBytes(let range): recovery.supply(read(range), at: range.lowerBound)
///   case .recovered(let movie): return movie
///   }
/// }
/// ```
///
/// The complete samples of the last, truncated fragment are recovered too.
public struct MovieRecovery: Sendable {
  /// The result of one step.
  public enum Step: Sendable {
    /// Bytes of the file that are needed to continue.
    case needBytes(Range<UInt64>)
    /// The recovered movie; there are no further steps.
    case recovered(RecoveredMovie)
  }

  /// An `mdat` box that may hold samples of a fragment.
  private struct MediaData {
    /// Offset of the box in the file, in bytes.
    let start: UInt64
    /// The part of its content that is in the file.
    let content: Range<UInt64>
  }

  private let fileSize: UInt64
  private var parser: MovieParser
  /// The first bytes of the file, which identify the kind of recording.
  private var beginning: [UInt8] = []
  private var recording: InterruptedRecording?
  private var pending: (fragment: MovieFragment, data: [MediaData])?

  /// Size of the longest header of a recording that can be finalised.
  private static let headerSize: UInt64 = 128

  /// Creates a recovery of a file.
  ///
  /// - Parameter fileSize: size of the file in bytes.
  public init(fileSize: UInt64) {
    self.fileSize = fileSize
    parser = MovieParser(fileSize: fileSize)
  }

  /// Returns the next step.
  ///
  /// - Throws: ``MovieRecoveryError``, or the ``ISOBMFFError`` of an index that no movie can be
  ///   made from.
  public mutating func next() throws -> Step {
    let wanted = min(Self.headerSize, fileSize)
    guard UInt64(beginning.count) >= wanted else {
      return .needBytes(UInt64(beginning.count)..<wanted)
    }
    while true {
      let start = parser.position
      let event: MovieParser.Event
      do throws(ISOBMFFError) {
        event = try parser.next()
      } catch {
        return try finish(orThrow: error)
      }
      switch event {
      case .needBytes(let range):
        return .needBytes(range)
      case .movie(let movie):
        guard movie.isFragmented else { throw MovieRecoveryError.isComplete }
        recording = try InterruptedRecording(movie, container: try container())
      case .fragment(let fragment):
        addPending()
        pending = (fragment, [])
      case .mediaData(let content):
        pending?.data.append(MediaData(start: start, content: content))
      case .end:
        return try finish(orThrow: nil)
      case .fileType, .segmentIndex, .randomAccess, .userBox, .box:
        break
      }
    }
  }

  /// Takes the requested bytes out of `bytes`, which begin at `offset` in the file; ignores the
  /// others.
  public mutating func supply(_ bytes: [UInt8], at offset: UInt64) {
    guard UInt64(beginning.count) < min(Self.headerSize, fileSize) else {
      return parser.supply(bytes, at: offset)
    }
    guard offset == UInt64(beginning.count) else { return }
    beginning += bytes.prefix(Int(Self.headerSize) - beginning.count)
  }

  /// Returns the container type of the recording if it can be finished in place.
  private func container() throws(MovieRecoveryError) -> MovieContainer {
    for container in MovieContainer.allCases {
      if beginning.starts(with: MovieWriter(finalising: container).header) { return container }
    }
    throw .isFragmentedOnly
  }

  /// Adds the samples of a fragment whose `mdat` boxes have been passed.
  private mutating func addPending() {
    guard let (fragment, data) = pending else { return }
    pending = nil
    recording?.add(fragment, from: data.map(\.content))
  }

  /// Finishes with the fragments read so far.
  ///
  /// - Parameter error: the error that stopped the parser, thrown if there is nothing to recover.
  private mutating func finish(orThrow error: ISOBMFFError?) throws -> Step {
    let last = pending?.data.last
    addPending()
    guard let recording else {
      if parser.position > 0, beginning.contains(sequence: "mdat") {
        throw MovieRecoveryError.hasNoIndex
      }
      throw error ?? ISOBMFFError(path: "", offset: 0, reason: "the file has no moov box")
    }
    return .recovered(
      try recording.finish(fileSize: fileSize, cutBox: last.map { ($0.start, $0.content) }))
  }
}

/// The reason why there is nothing to recover.
@nonexhaustive
public enum MovieRecoveryError: Error, Equatable, CustomStringConvertible {
  /// The movie is complete and has its index.
  case isComplete
  /// The file was recorded without fragments; its index would have been written at the end.
  case hasNoIndex
  /// A fragmented file that is not meant to become an ordinary movie.
  case isFragmentedOnly
  /// No sample is complete.
  case isEmpty
  /// A track has several sample entries.
  case severalSampleEntries(TrackID)

  /// The problem as a phrase about the file ("it …").
  public var description: String {
    switch self {
    case .isComplete:
      "it already has an index: there is nothing to recover"
    case .hasNoIndex:
      "it was recorded without fragments, so the positions of its samples were never written; "
        + "record with fragment-mode=first-moov-then-finalise and fragment-duration"
    case .isFragmentedOnly:
      "it is a fragmented file, which already plays up to its last complete fragment"
    case .isEmpty:
      "it ends before its first complete sample"
    case .severalSampleEntries(let track):
      "\(track) has several sample entries; only recordings with one per track can be recovered"
    }
  }
}

extension [UInt8] {
  fileprivate func contains(sequence: String) -> Bool {
    let wanted = Array(sequence.utf8)
    return indices.contains { self[$0...].starts(with: wanted) }
  }
}

/// The changes that finish an interrupted recording. Write ``closing`` first, then ``tail`` like
/// that of ``MovieWriter/finish()``, each flushed to disk before the next. If that is interrupted
/// too, the file still plays and can be recovered again.
public struct RecoveredMovie: Equatable, Sendable {
  /// The recovered part of one track.
  public struct Track: Equatable, Sendable {
    /// The media type: `vide`, `soun` and so on.
    public let handlerType: FourCC
    /// Number of recovered samples.
    public let sampleCount: UInt32
    /// Duration in seconds, from the movie's start to the end of the sample presented last.
    public let duration: Double
  }

  /// The patch that ends the file's last `mdat` box after its last complete sample; nil if no patch
  /// is needed.
  public let closing: MovieTail.Patch?
  /// The index. Truncate the file to its offset before writing it.
  public let tail: MovieTail
  /// Number of bytes at the end of the file that belong to no complete sample.
  public let lostByteCount: UInt64
  /// The tracks with samples.
  public let tracks: [Track]
}
