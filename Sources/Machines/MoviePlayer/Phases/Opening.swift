// SPDX-License-Identifier: MPL-2.0

import HEVC
import ISOBMFF

/// The first phase of a random-access source: reads the index of the movie and of all its
/// fragments.
final class Opening: Phase, @unchecked Sendable {
  private enum Stage {
    /// Detecting the kind of stream.
    case start
    case size(FileSizeSearch)
    case index
    /// The index is known, and the first sample is read to detect layers.
    case firstSample(ReadRequest)
  }

  private var stage = Stage.start
  private var fileSize: UInt64?
  private var fileType: FileType?
  /// The movie, with the fragments found so far.
  private var index: Movie?
  /// The movie with its first fragment.
  private var basis: Movie?
  private var fileLevelBoxes = FileLevelBoxes()
  /// The number of boxes found after the index of a movie that has no fragments.
  private var laterBoxCount = 0
  private var parser = MovieParser()
  private let options: PlayerOptions

  init(fileSize: UInt64?, _ options: PlayerOptions) {
    self.fileSize = fileSize
    self.options = options
  }

  /// Advances until a request is needed or the streams are known.
  override func step(_ answer: ReadAnswer?, hasMoved: Bool?) throws(MoviePlayerError) -> Progress {
    switch stage {
    case .start:
      guard let answer else { return .wait(.read(ReadRequest(range: 0..<16))) }
      guard let start = answer.slice, start.count > 0 else { throw .empty }
      if ElementaryPlayback.isByteStream(start) {
        return .phase(ElementaryPlayback(reading: options))
      }
      if let fileSize { beginIndex(fileSize) } else { stage = .size(FileSizeSearch()) }
      return .again
    case .size(var search):
      if let answer { search.take(isThere: answer.slice?.count ?? 0 > 0) }
      stage = .size(search)
      if let place = search.probe {
        return .wait(.read(ReadRequest(range: place..<place + 1, isProbe: true)))
      }
      beginIndex(search.size)
      return .again
    case .index:
      if let answer { supply(answer) }
      return try readIndex()
    case .firstSample(let request):
      guard let answer else { return .wait(.read(request)) }
      return try expose(answer.slice, at: request.range.lowerBound)
    }
  }

  private func beginIndex(_ size: UInt64) {
    fileSize = size
    parser = MovieParser(fileSize: size)
    stage = .index
  }

  private func supply(_ answer: ReadAnswer) {
    if let slice = answer.slice, slice.count > 0 {
      slice.withBytes { parser.supply($0, at: answer.offset) }
    } else {
      parser.endOfStream(at: answer.offset)
    }
  }

  private func readIndex() throws(MoviePlayerError) -> Progress {
    let event: MovieParser.Event
    do {
      event = try parser.next()
    } catch {
      guard let index else { throw .unreadable(error) }
      // Bytes after the index of a movie without fragments are not needed to play it.
      if index.isFragmented { outputs.warn(.damagedIndex(error)) }
      return try finish()
    }
    switch event {
    case .fileType(let type): fileType = type
    case .movie(let found): index = found
    case .fragment(let fragment):
      index?.append(fragment)
      if basis == nil { basis = index }
    case .needBytes(let range): return .wait(.read(ReadRequest(range: range)))
    case .end: return try finish()
    case .userBox(let box): fileLevelBoxes.add(box)
    case .box(let type, _): fileLevelBoxes.add(type)
    case .segmentIndex, .randomAccess, .mediaData: break
    }
    if let index, !index.isFragmented {
      laterBoxCount += 1
      // Padding may consist of any number of empty boxes.
      if laterBoxCount > Self.maximumLaterBoxCount { return try finish() }
    }
    return .again
  }

  private static let maximumLaterBoxCount = 64

  /// Finishes reading the index and requests the first sample of a layered track, if there is one.
  private func finish() throws(MoviePlayerError) -> Progress {
    guard let movie = basis ?? index else { throw .nothingPlayable }
    guard let track = MoviePlayback.layeredTrack(of: movie),
      let record = movie.tracks[track].samples.sample(at: 0), record.size > 0,
      record.offset < fileSize ?? 0, UInt64(record.size) <= (fileSize ?? 0) - record.offset
    else { return try expose(nil, at: 0) }
    stage = .firstSample(
      ReadRequest(range: record.offset..<record.offset + UInt64(record.size)))
    return .again
  }

  private func expose(_ first: ByteSlice?, at offset: UInt64) throws(MoviePlayerError) -> Progress {
    guard var movie = index else { throw .nothingPlayable }
    movie.fileLevelBoxes = fileLevelBoxes
    let playback = try MoviePlayback(
      movie, basis: basis ?? movie, fileType: fileType, isComplete: true, fragments: nil,
      first: first, options, &outputs)
    return .phase(
      SeekablePlayback(
        playback, fileSize: fileSize ?? 0,
        first: first.map { ReadAhead.Window(offset: offset, slice: $0) }))
  }
}

extension PlayerWarning {
  static func damagedIndex(_ error: ISOBMFFError) -> PlayerWarning {
    PlayerWarning(
      .cutOff, "The file is damaged or cut off; it is played up to that point.", detail: "\(error)")
  }

  static func cutOff(_ track: PlayedTrack, at offset: UInt64) -> PlayerWarning {
    PlayerWarning(
      .cutOff, "The file is cut off; it is played up to that point.",
      detail: "track \(track.id.rawValue): a sample at byte \(offset)")
  }
}
