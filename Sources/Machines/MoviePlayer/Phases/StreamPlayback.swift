// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo

/// A movie that is read as a stream: samples are output in file order.
final class StreamPlayback: MoviePhase, @unchecked Sendable {
  private var stream: IndexedStream
  /// The movie before its first fragment.
  private var bareMovie: Movie
  /// A new index in mid-stream, which applies after the samples before it.
  private var nextMovie: NextMovie?
  /// Timing dictated by upstream; nil if the movie's own timing applies.
  private var upstream: UpstreamTime?
  /// Number of times the source had to go back for samples that lie before others.
  private var returnCount = 0
  /// File offset to which the source is asked to go back.
  private var returnOffset: UInt64?

  /// Maximum number of times the source goes back, for a track whose samples are not stored in
  /// playback order.
  private static let maximumReturnCount = 1000
  /// Maximum number of bytes retained for an edit list that goes back in the media.
  private static let maximumReturn: UInt64 = 1 << 25

  /// - Parameter upstream: Segment of upstream's times; nil if upstream gives none.
  init(
    _ stream: IndexedStream, _ playback: MoviePlayback, bareMovie: Movie,
    upstream: PlaybackSegment?
  ) {
    (self.stream, self.bareMovie) = (stream, bareMovie)
    super.init(playback)
    if bareMovie.isFragmented { self.stream.followLaterMovies() }
    if let upstream { follow(upstream) }
  }

  /// Number of bytes received, which stands in for the file size.
  private var fileSize: UInt64 { stream.input.received }

  // MARK: The source

  override func append(_ slice: ByteSlice, _ times: ChunkTimes) {
    if upstream != nil, times.flags.contains(.discontinuity) { beginBox() }
    stream.append(slice, time: times.presentationTime)
  }

  override func endInput() { stream.endInput() }

  override func begin(at offset: UInt64) { stream.begin(at: offset) }

  /// Follows a new segment from upstream; the next bytes start with a box.
  override func begin(_ segment: PlaybackSegment) {
    follow(segment)
    beginBox()
  }

  override func begin(_ plan: SeekPlan) {
    returnOffset = nil
    nextMovie = nil
    stream.begin(at: plan.offset)
    if plan.isFragment { forgetFragments(before: plan.offset) }
    playback.begin(plan.segment)
  }

  /// Drops everything in progress and announces the segment again.
  override func flush() {
    for track in playback.tracks.indices {
      playback.tracks[track].repeatSegment()
      playback.tracks[track].hasEnded = false
      playback.tracks[track].eyes?.reset()
      for stream in playback.tracks[track].streams.indices {
        playback.tracks[track].streams[stream].restart()
      }
    }
  }

  override func beginBox() {
    guard playback.movie.isFragmented else { return }
    upstream?.isOpen = true
    nextMovie = nil
    returnOffset = nil
    stream.begin(at: stream.input.queue.end)
    forgetFragments(before: stream.input.queue.end)
    for track in playback.tracks.indices {
      playback.tracks[track].restartSamples()
      playback.tracks[track].interrupt()
    }
  }

  override var seekMap: SeekMap? {
    guard stream.input.isMovable, upstream == nil else { return nil }
    if let fragments = playback.fragments {
      return SeekMap(playback, places: .fragments(fragments), isStream: true)
    }
    return playback.isComplete ? SeekMap(playback, places: .samples, isStream: true) : nil
  }

  /// Prepares for parsing the movie again from a fragment on.
  private func forgetFragments(before offset: UInt64) {
    playback.movie = bareMovie
    playback.isComplete = false
    stream.readBoxes(from: offset)
  }

  // MARK: Output

  /// Outputs the next sample in file order.
  override func step(_ answer: ReadAnswer?, hasMoved: Bool?) throws(MoviePlayerError) -> Progress {
    if let place = returnOffset {
      guard let hasMoved else { return .wait(.moveSource(to: place)) }
      returnOffset = nil
      if !hasMoved { stream.input.isMovable = false }
    }
    readIndex()
    if playback.isIdle { return try end() }
    var chosen: (track: Int, item: PlayedTrack.Item, places: Places)?
    for track in playback.tracks.indices where !playback.tracks[track].hasEnded {
      guard let item = try playback.next(track, &outputs, fileSize: fileSize),
        let places = places(of: item, track)
      else { continue }
      if chosen == nil || places.first < chosen?.places.first ?? 0 {
        chosen = (track, item, places)
      }
    }
    if let (track, item, places) = chosen { return try give(item, at: places, of: track) }
    if let later = nextMovie, let movie = later.withFragment {
      nextMovie = nil
      follow(later.bare, movie)
      return .again
    }
    let isOver = playback.tracks.allSatisfy(\.hasEnded)
    return isOver ? try end() : .wait(.awaitBytes)
  }

