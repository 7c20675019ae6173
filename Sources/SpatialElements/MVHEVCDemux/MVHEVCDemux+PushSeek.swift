import CGStreamer
import GStreamer
import ISOBMFF

/// A seek in push mode for which upstream has been asked to go to the right byte.
struct PendingSeek {
  let play: Segment
  let event: Event
  /// Where a fragment begins from which on the movie is read anew; nil where its index is complete.
  var fragment: UInt64?
}

extension MVHEVCDemux.Status {
  /// The part of the movie that a seek asks for; nil where that makes no sense.
  func segment(for seek: Seek) -> Segment? {
    var wanted = play
    wanted.position = position
    wanted.duration = duration
    guard wanted.apply(seek) else { return nil }
    wanted.duration = nil
    // It is played from its very beginning, also where the seek leaves that as it was.
    wanted.segment.offset = 0
    return wanted
  }
}

extension MVHEVCDemux {
  func pushSeek(_ seek: Seek, _ event: Event) -> Bool {
    guard seek.has(GST_SEEK_FLAG_FLUSH), seek.rate > 0, status.current.isSeekable else {
      return false
    }
    // Not under the stream lock: the streaming thread may be waiting for this very seek.
    guard
      let pending = status.current.fragments.map({ pendingSeek(seek, event, $0) })
        ?? pendingSeek(seek, event)
    else { return false }
    pendingSeek.withLock { $0 = pending.seek }
    let isDone = sink.push(Event.byteSeek(to: pending.offset).following(event))
    if !isDone { pendingSeek.withLock { $0 = nil } }
    return isDone
  }

  /// A seek in a movie whose index is complete, which does not change any more.
  private func pendingSeek(
    _ seek: Seek, _ event: Event
  ) -> (seek: PendingSeek, offset: UInt64)? {
    guard isComplete, let wanted = segment(for: seek), let movie else { return nil }
    let offsets = tracks.compactMap { track -> UInt64? in
      let samples = movie.tracks[track.index].samples
      return samples.sample(at: track.sample(at: wanted.start, samples))?.offset
    }
    return offsets.min().map { (PendingSeek(play: wanted, event: event), $0) }
  }

  /// A seek in a movie of fragments that an index tells the places of. Nothing here is what the
  /// streaming thread changes.
  private func pendingSeek(
    _ seek: Seek, _ event: Event, _ fragments: FragmentIndex
  ) -> (seek: PendingSeek, offset: UInt64)? {
    guard var wanted = status.current.segment(for: seek),
      let start = fragments.start(for: tracks, at: wanted.start)
    else { return nil }
    if seek.has(GST_SEEK_FLAG_KEY_UNIT), !seek.has(GST_SEEK_FLAG_ACCURATE) {
      let time = min(wanted.start, start.time)
      (wanted.start, wanted.time, wanted.position) = (time, time, time)
    }
    return (PendingSeek(play: wanted, event: event, fragment: start.offset), start.offset)
  }

  /// Does what a seek wants, now that upstream is there.
  func startPendingSeek() {
    let pending = pendingSeek.withLock { pending in
      defer { pending = nil }
      return pending
    }
    guard let pending else { return }
    combiner.reset()
    push.hasEnded = false
    if let fragment = pending.fragment {
      movie = push.bareMovie
      push.parser.seek(to: fragment)
      push.isParsed = false
      isComplete = false
    }
    begin(pending.play, pending.event)
  }
}
