// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo

/// A track during playback: its streams and its position.
///
/// The samples are passed to its functions because they grow with the movie.
struct PlayedTrack: Sendable {
  /// A sample, or several of equal size and duration that are output as one.
  struct Item: Sendable {
    let record: SampleRecord
    let count: Int
    /// In bytes.
    let size: UInt64
    /// Presentation time of the end, in units of the track's timescale.
    let presentationEnd: Int64
    /// Decode time on the movie's timeline, for ordering tracks.
    let order: RunningTime

    /// File offset of the end.
    var end: UInt64 { record.offset.addingReportingOverflow(size).partialValue }
  }

  // MARK: Description

  let id: TrackID
  /// Index into the movie's tracks.
  var index: Int
  /// The track whose samples complete this one's with the dependent view of H.264 MVC; nil if there
  /// is none.
  var dependent: DependentView?
  var timeline: TrackTimeline
  /// One format per sample entry.
  var formats: [SampleFormat]
  /// Number of audio frames output as one sample for PCM, A-law and µ-law; otherwise 1.
  var itemLength: Int
  /// Format of the eyes but for their parameter sets; nil if there are no eyes.
  var eyeFormat: EyeFormat?
  /// Extracts each eye's samples; nil if there are no eyes.
  var eyes: EyeSamples?
  /// Whether the next sample comes from another encoder, so that its layers must be detected again.
  var hasUnknownLayers = false
  /// Those of the eyes come first.
  var streams: [PlayedStream]

  // MARK: Position

  /// Index of the next sample.
  var next = 0
  /// Index at which to stop: the end of a group that is played in reverse.
  var limit = Int.max
  /// Index into the timeline's edits.
  var edit = 0
  /// Whether nothing is left to play before a seek.
  var hasEnded = false
  /// Sample entry of the last sample.
  var sampleEntryIndex = 0
  /// End of the last sample, in movie time.
  var end: ClockTime = 0
  /// Whether the segment still has to be announced.
  var needsSegment = true
  /// Whether a segment has been announced since the last seek.
  var hasBegun = false
  /// Number of gaps sent since the last seek.
  var gapCount = 0
  /// The next item, if looked up, and whether it is known to be part of the segment.
  var candidate: (item: Item, isNext: Bool)?
  /// Whether the next sample is a discontinuity that the eyes do not know of yet.
  var isInterrupted = false

  init(
    _ track: Track, index: Int, dependent: DependentView?, timeline: TrackTimeline,
    formats: [SampleFormat],
    eyeFormat: EyeFormat?, eyes: EyeSamples?, streams: [PlayedStream]
  ) {
    id = track.id
    self.index = index
    self.dependent = dependent
    self.timeline = timeline
    self.formats = formats
    itemLength = Self.itemLength(track)
    self.eyeFormat = eyeFormat
    self.eyes = eyes
    self.streams = streams
  }

  /// Returns the number of samples of PCM, A-law or µ-law that last about a tenth of a second; 1
  /// for other codings.
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

  /// Whether samples come only now and then.
  var isSparse: Bool { kind == .other }

  var isSelected: Bool { streams.contains(where: \.isSelected) }

  var isAnyEyeSelected: Bool {
    streams.contains { $0.role != .samples && $0.isSelected }
  }

  /// Length of a gap event; longer gaps are sent as several of them. It is shorter for sparse
  /// streams, so that a default `queue` on a parallel branch does not fill up.
  var gapLength: ClockTime { isSparse ? .second / 2 : .second }

  /// Whether only keyframes of this track are played, as for video in a key-units-only segment.
  func hasKeyUnitsOnly(_ segment: PlaybackSegment) -> Bool {
    segment.flags.contains(.keyUnitsOnly) && kind == .video
  }

  /// Whether this is audio that a segment mutes: none of it is read or output.
  func isMuted(_ segment: PlaybackSegment) -> Bool {
    segment.flags.contains(.withoutAudio) && kind == .audio
  }

  // MARK: Times

  /// The edit being played; nil after the last one.
  var currentEdit: TimelineEdit? {
    timeline.edits.indices.contains(edit) ? timeline.edits[edit] : nil
  }

  /// Returns the movie time of a timestamp, according to the edit being played.
  func movieTime(ofPTS pts: ClockTime) -> ClockTime {
    currentEdit?.movieTime(of: pts) ?? 0
  }

  /// Returns the duration of an item.
  func duration(of item: Item) -> ClockTime {
    duration(from: item.record.presentationTime, to: item.presentationEnd)
  }

  /// Returns the duration of a sample's frame if all frames are played.
  func frameDuration(of record: SampleRecord) -> ClockTime {
    duration(
      from: record.presentationTime, to: record.presentationTime &+ Int64(record.duration))
  }

