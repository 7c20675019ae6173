// SPDX-License-Identifier: MPL-2.0

import HEVC
import ISOBMFF
import StereoVideo

/// A movie during playback, independent of the source of its bytes: the next sample of each track
/// and the events around it.
struct MoviePlayback: Sendable {
  /// Includes the fragments read so far.
  var movie: Movie
  let fileType: FileType?
  /// Whether no more fragments follow.
  var isComplete: Bool
  /// Fragment positions from an index at the start or the end of the file, if there is one.
  var fragments: FragmentIndex?
  var tracks: [PlayedTrack]
  /// The segment being played, on the movie's timeline.
  var segment = PlaybackSegment()
  /// Playback position in movie time.
  var position: ClockTime = 0
  /// State of reverse playback; nil when playing forwards.
  var reverse: ReversePlayback?
  /// Amount of sample data read since the last seek.
  var budget = SampleBudget()
  /// Whether any sample could be read.
  var hasPlayed = false
  /// Whether a seek has occurred, so that having nothing left to play is no error.
  var hasSought = false

  /// Returns the samples of a track, given its index among the played tracks.
  func samples(_ track: Int) -> TrackSamples { movie.tracks[tracks[track].index].samples }

  /// Duration in movie time; nil if unknown.
  var duration: ClockTime? {
    let isKnown = !movie.isFragmented || isComplete
    if let length = length(ofMedia: isKnown), length > 0 { return length }
    let declared =
      fragments?.end
      ?? (movie.fragmentedDuration ?? movie.duration).flatMap {
        $0 > 0 ? ClockTime($0, perSecond: movie.timescale) : nil
      }
    // A file still being written may have outgrown the duration in its header.
    return declared.map { max($0, length(ofMedia: true) ?? 0) }
  }

  /// Returns the end of the last edit of all tracks.
  ///
  /// - Parameter isKnown: Whether all media is present, so that edits that last to its end have an
  ///   end.
  private func length(ofMedia isKnown: Bool) -> ClockTime? {
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

  // MARK: Stepping

  /// Returns the next sample of a track, after announcing its segment; nil at the end of the track,
  /// or while more of the index is needed.
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
        // Samples that an eye still holds belong to the segment that ends here.
        if isEmpty { tracks[track].drain(&outputs) }
        begin(track, segment, isEmpty: isEmpty, &outputs)
      case .sample(let item):
        if item.size > 0 { return item }
        try pass(item, of: track, fileSize: fileSize)
      case .wait: return nil
      case .end:
        tracks[track].drain(&outputs)
        // If nothing could be played, the error must come first: an application stops listening
        // after all streams have reached their end.
        let isError = !hasPlayed && !hasSought && tracks.allSatisfy(\.hasEnded)
        if reverse == nil, !isError { end(track, &outputs) }
      }
    }
    return nil
  }

  /// The dependent view of a sample of H.264 MVC.
  enum DependentPart {
    /// Nothing: the sample is whole.
    case none
    /// A sample of another track.
    case sample(SampleRecord)
    /// More of the index is needed to know.
    case unknown
  }

  /// Returns the offset of the first part of another track that may belong to a later sample.
  func laterDependentPart(than item: PlayedTrack.Item, _ track: Int) -> UInt64? {
    guard let view = tracks[track].dependent, movie.tracks.indices.contains(view.track) else {
      return nil
    }
    return view.sample(after: item.record, in: movie.tracks[view.track].samples)?.offset
  }

  /// Returns the part of a sample that another track has.
  func dependentPart(of item: PlayedTrack.Item, _ track: Int) -> DependentPart {
    guard let view = tracks[track].dependent, movie.tracks.indices.contains(view.track) else {
      return .none
    }
    let samples = movie.tracks[view.track].samples
    if let sample = view.sample(for: item.record, in: samples) {
      return sample.size > 0 ? .sample(sample) : .none
    }
    let isKnown = isComplete || view.isKnown(at: item.record, in: samples)
    return isKnown ? .none : .unknown
  }

  /// Advances past a sample of a track.
  mutating func pass(
    _ item: PlayedTrack.Item, of track: Int, fileSize: UInt64
  ) throws(MoviePlayerError) {
    var size = item.size
    if case .sample(let other) = dependentPart(of: item, track) {
      size = size.addingReportingOverflow(UInt64(other.size)).partialValue
    }
    try count(size, at: item.record, of: track, fileSize: fileSize)
    tracks[track].advance()
  }

  /// Accounts for bytes read, so that no more is read than a file of this size can justify.
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
      tracks[track].end = segment.time + (stop - segment.start)
    } else {
      let start = tracks[track].timeline.isUpstream ? segment.start : segment.time
      tracks[track].end = max(tracks[track].end, start)
    }
  }

  /// Announces a segment to the streams of a track.
  mutating func tell(_ start: SegmentStart, to track: Int, _ outputs: inout OutputQueue) {
    for stream in tracks[track].streams.indices {
      tracks[track].streams[stream].begin(start, &outputs)
    }
  }

  /// Ends a track permanently.
  mutating func remove(_ track: Int, _ outputs: inout OutputQueue) {
    tracks[track].drain(&outputs)
    end(track, &outputs)
    tracks.remove(at: track)
  }

  /// Ends a track's streams. A stream without a segment so far gets one first.
  private mutating func end(_ track: Int, _ outputs: inout OutputQueue) {
    guard !segment.flags.contains(.endsWithSegmentDone) else { return }
    var whole = segment
    whole.duration = nil
    for stream in tracks[track].streams.indices where !tracks[track].streams[stream].hasEnded {
      tracks[track].streams[stream].end(SegmentStart(segment: whole), &outputs)
    }
  }

  // MARK: The end

  /// Returns the kind of end once no samples are left.
  mutating func end(_ outputs: inout OutputQueue) throws(MoviePlayerError) -> PlayerEnd {
    guard hasPlayed || hasSought else { throw .nothingPlayable }
    if segment.flags.contains(.endsWithSegmentDone) {
      let end = segment.stop ?? duration ?? segment.start
      return .segmentDone(at: segment.rate < 0 ? segment.start : end)
    }
    for track in tracks.indices { end(track, &outputs) }
    return .endOfStream
  }

  /// Whether any stream is selected.
  var isSelected: Bool { tracks.contains(where: \.isSelected) }

  /// Whether no selected stream has anything left.
  var isIdle: Bool {
    !tracks.contains { $0.streams.contains { $0.isSelected && !$0.hasEnded } }
  }
}

