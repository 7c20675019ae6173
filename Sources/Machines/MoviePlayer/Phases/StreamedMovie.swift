// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// A movie that comes as a stream: samples are given in the order they lie in the file.
struct StreamedMovie: ~Copyable, Sendable {
  var playback: MoviePlayback
  var stream: IndexedStream
  /// The movie before its first fragment.
  var bareMovie: Movie
  /// A new index in mid-stream, which holds from behind the samples that come first.
  var laterMovie: LaterMovie?
  /// What upstream says of times; nil where the movie says it all.
  var upstream: UpstreamTime?
  /// How often the source had to go back for samples that lie before others.
  private var returnCount = 0
  /// Where the source is asked to go back to.
  var returnPlace: UInt64?

  /// Of a track whose samples lie in another order than they play, more are not fetched.
  private static let maximumReturnCount = 1000
  /// More bytes are not kept for an edit list that goes back in the media.
  private static let maximumReturn: UInt64 = 1 << 25

  /// - Parameter upstream: what upstream says of times; nil where it says nothing.
  init(
    _ stream: IndexedStream, _ playback: MoviePlayback, bareMovie: Movie,
    upstream: PlaybackSegment?
  ) {
    (self.stream, self.playback, self.bareMovie) = (stream, playback, bareMovie)
    if bareMovie.isFragmented { self.stream.followLaterMovies() }
    if let upstream { follow(upstream) }
  }

  /// What has been received stands for the size of the file.
  private var fileSize: UInt64 { stream.input.received }

  // MARK: The source

  mutating func append(_ slice: ByteSlice, _ times: ChunkTimes) {
    if upstream != nil, times.flags.contains(.discontinuity) { beginBox() }
    stream.append(slice, time: times.presentationTime)
  }

  mutating func endInput() { stream.endInput() }

  /// What comes next in the stream belongs to this place of the file.
  mutating func begin(at offset: UInt64) { stream.begin(at: offset) }

  /// What comes next in the stream is where a seek leads to.
  mutating func begin(_ plan: SeekPlan) {
    returnPlace = nil
    laterMovie = nil
    stream.begin(at: plan.offset)
    if plan.isFragment { forgetFragments(before: plan.offset) }
    playback.begin(plan.segment)
  }

  /// All that was under way has been dropped: what part of the movie is played is told once more.
  mutating func flush() {
    for track in playback.tracks.indices {
      playback.tracks[track].repeatSegment()
      playback.tracks[track].hasEnded = false
      playback.tracks[track].eyes?.reset()
      for stream in playback.tracks[track].streams.indices {
        playback.tracks[track].streams[stream].restart()
      }
    }
  }

  /// The movie is read anew from a fragment on.
  mutating func forgetFragments(before offset: UInt64) {
    playback.movie = bareMovie
    playback.isComplete = false
    stream.readBoxes(from: offset)
  }

  // MARK: What comes next

  /// Gives the sample that lies first of those that come next.
  ///
  /// - Parameter hasMoved: whether the source went where it was asked to; nil where it has not
  ///   answered.
  mutating func step(
    hasMoved: Bool?, _ outputs: inout OutputQueue
  ) throws(MoviePlayerError) -> Progress {
    if let place = returnPlace {
      guard let hasMoved else { return .wait(.moveSource(to: place)) }
      returnPlace = nil
      if !hasMoved { stream.input.isMovable = false }
    }
    readIndex(&outputs)
    if playback.isIdle { return try end(&outputs) }
    var chosen: (track: Int, item: PlayedTrack.Item)?
    for track in playback.tracks.indices where !playback.tracks[track].hasEnded {
      guard let item = try playback.next(track, &outputs, fileSize: fileSize) else { continue }
      if chosen == nil || item.record.offset < chosen?.item.record.offset ?? 0 {
        chosen = (track, item)
      }
    }
    if let (track, item) = chosen { return try give(item, of: track, &outputs) }
    if let later = laterMovie, let movie = later.withFragment {
      laterMovie = nil
      follow(later.bare, movie, &outputs)
      return .again
    }
    let isOver = playback.tracks.allSatisfy(\.hasEnded)
    return isOver ? try end(&outputs) : .wait(.awaitBytes)
  }

