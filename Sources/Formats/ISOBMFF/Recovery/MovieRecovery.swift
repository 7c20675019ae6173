// SPDX-License-Identifier: MPL-2.0

/// Finds what makes an ordinary movie of a recording that was cut off: of a file that
/// ``MovieWriter/init(finalising:movieTimescale:metadata:)`` began and nobody finished.
///
/// It opens no file and sees no sample: it says which bytes it needs, those of indexes alone.
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
/// Of the fragment that is cut off, the samples that are whole are recovered too.
public struct MovieRecovery: Sendable {
  public enum Step: Sendable {
    /// Bytes of the file that are needed to go on.
    case needBytes(Range<UInt64>)
    case recovered(RecoveredMovie)
  }

  /// Where the samples of a fragment may lie.
  private struct MediaData {
    /// Where the box begins, in bytes from the file's start.
    let start: UInt64
    /// What of its content is there.
    let content: Range<UInt64>
  }

  private let fileSize: UInt64
  private var parser: MovieParser
  /// The bytes that the file begins with, by which it is recognised.
  private var beginning: [UInt8] = []
  private var recording: TornRecording?
  private var pending: (fragment: MovieFragment, data: [MediaData])?

  /// As many bytes as the longest header of a movie that is finalised has.
  private static let headerSize: UInt64 = 128

  /// - Parameter fileSize: in bytes.
  public init(fileSize: UInt64) {
    self.fileSize = fileSize
    parser = MovieParser(fileSize: fileSize)
  }

  /// What comes next.
  ///
  /// - Throws: a ``MovieRecoveryError``, or the ``ISOBMFFError`` of an index that no movie can be
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
        recording = try TornRecording(movie, container: try container())
      case .fragment(let fragment):
        addPending()
        pending = (fragment, [])
      case .mediaData(let content):
        pending?.data.append(MediaData(start: start, content: content))
      case .end:
        return try finish(orThrow: nil)
      case .fileType, .segmentIndex, .randomAccess, .box:
        break
      }
    }
  }

  /// Takes what it needs of the bytes that begin at `offset` in the file; others are ignored.
  public mutating func supply(_ bytes: [UInt8], at offset: UInt64) {
    guard UInt64(beginning.count) < min(Self.headerSize, fileSize) else {
      return parser.supply(bytes, at: offset)
    }
    guard offset == UInt64(beginning.count) else { return }
    beginning += bytes.prefix(Int(Self.headerSize) - beginning.count)
  }

  /// The dialect of the recording, if it is one that can be finished where it lies.
  private func container() throws(MovieRecoveryError) -> MovieContainer {
    for container in MovieContainer.allCases {
      if beginning.starts(with: MovieWriter(finalising: container).header) { return container }
    }
    throw .isFragmentedOnly
  }

  /// Adds the samples of a fragment whose media data have been passed.
  private mutating func addPending() {
    guard let (fragment, data) = pending else { return }
    pending = nil
    recording?.add(fragment, from: data.map(\.content))
  }

  /// - Parameter error: why the file cannot be read further; what comes before it counts.
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

/// Why there is nothing to be finished.
public enum MovieRecoveryError: Error, Equatable, CustomStringConvertible {
  /// The movie has its index.
  case isComplete
  /// It was recorded without fragments, and its index would have come at the end.
  case hasNoIndex
  /// A file of fragments that is not meant to become an ordinary movie.
  case isFragmentedOnly
  /// No sample is whole.
  case isEmpty
  /// A track has several sample entries.
  case severalSampleEntries(TrackID)

  public var description: String {
    switch self {
    case .isComplete:
      "it has its index: there is nothing to recover"
    case .hasNoIndex:
      "it was recorded without fragments, so that the places of its pictures were never written; "
        + "record with fragment-mode=first-moov-then-finalise and fragment-duration"
    case .isFragmentedOnly:
      "it is a file of fragments, which plays up to its last whole fragment as it is"
    case .isEmpty:
      "it ends before its first whole sample"
    case .severalSampleEntries(let track):
      "\(track) changes its coding, which a recording that can be recovered does not"
    }
  }
}

extension [UInt8] {
  fileprivate func contains(sequence: String) -> Bool {
    let wanted = Array(sequence.utf8)
    return indices.contains { self[$0...].starts(with: wanted) }
  }
}

/// What finishes a recording that was cut off, in this order, each on the disk before the next:
/// ``closing``, then ``tail`` as ``MovieWriter/finish()`` gives it. Whenever that ends, the file
/// plays, and can be recovered again.
public struct RecoveredMovie: Equatable, Sendable {
  /// What became of one track.
  public struct Track: Equatable, Sendable {
    /// `vide`, `soun` and so on.
    public let handlerType: FourCC
    public let sampleCount: UInt32
    /// In seconds, from the movie's start to the end of the last sample that is shown.
    public let duration: Double
  }

  /// Makes the last box of the file's samples end with the last whole one; nil where there is
  /// nothing behind them.
  public let closing: MovieTail.Patch?
  /// The index. The file is cut at its place first.
  public let tail: MovieTail
  /// How many bytes at the end of the file belong to no whole sample.
  public let lostByteCount: UInt64
  /// Those with samples.
  public let tracks: [Track]
}
