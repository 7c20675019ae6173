// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// The first phase of a stream: detects its kind and looks for the index of the movie.
final class Probing: Phase, @unchecked Sendable {
  private enum Stage {
    /// Detecting the kind of stream.
    case start
    case index
    /// The source is asked to skip media data that precedes its index, or to return to it.
    case move(to: UInt64)
    case search(IndexSearch)
  }

  private var stream: IndexedStream
  private var stage = Stage.start
  private var fileType: FileType?
  /// The movie, with its first fragment if that has arrived.
  private var index: Movie?
  /// The movie before its first fragment.
  private var bareMovie: Movie?
  /// The movie with its first fragment.
  private var basis: Movie?
  /// Those before the samples; what follows them arrives too late.
  private var fileLevelBoxes = FileLevelBoxes()
  private var isComplete = false
  private var hasSearched = false

  /// Segment of upstream's times; nil if upstream gives none.
  private var upstream: PlaybackSegment?
  private let options: PlayerOptions

  init(_ source: StreamSource, _ options: PlayerOptions) {
    stream = IndexedStream(StreamInput(source))
    self.options = options
  }

  override func append(_ slice: ByteSlice, _ times: ChunkTimes) {
    stream.append(slice, time: times.presentationTime)
  }

  override func endInput() { stream.endInput() }

  override func begin(at offset: UInt64) { stream.begin(at: offset) }

  override func begin(_ segment: PlaybackSegment) { upstream = segment }

  override var heldByteCount: UInt64 {
    index == nil ? stream.input.queue.end - stream.input.queue.start : 0
  }

  /// Advances until a request is needed or the streams are known.
  override func step(_ answer: ReadAnswer?, hasMoved: Bool?) throws(MoviePlayerError) -> Progress {
    switch stage {
    case .start: return try probe()
    case .move(let place):
      guard let hasMoved else { return .wait(.moveSource(to: place)) }
      if !hasMoved { stream.input.isMovable = false }
      stage = .index
      return .again
    case .search(var search):
      let step = try search.step(&stream, hasMoved: hasMoved)
      stage = .search(search)
      switch step {
      case .move(let place): return .wait(.moveSource(to: place))
      case .awaitBytes: return .wait(.awaitBytes)
      case .found(let index):
        stream.fragments = index
        stage = .index
        return .again
      }
    case .index: return try readIndex()
    }
  }

  private func probe() throws(MoviePlayerError) -> Progress {
    let input = stream.input
    if input.queue.start == 0 {
      guard let start = input.queue.part(0, 4) else {
        guard input.hasEnded else { return .wait(.awaitBytes) }
        throw .nothingPlayable
      }
      if ElementaryPlayback.isByteStream(start.joined()) {
        let elementary = ElementaryPlayback(ElementaryStreamSource(), options)
        if let all = input.queue.part(0, Int(clamping: input.queue.end)) {
          try elementary.append(all.joined(), ChunkTimes())
        }
        if input.hasEnded { elementary.endInput() }
        return .phase(elementary)
      }
    }
    stage = .index
    return .again
  }

  private func readIndex() throws(MoviePlayerError) -> Progress {
    do {
      // Boxes after the first fragment may belong to another index.
      while basis == nil, let box = try stream.nextBox() {
        switch box {
        case .fileType(let type): fileType = type
        case .movie(let found):
          (index, bareMovie) = (found, found)
          if !found.isFragmented { stream.stopReading() }
        case .fragment(let fragment):
          index?.append(fragment)
          basis = index
        case .mediaData(let range) where index == nil && stream.input.shouldSkip(for: range):
          stage = .move(to: range.upperBound)
          return .again
        case .userBox(let box): fileLevelBoxes.add(box)
        case .box(let type, _): fileLevelBoxes.add(type)
        default: break
        }
      }
    } catch {
      if let place = stream.input.deadEnd { throw .deadEnd(place) }
      guard index != nil else { throw .unreadable(error) }
      outputs.warn(.damagedIndex(error))
      stream.stopReading()
    }
    isComplete = stream.isParsed
    return try expose()
  }

  /// Outputs the streams once they can be described, for which a layered track needs its first
  /// sample and a fragmented movie its first fragment.
  private func expose() throws(MoviePlayerError) -> Progress {
    guard var movie = index, let bareMovie, !movie.isFragmented || basis != nil || isComplete else {
      return .wait(.awaitBytes)
    }
    let input = stream.input
    if movie.isFragmented, !hasSearched, stream.fragments == nil, !isComplete,
      let size = input.sizeToSearch
    {
      hasSearched = true
      stage = .search(IndexSearch(fileSize: size, back: input.queue.start))
      return .again
    }
    let described = basis ?? movie
    var first: ByteSlice?
    if let track = MoviePlayback.layeredTrack(of: described),
      let record = described.tracks[track].samples.sample(at: 0), record.size > 0
    {
      first = input.queue.part(record.offset, Int(record.size))?.joined()
      if first == nil, !input.hasEnded {
        guard record.offset < input.queue.start else { return .wait(.awaitBytes) }
        if input.isMovable {
          stage = .move(to: Self.firstOffset(described))
          return .again
        }
      }
    }
    movie.fileLevelBoxes = fileLevelBoxes
    let playback = try MoviePlayback(
      movie, basis: described, fileType: fileType, isComplete: isComplete,
      fragments: movie.isFragmented ? stream.fragments : nil, first: first, options,
      &outputs)
    return .phase(StreamPlayback(stream, playback, bareMovie: bareMovie, upstream: upstream))
  }

  /// Returns the offset of the first sample.
  private static func firstOffset(_ movie: Movie) -> UInt64 {
    movie.tracks.compactMap { $0.samples.sample(at: 0)?.offset }.min() ?? 0
  }
}