  private mutating func give(
    _ item: PlayedTrack.Item, of track: Int, _ outputs: inout OutputQueue
  ) throws(MoviePlayerError) -> Progress {
    let offset = item.record.offset
    guard let size = Int(exactly: item.size), let data = stream.input.queue.part(offset, size)
    else { return try miss(item, of: track, &outputs) }
    try playback.pass(item, of: track, fileSize: fileSize)
    if playback.tracks[track].isSelected {
      playback.hand(item, data, of: track, &outputs)
    } else {
      playback.leaveOut(of: track)
    }
    if item.order > 0 {
      try playback.fillGaps(upTo: Nanoseconds(item.order), &outputs, fileSize: fileSize)
    }
    letGo(before: offset)
    return .again
  }

  /// A sample is not here: it has not come yet, or it is over.
  private mutating func miss(
    _ item: PlayedTrack.Item, of track: Int, _ outputs: inout OutputQueue
  ) throws(MoviePlayerError) -> Progress {
    let input = stream.input
    if item.record.offset < input.queue.start {
      if input.isMovable, !input.hasEnded, returnCount < Self.maximumReturnCount {
        returnCount += 1
        returnPlace = item.record.offset
        return .again
      }
      outputs.warn(
        PlayerWarning(
          .order,
          "Samples of track \(playback.tracks[track].id.rawValue) came before their turn and are "
            + "left out; the input would have to be seekable."))
      try playback.pass(item, of: track, fileSize: fileSize)
      return .again
    }
    guard input.hasEnded else {
      letGo(before: item.record.offset)
      return .wait(.awaitBytes)
    }
    if let place = input.deadEnd { throw .deadEnd(place) }
    outputs.warn(.cutOff(playback.tracks[track], at: item.record.offset))
    playback.tracks[track].finish()
    return .again
  }

  private mutating func end(_ outputs: inout OutputQueue) throws(MoviePlayerError) -> Progress {
    guard playback.isSelected else { return .wait(.end(.nothingSelected)) }
    return .wait(.end(try playback.end(&outputs)))
  }

  /// Lets go of bytes that neither samples nor the index need any more.
  private mutating func letGo(before offset: UInt64) {
    let resumed = playback.tracks.indices.compactMap { track -> UInt64? in
      let record = playback.tracks[track].resumption(playback.samples(track))
      guard let place = record?.offset, place < offset, offset - place <= Self.maximumReturn else {
        return nil
      }
      return place
    }
    stream.input.queue.discard(before: min(offset, stream.parsedEnd, resumed.min() ?? .max))
  }

  // MARK: The index

  private mutating func readIndex(_ outputs: inout OutputQueue) {
    do {
      while laterMovie?.withFragment == nil, let box = try stream.nextBox() {
        switch box {
        case .movie(let found): laterMovie = LaterMovie(bare: found)
        case .fragment(let fragment): append(fragment, &outputs)
        default: break
        }
      }
    } catch {
      outputs.warn(.damagedIndex(error))
      stream.stopReading()
    }
    if stream.isParsed != playback.isComplete {
      playback.isComplete = stream.isParsed
      outputs.append(.statusChanged)
    }
  }

  private mutating func append(_ fragment: MovieFragment, _ outputs: inout OutputQueue) {
    if var movie = laterMovie?.bare {
      movie.append(fragment)
      laterMovie?.withFragment = movie
      return
    }
    let duration = playback.duration
    playback.movie.append(fragment)
    alignWithUpstream()
    if playback.duration != duration { outputs.append(.statusChanged) }
  }
}
