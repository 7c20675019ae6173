// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// A track that is played: its streams, and how far it has come.
///
/// The samples are no part of it: they grow with the movie, and are given to what asks about them.
struct PlayedTrack: Sendable {
  /// A sample, or several equal ones that are handed out together.
  struct Item: Sendable {
    let record: SampleRecord
    let count: Int
    /// In bytes.
    let size: UInt64
    /// The presentation time of what follows it, in units of the track's timescale.
    let presentationEnd: Int64
    /// The decode time on the movie's time line, for choosing between tracks.
    let order: Int64

    /// Where it ends in the file.
    var end: UInt64 { record.offset.addingReportingOverflow(size).partialValue }
  }

  // MARK: What it is

  let id: TrackID
  /// Into the movie's tracks.
  var index: Int
  var timeline: TrackTimeline
  /// What the samples consist of, by sample entry.
  var formats: [SampleFormat]
  /// Of PCM and its like: how many frames are handed out together; 1 for others.
  var itemLength: Int
  /// What the eyes' formats say beside their parameter sets; nil where there are none.
  var eyeFormat: EyeFormat?
  /// How the eyes are had; nil where there are none.
  var eyes: EyeSamples?
  /// The next sample is another encoder's, and says anew what the layers are.
  var hasUnknownLayers = false
  /// Those of the eyes come first.
  var streams: [PlayedStream]

  // MARK: Where it is

  /// The next sample.
  var next = 0
  /// Samples from here on are not for now: the end of a group that is played backwards.
  var limit = Int.max
  /// Into the timeline's edits.
  var edit = 0
  /// Nothing comes any more, but for a seek.
  var hasEnded = false
  /// The sample entry of the last sample.
  var sampleEntryIndex = 0
  /// Where on the movie's time line the last sample ended.
  var end: Nanoseconds = 0
  /// What part of the movie comes next has not been told.
  var needsSegment = true
  /// A segment has been told since the last seek.
  var hasBegun = false
  /// Gaps that were told since the last seek.
  var gapCount = 0
  /// The next item, where it has been looked up, and whether it has been found to be played.
  var candidate: (item: Item, isNext: Bool)?
  /// What comes next does not continue what came last, and the eyes have not been told.
  var isInterrupted = false

  init(
    _ track: Track, index: Int, timeline: TrackTimeline, formats: [SampleFormat],
    eyeFormat: EyeFormat?, eyes: EyeSamples?, streams: [PlayedStream]
  ) {
    id = track.id
    self.index = index
    self.timeline = timeline
    self.formats = formats
    itemLength = Self.itemLength(track)
    self.eyeFormat = eyeFormat
    self.eyes = eyes
    self.streams = streams
  }

  /// Samples of PCM and its like that make up about a tenth of a second.
  private static func itemLength(_ track: Track) -> Int {
    guard case .audio(let entry)? = track.sampleEntries.first else { return 1 }
    switch entry.coding {
    case .pcm: return max(1, Int(entry.sampleRate / 10))
    case .other("alaw"), .other("ulaw"):
      let duration = track.samples.sample(at: 0)?.duration ?? 0
      return max(1, Int(track.timescale / 10 / max(duration, 1)))
    default: return 1
    }
  }

  var kind: PlayerStream.Kind { timeline.kind }

  /// Samples come now and then.
  var isSparse: Bool { kind == .other }

  var isSelected: Bool { streams.contains(where: \.isSelected) }

  var isAnyEyeSelected: Bool {
    streams.contains { $0.role != .samples && $0.isSelected }
  }

  /// Silence of more than this is told in parts of it, so that nobody waits for the stream. Of
  /// sparse ones, before an ordinary queue beside them is full.
  var gapLength: Nanoseconds { isSparse ? .second / 2 : .second }

  /// Of video, only samples that decode by themselves are played.
  func hasKeyUnitsOnly(_ segment: PlaybackSegment) -> Bool {
    segment.flags.contains(.keyUnitsOnly) && kind == .video
  }

  /// Audio of which nothing is read or handed out.
  func isMuted(_ segment: PlaybackSegment) -> Bool {
    segment.flags.contains(.withoutAudio) && kind == .audio
  }

  // MARK: Times

  /// The edit that is played; nil behind the last.
  var currentEdit: TimelineEdit? {
    timeline.edits.indices.contains(edit) ? timeline.edits[edit] : nil
  }

  /// The time on the movie's time line of a timestamp, by the edit that is played.
  func movieTime(ofPTS pts: Nanoseconds) -> Nanoseconds {
    currentEdit?.movieTime(of: pts) ?? 0
  }

  /// How long an item is shown.
  func duration(of item: Item) -> Nanoseconds {
    duration(from: item.record.presentationTime, to: item.presentationEnd)
  }

  /// How long the frame of a sample is shown where all frames are.
  func frameDuration(of record: SampleRecord) -> Nanoseconds {
    duration(
      from: record.presentationTime, to: record.presentationTime &+ Int64(record.duration))
  }

  private func duration(from start: Int64, to end: Int64) -> Nanoseconds {
    let start = timeline.pts(start)
    return max(timeline.pts(end), start) - start
  }
}

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

/// Going elsewhere in a track.
extension PlayedTrack {
  /// Goes to where decoding has to start for what is shown at a time of the movie.
  mutating func seek(to time: Nanoseconds, _ samples: TrackSamples) {
    edit = timeline.edit(at: time)
    candidate = nil
    needsSegment = true
    hasEnded = false
    limit = .max
    hasBegun = false
    end = time
    gapCount = 0
    next = timeline.sample(at: time, samples)
    isInterrupted = false
    eyes?.reset()
    for stream in streams.indices { streams[stream].restart() }
  }

  /// The sample that decoding starts at for what of the media plays next, if that is one of those
  /// that have been handed out.
  func resumption(_ samples: TrackSamples) -> SampleRecord? {
    let later = timeline.edits.dropFirst(edit + 1).first { $0.mediaStart != nil }
    guard let start = later?.mediaStart else { return nil }
    let first = timeline.firstSample(for: start, samples)
    return first < next ? samples.sample(at: first) : nil
  }
}
