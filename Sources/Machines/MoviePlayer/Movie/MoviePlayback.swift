// SPDX-License-Identifier: MPL-2.0

import HEVC
import ISOBMFF
import StereoVideo

/// A movie that is played, wherever its bytes come from: what comes next of each track, and what is
/// said about it.
struct MoviePlayback: Sendable {
  /// With its fragments so far.
  var movie: Movie
  let fileType: FileType?
  /// No more fragments will come.
  var isComplete: Bool
  /// Where the fragments lie, as far as an index says so that comes before or behind them.
  var fragments: FragmentIndex?
  var tracks: [PlayedTrack]
  /// The part of the movie that is played, on its own time line.
  var segment = PlaybackSegment()
  /// How far it has been played, on its own time line.
  var position: Nanoseconds = 0
  /// How far it has been played backwards; nil where it is played forwards.
  var reverse: ReversePlayback?
  /// What has been read since the last seek.
  var budget = SampleBudget()
  /// Something of the movie could be read.
  var hasPlayed = false
  /// Somebody has gone elsewhere in the movie, so that it is right if nothing is left to play.
  var hasSought = false

  /// The samples of a track, by its place among those that are played.
  func samples(_ track: Int) -> TrackSamples { movie.tracks[tracks[track].index].samples }

  /// How long the movie plays; nil where that is not known.
  var duration: Nanoseconds? {
    let isKnown = !movie.isFragmented || isComplete
    if let length = length(ofMedia: isKnown), length > 0 { return length }
    let declared =
      fragments?.end
      ?? (movie.fragmentedDuration ?? movie.duration).flatMap {
        $0 > 0 ? scale($0, .second, UInt64(movie.timescale)) : nil
      }
    // What is still being written may have grown longer than its start says.
    return declared.map { max($0, length(ofMedia: true) ?? 0) }
  }

  /// Where the last edit of all tracks ends.
  ///
  /// - Parameter isKnown: the media ends with what is there, for edits that go on to its end.
  private func length(ofMedia isKnown: Bool) -> Nanoseconds? {
    tracks.indices.compactMap { track in
      let timeline = tracks[track].timeline
      return timeline.end ?? (isKnown ? timeline.mediaEnd(samples(track)) : nil)
    }.max()
  }

  mutating func select(_ stream: StreamID, _ isSelected: Bool) {
    for track in tracks.indices {
      for place in tracks[track].streams.indices where tracks[track].streams[place].id == stream {
        tracks[track].streams[place].isSelected = isSelected
      }
    }
  }

  // MARK: What comes next

  /// The next sample of a track, whose segments are told on the way; nil at its end, or where it
  /// waits for more of the index.
  mutating func next(
    _ track: Int, _ outputs: inout OutputQueue, fileSize: UInt64
  ) throws(MoviePlayerError) -> PlayedTrack.Item? {
    if let item = tracks[track].ready { return item }
    if !tracks[track].hasEnded, tracks[track].isMuted(segment) {
      silence(track, upTo: segment.start, &outputs)
    }
    while !tracks[track].hasEnded {
      let index = tracks[track].index
      let step = tracks[track].step(
        movie.tracks[index].samples, in: segment, isComplete: isComplete)
      if tracks[track].isInterrupted { interrupt(track, &outputs) }
      switch step {
      case .segment(let segment, let isEmpty):
        // What an eye still holds belongs to the part that ends here.
        if isEmpty { tracks[track].drain(&outputs) }
        begin(track, segment, isEmpty: isEmpty, &outputs)
      case .sample(let item):
        if item.size > 0 { return item }
        try pass(item, of: track, fileSize: fileSize)
      case .wait: return nil
      case .end:
        tracks[track].drain(&outputs)
        // Where nothing at all could be played, the error comes first: an application that has
        // heard that all streams have ended listens no more.
        let isError = !hasPlayed && !hasSought && tracks.allSatisfy(\.hasEnded)
        if reverse == nil, !isError { end(track, &outputs) }
      }
    }
    return nil
  }

  /// Goes on behind a sample of a track.
  mutating func pass(
    _ item: PlayedTrack.Item, of track: Int, fileSize: UInt64
  ) throws(MoviePlayerError) {
    try count(item.size, at: item.record, of: track, fileSize: fileSize)
    tracks[track].advance()
  }

  /// Sees to it that no more is read than a file of this size has.
  mutating func count(
    _ size: UInt64, at record: SampleRecord, of track: Int, fileSize: UInt64
  ) throws(MoviePlayerError) {
    do {
      try budget.count(size, at: record, ofTrack: tracks[track].index, fileSize: fileSize)
    } catch {
      throw .unreadable(error)
    }
  }