  /// Where the bytes of an item are.
  private struct Places {
    /// Offsets and sizes of one or two parts, in the order in which they are output.
    let parts: [(offset: UInt64, size: UInt64)]

    /// The smallest offset.
    var first: UInt64 { parts.map(\.offset).min() ?? 0 }
  }

  /// Returns nil if more of the index is needed to know.
  private func places(of item: PlayedTrack.Item, _ track: Int) -> Places? {
    let own = (item.record.offset, item.size)
    return switch playback.dependentPart(of: item, track) {
    case .none: Places(parts: [own])
    case .sample(let other): Places(parts: [own, (other.offset, UInt64(other.size))])
    case .unknown: nil
    }
  }

  /// Returns the bytes of an item; nil if they have not arrived, or have been discarded.
  private func data(at places: Places) -> SampleData? {
    var parts: [ByteSlice] = []
    for (offset, size) in places.parts {
      guard let size = Int(exactly: size), let data = stream.input.queue.part(offset, size) else {
        return nil
      }
      parts += data.parts
    }
    return SampleData(parts)
  }

  private func give(
    _ item: PlayedTrack.Item, at places: Places, of track: Int
  ) throws(MoviePlayerError) -> Progress {
    guard let data = data(at: places) else {
      return try handleMissingSample(item, at: places.first, of: track)
    }
    try playback.pass(item, of: track, fileSize: fileSize)
    if playback.tracks[track].isSelected {
      playback.hand(item, data, of: track, &outputs)
    } else {
      playback.skipSample(of: track)
    }
    if item.order > 0 {
      try playback.fillGaps(upTo: ClockTime(clamping: item.order), &outputs, fileSize: fileSize)
    }
    let later = playback.laterDependentPart(than: item, track) ?? .max
    discardBytes(before: min(places.first, later))
    return .again
  }

  /// Handles a sample that is not in the queue: it has not arrived yet or has been discarded.
  private func handleMissingSample(
    _ item: PlayedTrack.Item, at offset: UInt64, of track: Int
  ) throws(MoviePlayerError) -> Progress {
    let input = stream.input
    if offset < input.queue.start {
      if input.isMovable, !input.hasEnded, returnCount < Self.maximumReturnCount {
        returnCount += 1
        returnOffset = offset
        return .again
      }
      outputs.warn(
        PlayerWarning(
          .order,
          "Samples of track \(playback.tracks[track].id.rawValue) are stored out of order and "
            + "left out; playing them needs a seekable input."))
      try playback.pass(item, of: track, fileSize: fileSize)
      return .again
    }
    guard input.hasEnded else {
      discardBytes(before: offset)
      return .wait(.awaitBytes)
    }
    if let place = input.deadEnd { throw .deadEnd(place) }
    outputs.warn(.cutOff(playback.tracks[track], at: item.record.offset))
    playback.tracks[track].finish()
    return .again
  }