  private func duration(from start: Int64, to end: Int64) -> ClockTime {
    timeline.pts(end) - timeline.pts(start)
  }
}

/// The sequence of segments and samples of a track.
extension PlayedTrack {
  enum Step {
    /// A segment begins; if `isEmpty`, it shows nothing.
    case segment(PlaybackSegment, isEmpty: Bool)
    case sample(Item)
    /// The next fragment is needed.
    case wait
    /// Nothing is left.
    case end
  }

  /// Returns the next step of the track within `movie`, a segment on the movie's timeline. A
  /// sample is returned repeatedly until ``advance()``, a segment only once.
  ///
  /// - Parameter isComplete: Whether no more samples will be added.
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

  /// The next sample, if already determined.
  var ready: Item? {
    guard !hasEnded, let candidate, candidate.isNext else { return nil }
    return candidate.item
  }

  /// Advances past the current sample.
  mutating func advance() {
    next += candidate?.item.count ?? 1
    candidate = nil
  }

  /// Makes the segment be announced again, as after a flush.
  mutating func repeatSegment() {
    needsSegment = true
    hasBegun = false
    candidate?.isNext = false
  }

  /// Starts again at the first of the samples now present.
  mutating func restartSamples() {
    next = 0
    limit = .max
    candidate = nil
    hasEnded = false
  }

  /// Ends the track.
  mutating func finish() { hasEnded = true }

  /// Ends the track and returns whether its segment still has to be announced.
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

  /// In a key-units-only segment, a sample lasts until the next sync sample; otherwise it has its
  /// own duration.
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

  /// Maximum number of pictures that precede a picture in decoding order and follow it in output
  /// order (H.265 A.4.2: sps_max_num_reorder_pics is less than MaxDpbSize, at most 16).
  private static let maximumReordering = 16

  /// Whether a sample is output in an edit whose timestamps end at `stop`: because it is shown
  /// there, or needed by one that is.
  private func isPlayed(
    _ item: Item, before stop: ClockTime, _ samples: TrackSamples
  ) -> Bool {
    guard timeline.pts(item.record.presentationTime) >= stop else { return true }
    guard timeline.dts(item.record.decodeTime) < stop else { return false }
    return (0..<Self.maximumReordering).contains { distance in
      samples.sample(at: next + item.count + distance)
        .map { timeline.pts($0.presentationTime) < stop } ?? false
    }
  }

  /// Returns the smallest timestamp from the next sample on, in any decoding order; nil if no
  /// samples are left.
  func leastPTS(_ samples: TrackSamples, isComplete: Bool) -> ClockTime? {
    var least: ClockTime?
    for distance in 0...Self.maximumReordering {
      guard let record = samples.sample(at: next + distance) else {
        guard !isComplete else { break }
        // Samples not announced yet are decoded after all known ones.
        let later = timeline.dts(samples.endDecodeTime)
        return min(least ?? later, later)
      }
      let pts = timeline.pts(record.presentationTime)
      least = min(least ?? pts, pts)
    }
    return least
  }

  /// Moves to another edit, before which decoders are drained.
  private mutating func enter(_ index: Int, _ samples: TrackSamples) {
    edit = index
    needsSegment = true
    candidate = nil
    if let start = currentEdit?.mediaStart { skip(to: timeline.firstSample(for: start, samples)) }
  }

  /// Moves to another sample, which is decodable on its own.
  private mutating func skip(to sample: Int) {
    next = sample
    interrupt()
  }

  /// Marks the next sample as a discontinuity.
  mutating func interrupt() {
    isInterrupted = true
    for stream in streams.indices { streams[stream].interrupt() }
  }

  /// Plays a group of samples during reverse playback.
  mutating func play(group samples: Range<Int>, at time: ClockTime) {
    let newEdit = timeline.edit(at: time)
    needsSegment = needsSegment || newEdit != edit
    edit = newEdit
    (next, limit) = (samples.lowerBound, samples.upperBound)
    candidate = nil
    hasEnded = false
    interrupt()
  }
}

/// Seeking within a track.
extension PlayedTrack {
  /// Moves to the sample at which decoding has to start to show the movie at `time`.
  mutating func seek(to time: ClockTime, _ samples: TrackSamples) {
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

  /// Returns the sample at which decoding starts for the next edit with media, if it has already
  /// been output.
  func resumption(_ samples: TrackSamples) -> SampleRecord? {
    let later = timeline.edits.dropFirst(edit + 1).first { $0.mediaStart != nil }
    guard let start = later?.mediaStart else { return nil }
    let first = timeline.firstSample(for: start, samples)
    return first < next ? samples.sample(at: first) : nil
  }
}
