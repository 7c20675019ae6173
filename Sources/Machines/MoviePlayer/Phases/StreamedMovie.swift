// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo

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

/// What upstream says of the times of a movie, as adaptive streaming does.
struct UpstreamTime: Sendable {
  /// What is added to the movie's times to make them upstream's, in nanoseconds.
  private(set) var shift: Int64 = 0
  /// The next fragment says by how much times differ from upstream's.
  var isOpen = true

  /// By less, the rounded lengths of a playlist and the times of the media may differ.
  private static let tolerance = Nanoseconds.second / 2

  /// Takes when a fragment begins, by its own times and by upstream's; gives by how much the times
  /// of what follows move.
  mutating func takeStart(own: Nanoseconds, upstream: Nanoseconds) -> Int64 {
    isOpen = false
    let wanted = saturatingDifference(Int64(clamping: upstream), Int64(clamping: own))
    guard wanted.magnitude > Self.tolerance else { return 0 }
    shift = shift.addingReportingOverflow(wanted).partialValue
    return wanted
  }
}

extension StreamedMovie {
  /// Plays what upstream says, by its times: what comes next begins with a box.
  mutating func begin(upstream segment: PlaybackSegment) {
    follow(segment)
    beginBox()
  }

  /// Plays what upstream says, by its times.
  mutating func follow(_ segment: PlaybackSegment) {
    playback.segment = segment
    if upstream == nil {
      upstream = UpstreamTime()
      for track in playback.tracks.indices {
        playback.tracks[track].timeline = TrackTimeline(upstream: playback.tracks[track].timeline)
        playback.tracks[track].edit = 0
      }
    }
    for track in playback.tracks.indices {
      playback.tracks[track].repeatSegment()
      playback.tracks[track].end = segment.start
    }
    alignWithUpstream()
  }

  /// What comes next begins with a box, and is not what would come behind the bytes so far.
  mutating func beginBox() {
    guard playback.movie.isFragmented else { return }
    upstream?.isOpen = true
    laterMovie = nil
    returnPlace = nil
    stream.begin(at: stream.input.queue.end)
    forgetFragments(before: stream.input.queue.end)
    for track in playback.tracks.indices {
      playback.tracks[track].restartSamples()
      playback.tracks[track].interrupt()
    }
  }

  /// Finds out by how much the times of a fragment that has just come differ from upstream's.
  mutating func alignWithUpstream() {
    guard upstream?.isOpen == true, let time = stream.input.time else { return }
    let starts = playback.tracks.indices.compactMap { track -> Nanoseconds? in
      guard playback.samples(track).count > 0 else { return nil }
      return playback.tracks[track].leastPTS(playback.samples(track), isComplete: false)
    }
    guard let start = starts.min(),
      let shift = upstream?.takeStart(own: start, upstream: time), shift != 0
    else { return }
    for track in playback.tracks.indices { playback.tracks[track].timeline.shift(by: shift) }
  }
}

/// A new index in mid-stream, as where adaptive streaming goes on with other pictures, or an
/// encoder begins anew.
struct LaterMovie: Sendable {
  let bare: Movie
  /// With its first fragment, which says what the samples are; nil as long as that has not come.
  var withFragment: Movie?
}

extension StreamedMovie {
  /// Goes on with a new index, now that all samples of the old one have been given. Tracks go on
  /// that have the same number and kind; streams stay what they are.
  mutating func follow(_ bare: Movie, _ movie: Movie, _ outputs: inout OutputQueue) {
    let known = Set(playback.tracks.map(\.id))
    for track in movie.tracks where !known.contains(track.id) {
      outputs.warn(.track(track.id, "begins in mid-stream and is left out"))
    }
    for track in playback.tracks.indices.reversed()
    where movie.successor(of: track, playback) == nil {
      outputs.warn(
        .track(playback.tracks[track].id, "has no successor in the new index, and ends"))
      playback.remove(track, &outputs)
    }
    bareMovie = bare
    playback.movie = movie
    for track in playback.tracks.indices {
      guard let index = movie.successor(of: track, playback) else { continue }
      follow(index, with: track, &outputs)
    }
    goOnBehindWhatWasPlayed()
    outputs.append(.statusChanged)
  }

  /// Where times begin anew, what is played goes on in running time all the same.
  private mutating func goOnBehindWhatWasPlayed() {
    guard upstream == nil, let end = playback.tracks.map(\.end).max() else { return }
    let starts = playback.tracks.indices.compactMap { track in
      playback.tracks[track].leastPTS(playback.samples(track), isComplete: true).map {
        playback.tracks[track].movieTime(ofPTS: $0)
      }
    }
    // Tracks do not end all at once.
    guard let start = starts.min(), start < end, end - start > .second / 10 else { return }
    playback.segment.base = playback.segment.runningTime(of: end)
    (playback.segment.start, playback.segment.time) = (start, start)
    playback.position = start
    for track in playback.tracks.indices {
      playback.tracks[track].end = start
      playback.tracks[track].needsSegment = true
    }
  }

  /// Goes on with a track of the new index.
  private mutating func follow(_ index: Int, with track: Int, _ outputs: inout OutputQueue) {
    var builder = StreamBuilder(movie: playback.movie)
    let new = builder.add(index, first: nil, &outputs)
    let isSame = new.formats.map(\.entry) == playback.tracks[track].formats.map(\.entry)
    if !isSame { playback.interrupt(track, &outputs) }
    playback.tracks[track].follow(new, isSame: isSame)
    if let shift = upstream?.shift { playback.tracks[track].timeline.shift(by: shift) }
    guard !isSame, let format = new.formats.first else { return }
    for stream in playback.tracks[track].streams where stream.role == .samples {
      outputs.append(.format(stream.id, .samples(format)))
    }
  }
}

extension Movie {
  /// The track that goes on where one that is played ends; nil where there is none.
  fileprivate func successor(of track: Int, _ playback: MoviePlayback) -> Int? {
    let old = playback.tracks[track]
    return tracks.firstIndex {
      $0.id == old.id && PlayerStream.Kind(handlerType: $0.handlerType) == old.kind
    }
  }
}

extension PlayedTrack {
  /// Goes on as another one, of a new index.
  fileprivate mutating func follow(_ new: PlayedTrack, isSame: Bool) {
    let old = timeline
    index = new.index
    timeline = old.isUpstream ? TrackTimeline(upstream: new.timeline) : new.timeline
    needsSegment = needsSegment || timeline.edits != old.edits
    edit = min(edit, timeline.edits.count - 1)
    formats = new.formats
    itemLength = new.itemLength
    restartSamples()
    guard !isSame else { return }
    sampleEntryIndex = 0
    eyeFormat = eyeFormat.map { old in
      guard let format = new.formats.first, case .video(let entry) = format.entry else {
        return old
      }
      var changed = old
      changed.description = format.description
      changed.spatial = entry.spatialMetadata
      return changed
    }
    hasUnknownLayers = streams.contains { $0.role != .samples }
  }
}

extension PlayerWarning {
  fileprivate static func track(_ id: TrackID, _ what: String) -> PlayerWarning {
    PlayerWarning(.tracks, "Track \(id.rawValue) \(what).")
  }
}