  private mutating func begin(
    _ track: Int, _ segment: PlaybackSegment, isEmpty: Bool, _ outputs: inout OutputQueue
  ) {
    let followsAnother = tracks[track].kind == .video && tracks[track].hasBegun
    tracks[track].hasBegun = true
    tell(
      SegmentStart(segment: segment, followsAnother: followsAnother, isEmpty: isEmpty), to: track,
      &outputs)
    if isEmpty, let stop = segment.stop {
      gap(track, from: segment.start, to: stop, &outputs)
      tracks[track].end = saturatingSum(segment.time, stop - segment.start)
    } else {
      let start = tracks[track].timeline.isUpstream ? segment.start : segment.time
      tracks[track].end = max(tracks[track].end, start)
    }
  }

  /// Tells the streams of a track what part of it comes.
  mutating func tell(_ start: SegmentStart, to track: Int, _ outputs: inout OutputQueue) {
    for stream in tracks[track].streams.indices {
      tracks[track].streams[stream].begin(start, &outputs)
    }
  }

  /// Ends a track for good.
  mutating func remove(_ track: Int, _ outputs: inout OutputQueue) {
    tracks[track].drain(&outputs)
    end(track, &outputs)
    tracks.remove(at: track)
  }

  /// Nothing more comes for a track. What it would have been a part of is told even so.
  private mutating func end(_ track: Int, _ outputs: inout OutputQueue) {
    guard !segment.flags.contains(.endsWithSegmentDone) else { return }
    var whole = segment
    whole.duration = nil
    for stream in tracks[track].streams.indices where !tracks[track].streams[stream].hasEnded {
      tracks[track].streams[stream].end(SegmentStart(segment: whole), &outputs)
    }
  }

  // MARK: The end

  /// How playing ends, when nothing comes any more.
  mutating func end(_ outputs: inout OutputQueue) throws(MoviePlayerError) -> PlayerEnd {
    guard hasPlayed || hasSought else { throw .nothingPlayable }
    if segment.flags.contains(.endsWithSegmentDone) {
      let end = segment.stop ?? duration ?? segment.start
      return .segmentDone(at: segment.rate < 0 ? segment.start : end)
    }
    for track in tracks.indices { end(track, &outputs) }
    return .endOfStream
  }

  /// Somebody takes any of the streams.
  var isSelected: Bool { tracks.contains(where: \.isSelected) }

  /// Nothing more comes for anybody: nobody takes anything, or what is taken has ended.
  var isIdle: Bool {
    !tracks.contains { $0.streams.contains { $0.isSelected && !$0.hasEnded } }
  }
}

extension OutputQueue {
  /// Says what is wrong with an unimportant part of a file.
  mutating func note(_ issue: ISOBMFFError) {
    append(.warning(PlayerWarning(.file, "\(issue)")))
  }
}

/// Saying that nothing comes for a while, so that nobody waits for it.
extension MoviePlayback {
  /// An hour of silence is told in parts; broken times can make it ages.
  private static let maximumGapCount = 3600

  /// So much silence of muted audio at least is told at once, before the others come there.
  private static let silenceLength = Nanoseconds.second

  /// Tells those streams of a track that somebody takes that nothing comes between two timestamps.
  func gap(
    _ track: Int, from start: Nanoseconds, to end: Nanoseconds, _ outputs: inout OutputQueue
  ) {
    guard start < end else { return }
    for stream in tracks[track].streams { stream.gap(from: start, to: end, &outputs) }
  }

  /// Tells the streams of a track that nothing comes before a time of the movie, in whole parts
  /// from the end of what came last, so that it does not matter how often this is called.
  mutating func fillGap(_ track: Int, before time: Nanoseconds, _ outputs: inout OutputQueue) {
    let unit = tracks[track].gapLength
    guard segment.rate > 0, time > tracks[track].end, time - tracks[track].end >= unit,
      let edit = tracks[track].currentEdit, edit.mediaStart != nil,
      tracks[track].end >= edit.movieStart
    else { return }
    // What is decoded later may be shown earlier.
    let least = tracks[track].leastPTS(samples(track), isComplete: isComplete)
    let time = min(time, least.map { edit.movieTime(of: $0) } ?? time)
    while time > tracks[track].end, time - tracks[track].end >= unit {
      let rest = time - tracks[track].end
      let length = tracks[track].gapCount < Self.maximumGapCount ? unit : rest
      tracks[track].gapCount += 1
      let end = saturatingSum(tracks[track].end, length)
      gap(
        track, from: edit.timestamp(at: tracks[track].end), to: edit.timestamp(at: end), &outputs)
      tracks[track].end = end
    }
  }

