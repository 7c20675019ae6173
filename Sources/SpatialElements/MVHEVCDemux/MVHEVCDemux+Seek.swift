import CGStreamer
import GStreamer
import ISOBMFF

/// How far a movie has been played backwards.
struct ReversePlay {
  /// Where the group begins that was played last, on the movie's time line.
  var end: ClockTime
  /// The first sample of each track that has been played.
  var limits: [Int]
  var isAtStart = false
}

extension MVHEVCDemux {
  func handleFromDownstream(_ pad: Pad, _ event: Event) throws -> Bool {
    switch event.type {
    case GST_EVENT_SEEK: return isSoughtUpstream ? pad.forward(event) : seek(event)
    case GST_EVENT_RECONFIGURE:
      combiner.reset()
      return true
    default: return pad.forward(event)
    }
  }

  /// What is pushed without a container, upstream goes elsewhere in, if anybody.
  var isSoughtUpstream: Bool {
    guard case .elementaryStream = input else { return false }
    return sink.mode == GST_PAD_MODE_PUSH
  }

  private func seek(_ event: Event) -> Bool {
    guard let seek = event.seek, seek.format == GST_FORMAT_TIME,
      !seek.has(GST_SEEK_FLAG_INSTANT_RATE_CHANGE), case .movie = input
    else { return false }
    // A pipeline sends one seek to each of its sinks, and all of them come here.
    guard followedSeek.current != event.sequenceNumber else { return true }
    let isDone =
      sink.mode == GST_PAD_MODE_PULL ? pullSeek(seek, event) : pushSeek(seek, event)
    if isDone { followedSeek.withLock { $0 = event.sequenceNumber } }
    return isDone
  }

  private func pullSeek(_ seek: Seek, _ event: Event) -> Bool {
    let isFlushing = seek.has(GST_SEEK_FLAG_FLUSH)
    if isFlushing {
      sink.push(Event.flushStart.following(event))
      pushToAll(Event.flushStart.following(event))
    } else {
      sink.pauseTask()
    }
    return sink.withStreamLock {
      sink.pauseTask()
      if isFlushing { sink.push(Event.flushStop().following(event)) }
      let wanted = segment(for: seek)
      if isFlushing { pushToAll(Event.flushStop().following(event)) }
      if let wanted {
        combiner.reset()
        begin(wanted, event)
        if seek.has(GST_SEEK_FLAG_SEGMENT) {
          postSegmentStart(at: wanted.start, following: event)
        }
      }
      return sink.startTask(self, MVHEVCDemux.loop) && wanted != nil
    }
  }

  /// The part of the movie that a seek asks for; nil where that makes no sense.
  func segment(for seek: Seek) -> Segment? {
    let now = status.current
    guard var wanted = now.segment(for: seek) else { return nil }
    if wanted.rate < 0 {
      guard let stop = [wanted.stop, now.duration].compactMap({ $0 }).min() else { return nil }
      wanted.stop = stop
    } else if seek.has(GST_SEEK_FLAG_KEY_UNIT), !seek.has(GST_SEEK_FLAG_ACCURATE),
      let time = keyTime(wanted.start, seek)
    {
      wanted.start = time
      wanted.time = time
      wanted.position = time
    }
    return wanted
  }

  /// The track by which others go where it matters: video that somebody takes.
  private var reference: DemuxTrack? {
    let video = tracks.filter { $0.kind == "vide" }
    return video.first { $0.hasLinkedStream } ?? video.first ?? tracks.first
  }

  /// The time of the random access point that a seek means by another time.
  private func keyTime(_ time: ClockTime, _ seek: Seek) -> ClockTime? {
    guard let track = reference, let samples = movie?.tracks[track.index].samples else {
      return nil
    }
    let before = track.sample(at: time, samples)
    let earlier = track.movieTime(ofSample: before, near: time, samples)
    guard seek.has(GST_SEEK_FLAG_SNAP_AFTER), earlier ?? 0 < time,
      let after = samples.syncSample(after: before),
      let later = track.movieTime(ofSample: after, near: time, samples)
    else { return earlier }
    if seek.has(GST_SEEK_FLAG_SNAP_BEFORE), let earlier, later > time {
      return later - time < time - earlier ? later : earlier
    }
    return later
  }

  /// Plays this from now on.
  func begin(_ wanted: Segment, _ event: Event) {
    play = wanted
    cause = event
    budget = SampleBudget()
    warned.removeAll()
    let start = wanted.rate < 0 ? wanted.stop ?? 0 : wanted.start
    for track in tracks {
      guard let samples = movie?.tracks[track.index].samples else { continue }
      track.seek(to: start, samples)
    }
    status.withLock {
      $0.play = wanted
      $0.position = start
    }
    reverse = nil
    guard wanted.rate < 0 else { return }
    reverse = ReversePlay(
      end: start,
      limits: tracks.map { track in
        movie.map { track.end(at: start, $0.tracks[track.index].samples) } ?? 0
      })
    for track in tracks { track.finish() }
  }

  // MARK: Backwards

  /// Goes on with the group of pictures before the one that has been played; false at the start.
  func nextGroup() throws -> Bool {
    guard var reverse, !reverse.isAtStart, let track = reference, let movie else { return false }
    let last = reverse.end > 0 ? reverse.end - 1 : 0
    let samples = movie.tracks[track.index].samples
    let first = track.sample(at: last, samples)
    let piece = track.timeline.pieces[track.timeline.piece(at: last)]
    var start = track.movieTime(ofSample: first, near: last, samples) ?? piece.movieStart
    if start >= reverse.end { start = piece.movieStart }
    reverse.isAtStart = start <= play.start || start == 0 || start >= reverse.end
    for (index, track) in tracks.enumerated() where reverse.limits.indices.contains(index) {
      if isMuted(track) {
        silence(track, from: max(start, play.start), to: reverse.end)
        continue
      }
      let samples = movie.tracks[track.index].samples
      if track.timeline.piece(at: last) != track.piece {
        reverse.limits[index] = track.end(at: reverse.end, samples)
      }
      let begin = track.sample(at: start, samples)
      // Looking for a group of one sample in many tracks is more work than reading it.
      if let record = samples.sample(at: begin) { try count(0, at: record, of: track) }
      let range = min(begin, reverse.limits[index])..<reverse.limits[index]
      track.play(group: range, at: last)
      reverse.limits[index] = range.lowerBound
    }
    reverse.end = start
    self.reverse = reverse
    return true
  }
}

extension DemuxTrack {
  /// When a sample is shown in the piece that plays at `time`; not before that begins.
  fileprivate func movieTime(
    ofSample index: Int, near time: ClockTime, _ samples: TrackSamples
  ) -> ClockTime? {
    let piece = timeline.pieces[timeline.piece(at: time)]
    guard piece.mediaStart != nil, let record = samples.sample(at: index) else { return nil }
    let pts = timeline.pts(record.presentationTime)
    return max(piece.movieTime(of: pts), piece.movieStart)
  }

  /// The sample behind the last one that is needed for what is shown before a time.
  fileprivate func end(at time: ClockTime, _ samples: TrackSamples) -> Int {
    let last = time > 0 ? time - 1 : 0
    let piece = timeline.pieces[timeline.piece(at: last)]
    guard piece.mediaStart != nil, last >= piece.movieStart else { return samples.count }
    let shown = samples.index(
      atPresentationTime: timeline.mediaTime(of: piece.timestamp(at: last)))
    return shown.flatMap { samples.syncSample(after: $0) } ?? samples.count
  }
}
