import CGStreamer
import GStreamer
import ISOBMFF

/// A track that is played: its streams, and how far it has come.
final class DemuxTrack {
  /// A sample, or several equal ones that are handed out together.
  struct Item {
    let record: SampleRecord
    let count: Int
    let size: UInt64
    /// The presentation time of what follows it, in units of the track's timescale.
    let presentationEnd: Int64
    /// The decode time on the movie's time line, for choosing between tracks.
    let order: Int64
    var end: UInt64 { record.offset.addingReportingOverflow(size).partialValue }
  }

  /// What comes next.
  enum Step {
    /// A part of the movie begins, with this segment; `isEmpty` shows nothing.
    case segment(Segment, isEmpty: Bool)
    case sample(Item)
    /// Nothing yet: the next fragment will say what.
    case wait
    /// Nothing any more.
    case end
  }

  let id: TrackID
  /// Into the movie's tracks.
  let index: Int
  let kind: FourCC
  /// Samples come now and then.
  let isSparse: Bool
  let timeline: TrackTimeline
  let streams: [DemuxStream]
  /// How a layered track is taken apart; nil for other tracks.
  var eyes: EyeOutput?
  /// What the eyes' caps say beside what their parameter sets do.
  let eyeDescription: DemuxVideoCaps.Description?
  /// Caps of the streams with untouched samples, by sample entry.
  let sampleCaps: [Caps]
  /// Of PCM and its like: how many frames are handed out together; 1 for others.
  let itemLength: Int

  // MARK: Position

  /// The next sample.
  private(set) var next = 0
  /// Samples from here on are not for now: the end of a group that is played backwards.
  var limit = Int.max
  /// Into the timeline's pieces.
  private(set) var piece = 0
  private(set) var hasEnded = false
  /// The sample entry of the last sample.
  var sampleEntryIndex = 0
  /// Where on the movie's time line the last buffer ended.
  var end: ClockTime = 0
  private var needsSegment = true
  /// A segment has been told since the last seek.
  var hasBegun = false
  /// Pieces of silence that were told since the last seek.
  var gapCount = 0
  private var cached: Item? { didSet { ready = nil } }
  /// The sample that comes next, where that has been found out.
  private(set) var ready: Item?