extension OutputQueue {
  /// Reports a defect in an unimportant part of a file.
  mutating func note(_ issue: ISOBMFFError) {
    append(.warning(PlayerWarning(.file, "\(issue)")))
  }
}

/// Gap events, which keep downstream from waiting for a stream that has no data.
extension MoviePlayback {
  /// An hour of gaps of a second each. A longer gap is sent as one event, because damaged times can
  /// make it arbitrarily long.
  private static let maximumGapCount = 3600

  /// Minimum length of a gap in muted audio beyond the position of the other tracks.
  private static let minimumMutedGap = ClockTime.second

  /// Sends a gap between two timestamps to the selected streams of a track.
  func gap(
    _ track: Int, from start: ClockTime, to end: ClockTime, _ outputs: inout OutputQueue
  ) {
    guard start < end else { return }
    for stream in tracks[track].streams { stream.gap(from: start, to: end, &outputs) }
  }

  /// Sends gaps from the end of a track's last sample to a movie time, in whole units, so that the
  /// result does not depend on how often this is called.
  mutating func fillGap(_ track: Int, before time: ClockTime, _ outputs: inout OutputQueue) {
    let unit = tracks[track].gapLength
    guard segment.rate > 0, time - tracks[track].end >= unit,
      let edit = tracks[track].currentEdit, edit.mediaStart != nil,
      tracks[track].end >= edit.movieStart
    else { return }
    // A sample decoded later may be shown earlier.
    let least = tracks[track].leastPTS(samples(track), isComplete: isComplete)
    let time = min(time, least.map { edit.movieTime(of: $0) } ?? time)
    while time - tracks[track].end >= unit {
      let rest = time - tracks[track].end
      let length = tracks[track].gapCount < Self.maximumGapCount ? unit : rest
      tracks[track].gapCount += 1
      let end = tracks[track].end + length
      gap(
        track, from: edit.timestamp(at: tracks[track].end), to: edit.timestamp(at: end), &outputs)
      tracks[track].end = end
    }
  }

  /// Keeps streams without data before `time` from holding up the others.
  mutating func fillGaps(
    upTo time: ClockTime, _ outputs: inout OutputQueue, fileSize: UInt64
  ) throws(MoviePlayerError) {
    for track in tracks.indices {
      if tracks[track].isMuted(segment) { silence(track, upTo: time, &outputs) }
      guard !tracks[track].hasEnded,
        tracks[track].end + tracks[track].gapLength <= time,
        let item = try next(track, &outputs, fileSize: fileSize)
      else { continue }
      let start = tracks[track].movieTime(
        ofPTS: tracks[track].timeline.pts(item.record.presentationTime))
      fillGap(track, before: min(start, time), &outputs)
    }
  }

  // MARK: Muted audio

  /// Sends a gap to the streams of muted audio that ends after a movie time.
  mutating func silence(_ track: Int, upTo time: ClockTime, _ outputs: inout OutputQueue) {
    guard segment.rate > 0, tracks[track].end <= time || tracks[track].needsSegment else { return }
    let start = tracks[track].end
    let end = max(start, time + Self.minimumMutedGap)
    let limit = segment.stop ?? duration ?? segment.start
    silence(track, from: start, to: min(end, limit), &outputs)
    tracks[track].end = end
  }

  /// Sends a gap to the streams of muted audio for a part of the movie.
  mutating func silence(
    _ track: Int, from start: ClockTime, to end: ClockTime, _ outputs: inout OutputQueue
  ) {
    if tracks[track].beginSilence() {
      var whole = segment
      whole.duration = nil
      tell(SegmentStart(segment: whole), to: track, &outputs)
    }
    gap(track, from: start, to: end, &outputs)
  }
}

/// State of reverse playback.
struct ReversePlayback: Sendable {
  /// Start of the group played last, in movie time.
  var end: ClockTime
  /// For each track, the first sample that has been played.
  var limits: [Int]
  var isAtStart = false
}

/// Seeking and reverse playback.
extension MoviePlayback {
  /// Continues with another segment.
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

  /// Continues with the group of pictures before the one just played; returns false at the start.
  mutating func nextGroup(
    _ outputs: inout OutputQueue, fileSize: UInt64
  ) throws(MoviePlayerError) -> Bool {
    guard var reverse, !reverse.isAtStart, let reference else { return false }
    let last = reverse.end - 1
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
      // Searching for groups of one sample in many tracks costs more than reading them.
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

  /// The track whose key units the others follow: preferably selected video.
  private var reference: Int? {
    let video = tracks.indices.filter { tracks[$0].kind == .video }
    return video.first { tracks[$0].isSelected } ?? video.first ?? tracks.indices.first
  }
}
