// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// What a track does next.
extension PlayedTrack {
  enum Step {
    /// A part of the movie begins, with this segment; `isEmpty` shows nothing.
    case segment(PlaybackSegment, isEmpty: Bool)
    case sample(Item)
    /// Nothing yet: the next fragment will say what.
    case wait
    /// Nothing any more.
    case end
  }

  /// What comes next in what `movie`, a segment of the movie's time line, wants of the track: the
  /// same until ``advance()``, but for a segment, which comes once.
  ///
  /// - Parameter isComplete: no more samples will be added to those that are there.
  mutating func step(
    _ samples: TrackSamples, in movie: PlaybackSegment, isComplete: Bool
  ) -> Step {
    while !hasEnded, let current = currentEdit {
      guard let segment = timeline.isUpstream ? movie : current.segment(in: movie) else {
        if movie.rate < 0 || current.movieStart >= movie.stop ?? .max { break }
        enter(edit + 1, samples)
        continue
      }
      if needsSegment {
        needsSegment = false
        return .segment(segment, isEmpty: current.mediaStart == nil)
      }
      let item = current.mediaStart != nil ? item(samples, movie) : nil
      if item == nil, current.mediaStart != nil, !isComplete { return .wait }
      let stop = timeline.isUpstream ? nil : segment.stop
      guard let item, isPlayed(item, before: stop ?? .max, samples) else {
        if movie.rate < 0 { break }
        enter(edit + 1, samples)
        continue
      }
      candidate?.isNext = true
      return .sample(item)
    }
    hasEnded = true
    return .end
  }

  /// The sample that comes next, where that has been found out.
  var ready: Item? {
    guard !hasEnded, let candidate, candidate.isNext else { return nil }
    return candidate.item
  }

  /// Goes on behind the sample that came next.
  mutating func advance() {
    next += candidate?.item.count ?? 1
    candidate = nil
  }

  /// Tells once more what part of the movie is played, as behind a flush.
  mutating func repeatSegment() {
    needsSegment = true
    hasBegun = false
    candidate?.isNext = false
  }

  /// Begins anew with the first of the samples that there are now.
  mutating func restartSamples() {
    next = 0
    limit = .max
    candidate = nil
    hasEnded = false
  }

  /// Nothing more will come.
  mutating func finish() { hasEnded = true }

  /// Nothing will come but what a segment says; false where that has been told.
  mutating func beginSilence() -> Bool {
    defer { needsSegment = false }
    finish()
    return needsSegment
  }

  private mutating func item(_ samples: TrackSamples, _ movie: PlaybackSegment) -> Item? {
    if let candidate { return candidate.item }
    var follower: SampleRecord?
    if hasKeyUnitsOnly(movie) {
      guard let key = samples.syncSample(after: next - 1), key < limit else { return nil }
      if key > next, movie.rate > 0 { skip(to: key) }
      next = key
      follower = samples.syncSample(after: key).flatMap { samples.sample(at: $0) }
    }
    guard next < limit,
      let run = samples.run(at: next, maximumCount: min(itemLength, limit - next))
    else { return nil }
    let size = UInt64(clamping: run.count).multipliedReportingOverflow(by: UInt64(run.first.size))
    let decode = timeline.dts(run.first.decodeTime)
    let item = Item(
      record: run.first, count: run.count, size: size.overflow ? .max : size.partialValue,
      presentationEnd: presentationEnd(run, follower, samples, movie),
      order: currentEdit?.decodeOrder(of: decode) ?? .max)
    candidate = (item, false)
    return item
  }

  /// What is alone stands for all up to the next of its kind; else a sample has its own duration.
  private func presentationEnd(
    _ run: SampleRun, _ follower: SampleRecord?, _ samples: TrackSamples, _ movie: PlaybackSegment
  ) -> Int64 {
    let record = run.first
    guard hasKeyUnitsOnly(movie) else {
      return record.presentationTime &+ Int64(record.duration) &* Int64(clamping: run.count)
    }
    let end =
      follower?.presentationTime
      ?? record.presentationTime &+ (samples.endDecodeTime &- record.decodeTime)
    let stop = currentEdit?.stop.map { timeline.mediaTime(of: $0) } ?? .max
    return max(min(end, stop), record.presentationTime)
  }

  /// No picture has more in front of it in decoding order that are shown behind it
  /// (H.265 A.4.2: sps_max_num_reorder_pics is less than MaxDpbSize, 16 at the most).
  private static let maximumReordering = 16

  /// Whether a sample is handed out in an edit whose timestamps end at `stop`: what is shown there,
  /// or needed for that.
  private func isPlayed(
    _ item: Item, before stop: Nanoseconds, _ samples: TrackSamples
  ) -> Bool {
    guard timeline.pts(item.record.presentationTime) >= stop else { return true }
    guard timeline.dts(item.record.decodeTime) < stop else { return false }
    return (0..<Self.maximumReordering).contains { distance in
      samples.sample(at: next + item.count + distance)
        .map { timeline.pts($0.presentationTime) < stop } ?? false
    }
  }

  /// The least timestamp of what comes from the next sample on, whatever order it is decoded in;
  /// nil where nothing comes.
  func leastPTS(_ samples: TrackSamples, isComplete: Bool) -> Nanoseconds? {
    var least: Nanoseconds?
    for distance in 0...Self.maximumReordering {
      guard let record = samples.sample(at: next + distance) else {
        guard !isComplete else { break }
        // What has not been told of yet is decoded behind all that has.
        let later = timeline.dts(samples.endDecodeTime)
        return min(least ?? later, later)
      }
      let pts = timeline.pts(record.presentationTime)
      least = min(least ?? pts, pts)
    }
    return least
  }

  /// Goes on with another edit, before which decoders have shown all they had.
  private mutating func enter(_ index: Int, _ samples: TrackSamples) {
    edit = index
    needsSegment = true
    candidate = nil
    if let start = currentEdit?.mediaStart { skip(to: timeline.firstSample(for: start, samples)) }
  }

  /// Goes on at another sample, which decodes by itself.
  private mutating func skip(to sample: Int) {
    next = sample
    interrupt()
  }

  /// What comes next does not continue what came last.
  mutating func interrupt() {
    isInterrupted = true
    for stream in streams.indices { streams[stream].interrupt() }
  }

  /// Plays a group of samples of the reverse of a movie.
  mutating func play(group samples: Range<Int>, at time: Nanoseconds) {
    let newEdit = timeline.edit(at: time)
    needsSegment = needsSegment || newEdit != edit
    edit = newEdit
    (next, limit) = (samples.lowerBound, samples.upperBound)
    candidate = nil
    hasEnded = false
    interrupt()
  }
}