  init(
    _ track: Track, index: Int, timeline: TrackTimeline, streams: [DemuxStream], eyes: EyeOutput?,
    eyeDescription: DemuxVideoCaps.Description?, sampleCaps: [Caps]
  ) {
    id = track.id
    self.index = index
    kind = track.handlerType
    isSparse = kind != "vide" && kind != "soun"
    self.timeline = timeline
    self.streams = streams
    self.eyes = eyes
    self.eyeDescription = eyeDescription
    self.sampleCaps = sampleCaps
    itemLength = Self.itemLength(track)
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

  var hasLinkedStream: Bool { streams.contains { $0.pad.isLinked } }

  /// What comes next in what `play` wants of the movie: the same until ``advance()``, but for a
  /// segment, which comes once.
  ///
  /// - Parameter isComplete: no more samples will be added to those that are there.
  func step(_ samples: TrackSamples, play: Segment, isComplete: Bool = true) -> Step {
    while !hasEnded {
      guard timeline.pieces.indices.contains(piece) else { break }
      let current = timeline.pieces[piece]
      guard let segment = segment(of: current, in: play) else {
        if play.rate < 0 || current.movieStart >= play.stop ?? .max { break }
        enter(piece + 1, samples)
        continue
      }
      if needsSegment {
        needsSegment = false
        return .segment(segment, isEmpty: current.mediaStart == nil)
      }
      let item = current.mediaStart != nil ? item(samples, play) : nil
      if item == nil, current.mediaStart != nil, !isComplete { return .wait }
      guard let item, isPlayed(item, before: segment.stop ?? .max, samples) else {
        if play.rate < 0 { break }
        enter(piece + 1, samples)
        continue
      }
      ready = item
      return .sample(item)
    }
    hasEnded = true
    return .end
  }

  /// Goes on behind the sample that ``step(_:play:)`` gave.
  func advance() {
    next += cached?.count ?? 1
    cached = nil
  }

  /// Tells once more what part of the movie is played, as behind a flush.
  func repeatSegment() {
    needsSegment = true
    hasBegun = false
    ready = nil
  }

  /// Nothing more will come.
  func finish() { hasEnded = true }

  /// Nothing will come but what a segment says; false where that has been told.
  func beginSilence() -> Bool {
    defer { needsSegment = false }
    finish()
    return needsSegment
  }

  private func item(_ samples: TrackSamples, _ play: Segment) -> Item? {
    if let cached { return cached }
    var follower: SampleRecord?
    if hasKeyUnitsOnly(play) {
      guard let key = samples.syncSample(after: next - 1), key < limit else { return nil }
      if key > next, play.rate > 0 { skip(to: key) }
      next = key
      follower = samples.syncSample(after: key).flatMap { samples.sample(at: $0) }
    }
    guard next < limit,
      let run = samples.run(at: next, maximumCount: min(itemLength, limit - next))
    else { return nil }
    let size = UInt64(clamping: run.count).multipliedReportingOverflow(by: UInt64(run.first.size))
    let item = Item(
      record: run.first, count: run.count, size: size.overflow ? .max : size.partialValue,
      presentationEnd: presentationEnd(run, follower, samples, play), order: decodeOrder(run.first))
    cached = item
    return item
  }

  /// Of video, only samples that decode by themselves are read.
  func hasKeyUnitsOnly(_ play: Segment) -> Bool { play.hasKeyUnitsOnly && kind == "vide" }

  /// What is alone stands for all up to the next of its kind; else a sample has its own duration.
  private func presentationEnd(
    _ run: SampleRun, _ follower: SampleRecord?, _ samples: TrackSamples, _ play: Segment
  ) -> Int64 {
    let record = run.first
    guard hasKeyUnitsOnly(play) else {
      return record.presentationTime &+ Int64(record.duration) &* Int64(clamping: run.count)
    }
    let end =
      follower?.presentationTime
      ?? record.presentationTime &+ (samples.endDecodeTime &- record.decodeTime)
    let stop = timeline.pieces[piece].stop.map { timeline.mediaTime(of: $0) } ?? .max
    return max(min(end, stop), record.presentationTime)
  }

  /// How long an item is shown.
  func duration(of item: Item) -> ClockTime {
    let start = timeline.pts(item.record.presentationTime)
    return max(timeline.pts(item.presentationEnd), start) - start
  }

  /// How long the frame of a sample is shown where all frames are.
  func frameDuration(of record: SampleRecord) -> ClockTime {
    let start = timeline.pts(record.presentationTime)
    return max(timeline.pts(record.presentationTime &+ Int64(record.duration)), start) - start
  }

  /// Whether a sample is handed out in a piece whose timestamps end at `stop`: what is shown there,
  /// or needed for that.
  private func isPlayed(_ item: Item, before stop: ClockTime, _ samples: TrackSamples) -> Bool {
    guard timeline.pts(item.record.presentationTime) >= stop else { return true }
    guard timeline.dts(item.record.decodeTime) < stop else { return false }
    return (0..<Self.maximumReordering).contains { distance in
      samples.sample(at: next + item.count + distance)
        .map { timeline.pts($0.presentationTime) < stop } ?? false
    }
  }

  /// No picture has more in front of it in decoding order that are shown behind it
  /// (H.265 A.4.2: sps_max_num_reorder_pics is less than MaxDpbSize, 16 at the most).
  private static let maximumReordering = 16

  /// The sample that decoding starts at for what of the media plays next, if that is one of those
  /// that have been handed out.
  func resumption(_ samples: TrackSamples) -> SampleRecord? {
    guard let start = timeline.pieces.dropFirst(piece + 1).first(where: { $0.mediaStart != nil }),
      let mediaStart = start.mediaStart
    else { return nil }
    let first = firstSample(for: mediaStart, samples)
    return first < next ? samples.sample(at: first) : nil
  }

  /// Goes on with another piece, before which decoders have shown all they had.
  private func enter(_ index: Int, _ samples: TrackSamples) {
    piece = index
    needsSegment = true
    cached = nil
    guard timeline.pieces.indices.contains(index), let start = timeline.pieces[index].mediaStart
    else { return }
    skip(to: firstSample(for: start, samples))
  }

  /// Goes on at another sample, which decodes by itself.
  private func skip(to sample: Int) {
    next = sample
    for stream in streams { stream.isDiscontinuous = true }
    eyes?.reset()
  }

  /// Plays a group of samples of the reverse of a movie.
  func play(group samples: Range<Int>, at time: ClockTime) {
    let newPiece = timeline.piece(at: time)
    needsSegment = needsSegment || newPiece != piece
    piece = newPiece
    (next, limit) = (samples.lowerBound, samples.upperBound)
    cached = nil
    hasEnded = false
    for stream in streams { stream.isDiscontinuous = true }
  }

  // MARK: Seeking

  /// Goes to where decoding has to start for what is shown at a time of the movie.
  func seek(to time: ClockTime, _ samples: TrackSamples) {
    piece = timeline.piece(at: time)
    cached = nil
    needsSegment = true
    hasEnded = false
    limit = .max
    hasBegun = false
    end = time
    gapCount = 0
    next = sample(at: time, samples)
    for stream in streams { stream.restart() }
    eyes?.reset()
  }

  /// The sample that decoding has to start at for what is shown at a time of the movie.
  func sample(at time: ClockTime, _ samples: TrackSamples) -> Int {
    let index = timeline.piece(at: time)
    guard timeline.pieces.indices.contains(index),
      let start = timeline.pieces[index].mediaStart
    else { return 0 }
    let piece = timeline.pieces[index]
    guard time > piece.movieStart else { return firstSample(for: start, samples) }
    return syncSample(
      for: timeline.mediaTime(of: piece.timestamp(at: time)), samples)
  }

  /// The sample that decoding starts at for a piece. Sound that lies less than a second before the
  /// first piece is given too: decoders settle on it, and a remux keeps it.
  private func firstSample(for mediaStart: Int64, _ samples: TrackSamples) -> Int {
    if kind == "soun", mediaStart < Int64(timeline.timescale),
      timeline.pieces.first(where: { $0.mediaStart != nil })?.mediaStart == mediaStart
    {
      return 0
    }
    return syncSample(for: mediaStart, samples)
  }

  /// The random access point from which on the sample that is shown at a media time decodes:
  /// leading pictures need the one before theirs.
  private func syncSample(for mediaTime: Int64, _ samples: TrackSamples) -> Int {
    guard let shown = samples.index(atPresentationTime: mediaTime) else { return 0 }
    var candidate = shown
    while let sync = samples.syncSample(atOrBefore: candidate) {
      guard let record = samples.sample(at: sync), record.presentationTime > mediaTime, sync > 0
      else { return sync }
      candidate = sync - 1
    }
    return 0
  }

  /// The time on the movie's time line of a sample's presentation, by the piece that is played.
  func movieTime(ofPTS pts: ClockTime) -> ClockTime {
    guard timeline.pieces.indices.contains(piece) else { return 0 }
    return timeline.pieces[piece].movieTime(of: pts)
  }

  private func decodeOrder(_ record: SampleRecord) -> Int64 {
    guard timeline.pieces.indices.contains(piece) else { return .max }
    return timeline.pieces[piece].decodeOrder(of: timeline.dts(record.decodeTime))
  }

  /// The part of a piece that `play` wants, as a segment of this track's streams; nil where it
  /// wants none of it.
  private func segment(of piece: TrackTimeline.Piece, in play: Segment) -> Segment? {
    let start = max(piece.movieStart, play.start)
    let stop = min(piece.movieEnd ?? .max, play.stop ?? .max)
    guard start < stop || (start == play.start && stop == start) else { return nil }
    var segment = play
    segment.start = piece.timestamp(at: start)
    segment.stop = stop == .max ? nil : piece.timestamp(at: stop)
    if piece.rate != TrackTimeline.Piece.normalRate {
      // To the movie's time line, the media's speed is as if somebody had changed it already.
      let speed = Double(piece.rate) / Double(TrackTimeline.Piece.normalRate)
      segment.segment.rate = play.rate * speed
      segment.segment.applied_rate /= speed
    }
    segment.time = start
    segment.duration = nil
    segment.position = segment.start
    let passed =
      play.rate < 0 ? (play.stop ?? stop) - min(stop, play.stop ?? stop) : start - play.start
    let speed = abs(play.rate)
    let running =
      speed == 1 ? passed : ClockTime(exactly: (Double(passed) / speed).rounded()) ?? 0
    segment.base = saturatingSum(play.base, running)
    return segment
  }
}