  /// Keeps the streams that have nothing up to `time` of the movie from holding up the others.
  mutating func fillGaps(
    upTo time: Nanoseconds, _ outputs: inout OutputQueue, fileSize: UInt64
  ) throws(MoviePlayerError) {
    for track in tracks.indices {
      if tracks[track].isMuted(segment) { silence(track, upTo: time, &outputs) }
      guard !tracks[track].hasEnded,
        saturatingSum(tracks[track].end, tracks[track].gapLength) <= time,
        let item = try next(track, &outputs, fileSize: fileSize)
      else { continue }
      let start = tracks[track].movieTime(
        ofPTS: tracks[track].timeline.pts(item.record.presentationTime))
      fillGap(track, before: min(start, time), &outputs)
    }
  }

  // MARK: Muted audio

  /// Tells the streams of muted audio that nothing comes, up to behind a time of the movie.
  mutating func silence(_ track: Int, upTo time: Nanoseconds, _ outputs: inout OutputQueue) {
    guard segment.rate > 0, tracks[track].end <= time || tracks[track].needsSegment else { return }
    let start = tracks[track].end
    let end = max(start, saturatingSum(time, Self.silenceLength))
    let limit = segment.stop ?? duration ?? segment.start
    silence(track, from: start, to: min(end, limit), &outputs)
    tracks[track].end = end
  }

  /// Tells the streams of muted audio that nothing comes in a part of the movie.
  mutating func silence(
    _ track: Int, from start: Nanoseconds, to end: Nanoseconds, _ outputs: inout OutputQueue
  ) {
    if tracks[track].beginSilence() {
      var whole = segment
      whole.duration = nil
      tell(SegmentStart(segment: whole), to: track, &outputs)
    }
    gap(track, from: start, to: end, &outputs)
  }
}

/// How far a movie has been played backwards.
struct ReversePlayback: Sendable {
  /// Where the group begins that was played last, on the movie's time line.
  var end: Nanoseconds
  /// The first sample of each track that has been played.
  var limits: [Int]
  var isAtStart = false
}

/// Going elsewhere, and backwards.
extension MoviePlayback {
  /// Plays this part of the movie from now on.
  mutating func begin(_ wanted: PlaybackSegment) {
    segment = wanted
    hasSought = true
    budget = SampleBudget()
    let start = wanted.rate < 0 ? wanted.stop ?? 0 : wanted.start
    position = start
    for track in tracks.indices {
      let index = tracks[track].index
      tracks[track].seek(to: start, movie.tracks[index].samples)
    }
    reverse = nil
    guard wanted.rate < 0 else { return }
    reverse = ReversePlayback(
      end: start,
      limits: tracks.indices.map { tracks[$0].timeline.end(at: start, samples($0)) })
    for track in tracks.indices { tracks[track].finish() }
  }

  /// Goes on with the group of pictures before the one that has been played; false at the start.
  mutating func nextGroup(
    _ outputs: inout OutputQueue, fileSize: UInt64
  ) throws(MoviePlayerError) -> Bool {
    guard var reverse, !reverse.isAtStart, let reference else { return false }
    let last = reverse.end > 0 ? reverse.end - 1 : 0
    let timeline = tracks[reference].timeline
    let first = timeline.sample(at: last, samples(reference))
    let edit = timeline.edits[timeline.edit(at: last)]
    var start =
      timeline.movieTime(ofSample: first, near: last, samples(reference)) ?? edit.movieStart
    if start >= reverse.end { start = edit.movieStart }
    reverse.isAtStart = start <= segment.start || start == 0 || start >= reverse.end
    for track in tracks.indices where reverse.limits.indices.contains(track) {
      if tracks[track].isMuted(segment) {
        silence(track, from: max(start, segment.start), to: reverse.end, &outputs)
        continue
      }
      let timeline = tracks[track].timeline
      if timeline.edit(at: last) != tracks[track].edit {
        reverse.limits[track] = timeline.end(at: reverse.end, samples(track))
      }
      let begin = timeline.sample(at: start, samples(track))
      // Looking for a group of one sample in many tracks is more work than reading it.
      if let record = samples(track).sample(at: begin) {
        try count(0, at: record, of: track, fileSize: fileSize)
      }
      let range = min(begin, reverse.limits[track])..<reverse.limits[track]
      tracks[track].play(group: range, at: last)
      reverse.limits[track] = range.lowerBound
    }
    reverse.end = start
    self.reverse = reverse
    return true
  }

  /// The track by which others go where it matters: video that somebody takes.
  private var reference: Int? {
    let video = tracks.indices.filter { tracks[$0].kind == .video }
    return video.first { tracks[$0].isSelected } ?? video.first ?? tracks.indices.first
  }
}