  /// Discards bytes that neither samples nor the index need any more.
  private func discardBytes(before offset: UInt64) {
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

  private func readIndex() {
    do {
      while nextMovie?.withFragment == nil, let box = try stream.nextBox() {
        switch box {
        case .movie(let found): nextMovie = NextMovie(bare: found)
        case .fragment(let fragment): append(fragment)
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

  private func append(_ fragment: MovieFragment) {
    if var movie = nextMovie?.bare {
      movie.append(fragment)
      nextMovie?.withFragment = movie
      return
    }
    let duration = playback.duration
    playback.movie.append(fragment)
    alignWithUpstream()
    if playback.duration != duration { outputs.append(.statusChanged) }
  }
}

/// The relation between the movie's times and those that upstream dictates, as in adaptive
/// streaming.
struct UpstreamTime: Sendable {
  /// Offset added to the movie's times to obtain upstream's.
  private(set) var shift: RunningTime = 0
  /// Whether the offset must be determined from the next fragment.
  var isOpen = true

  /// Smaller differences are ignored: playlists have rounded durations.
  private static let tolerance = ClockTime.second / 2

  /// Updates the offset from the start of a fragment in its own and in upstream's times; returns by
  /// how much the times of the following samples move.
  fileprivate mutating func alignStart(own: ClockTime, upstream: ClockTime) -> RunningTime {
    isOpen = false
    let wanted = RunningTime(clamping: upstream) - RunningTime(clamping: own)
    guard wanted.magnitude > Self.tolerance else { return 0 }
    shift = shift + wanted
    return wanted
  }
}

extension StreamPlayback {
  /// Follows a new segment from upstream.
  func follow(_ segment: PlaybackSegment) {
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

  /// Determines the offset between the times of a new fragment and upstream's.
  private func alignWithUpstream() {
    guard upstream?.isOpen == true, let time = stream.input.time else { return }
    let starts = playback.tracks.indices.compactMap { track -> ClockTime? in
      guard playback.samples(track).count > 0 else { return nil }
      return playback.tracks[track].leastPTS(playback.samples(track), isComplete: false)
    }
    guard let start = starts.min(),
      let shift = upstream?.alignStart(own: start, upstream: time), shift != 0
    else { return }
    for track in playback.tracks.indices { playback.tracks[track].timeline.shift(by: shift) }
  }
}

/// A new index in mid-stream, as when adaptive streaming switches renditions or an encoder
/// restarts.
struct NextMovie: Sendable {
  let bare: Movie
  /// The movie with its first fragment, which describes the samples; nil until it arrives.
  var withFragment: Movie?
}

extension StreamPlayback {
  /// Switches to a new index after all samples of the old one. Tracks with the same ID and media
  /// type continue, and streams stay the same.
  func follow(_ bare: Movie, _ movie: Movie) {
    let known = Set(playback.tracks.map(\.id))
    let dependent = movie.dependentViews
    for (index, track) in movie.tracks.enumerated()
    where !known.contains(track.id) && !dependent.contains(index) {
      outputs.warn(.track(track.id, "starts in mid-stream and is left out"))
    }
    for track in playback.tracks.indices.reversed()
    where movie.successor(of: track, playback) == nil {
      outputs.warn(
        .track(playback.tracks[track].id, "ends because it has no successor in the new index"))
      playback.remove(track, &outputs)
    }
    bareMovie = bare
    playback.movie = movie
    for track in playback.tracks.indices {
      guard let index = movie.successor(of: track, playback) else { continue }
      follow(index, with: track)
    }
    continueRunningTime()
    outputs.append(.statusChanged)
  }

  /// Makes running time continue if timestamps restart.
  private func continueRunningTime() {
    guard upstream == nil, let end = playback.tracks.map(\.end).max() else { return }
    let starts = playback.tracks.indices.compactMap { track in
      playback.tracks[track].leastPTS(playback.samples(track), isComplete: true).map {
        playback.tracks[track].movieTime(ofPTS: $0)
      }
    }
    // Tracks do not end at exactly the same time.
    guard let start = starts.min(), end - start > .second / 10 else { return }
    playback.segment.base = playback.segment.runningTime(of: end)
    (playback.segment.start, playback.segment.time) = (start, start)
    playback.position = start
    for track in playback.tracks.indices {
      playback.tracks[track].end = start
      playback.tracks[track].needsSegment = true
    }
  }

  /// Continues a track with one of the new index.
  private func follow(_ index: Int, with track: Int) {
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
  /// Returns the track that continues one being played; nil if there is none.
  fileprivate func successor(of track: Int, _ playback: MoviePlayback) -> Int? {
    let old = playback.tracks[track]
    return tracks.firstIndex {
      $0.id == old.id && PlayerStream.Kind(handlerType: $0.handlerType) == old.kind
    }
  }
}

extension PlayedTrack {
  /// Continues with the track of a new index.
  fileprivate mutating func follow(_ new: PlayedTrack, isSame: Bool) {
    let old = timeline
    (index, dependent) = (new.index, new.dependent)
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
