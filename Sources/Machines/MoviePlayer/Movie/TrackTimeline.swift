// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo

/// A track's edit list: the mapping between its media and the movie's timeline.
///
/// PTSs are presentation times plus ``presentationShift``, DTSs decode times plus ``decodeShift``.
/// They differ by the track's composition to DTS shift (ISO/IEC 14496-12 8.6.1.4), so that no PTS
/// is before its DTS although composition offsets may be negative.
struct TrackTimeline: Sendable {
  let kind: PlayerStream.Kind
  /// Never 0.
  let timescale: UInt32
  /// In units of the timescale.
  var presentationShift: Int64
  /// In units of the timescale.
  var decodeShift: Int64
  /// Whether segments come from upstream and timestamps are movie times.
  var isUpstream: Bool
  /// One or more, in the movie's order.
  var edits: [TimelineEdit]
  /// Describes the part of the edit list that is not played as written; nil if there is none.
  let warning: String?

  /// No real edit list is longer.
  private static let maximumEditCount = 10_000
  /// Maximum number of times a track goes back in its media: each time, all of it may be read
  /// again.
  private static let maximumReturnCount = 8
  /// Between 1/64 and 64 times normal speed.
  private static let rates = TimelineEdit.normalRate / 64...TimelineEdit.normalRate * 64

  /// - Parameter movieTimescale: Units per second of the edits' durations.
  init(_ track: Track, movieTimescale: UInt32) {
    let timescale = max(track.timescale, 1)
    let shift = max(0, -Int64(track.samples.minimumCompositionOffset))
    var builder = Builder(movieTimescale: movieTimescale)
    let rows = track.edits.prefix(Self.maximumEditCount)
    for row in rows {
      // A duration of 0 means to the end of the media in fragmented files; elsewhere it makes sense
      // only in the last edit.
      if row.duration == 0, row.mediaTime == nil || row != rows.last { continue }
      builder.add(row) { Self.timestamp($0, shift: shift, timescale: timescale) }
    }
    if !builder.edits.contains(where: { $0.mediaStart != nil }) {
      builder.edits = [
        TimelineEdit(
          movieStart: 0, duration: nil, mediaStart: 0,
          start: Self.timestamp(0, shift: shift, timescale: timescale))
      ]
    }
    kind = PlayerStream.Kind(handlerType: track.handlerType)
    self.timescale = timescale
    (presentationShift, decodeShift) = (shift, 0)
    isUpstream = false
    edits = builder.edits
    warning = builder.warning
  }

  /// Converts the entries of an edit list.
  private struct Builder {
    let movieTimescale: UInt32
    var edits: [TimelineEdit] = []
    var warning: String?
    private var time: ClockTime = 0
    private var mediaEnd: ClockTime = 0
    private var returnCount = 0

    init(movieTimescale: UInt32) {
      self.movieTimescale = movieTimescale
    }

    mutating func add(_ row: Edit, timestamp: (Int64) -> ClockTime) {
      let isOpen = row.duration == 0
      let duration = ClockTime(row.duration, perSecond: movieTimescale)
      var edit = TimelineEdit(
        movieStart: time, duration: isOpen ? nil : duration, mediaStart: row.mediaTime, start: 0)
      if let mediaTime = row.mediaTime {
        edit.start = timestamp(mediaTime)
        edit.rate = rate(row)
        let isReturn = mediaEnd - edit.start > rounding
        if isReturn { returnCount += 1 }
        if isReturn, returnCount > TrackTimeline.maximumReturnCount {
          edit = TimelineEdit(
            movieStart: time, duration: edit.duration, mediaStart: nil, start: 0)
          warning = "A part of the track that plays earlier media again is left out."
        } else {
          mediaEnd = edit.stop ?? .max
        }
      }
      time += duration
      if let last = edits.last, continues(last, edit) {
        // An edit that continues the previous one needs no segment of its own, which would restart
        // decoding.
        edits[edits.count - 1].duration = isOpen ? nil : time - last.movieStart
      } else {
        edits.append(edit)
      }
    }

    private mutating func rate(_ row: Edit) -> UInt64 {
      if let rate = UInt64(exactly: row.rate), TrackTimeline.rates.contains(rate) { return rate }
      warning =
        "A part of the track with a frozen, reversed or more than 64 times slower or faster "
        + "edit rate plays at normal speed."
      return TimelineEdit.normalRate
    }

    /// Whether an edit starts where the previous one ends, in the media too and up to rounding; or
    /// whether both are empty.
    private func continues(_ last: TimelineEdit, _ next: TimelineEdit) -> Bool {
      if last.mediaStart == nil, next.mediaStart == nil { return true }
      guard last.mediaStart != nil, next.mediaStart != nil, last.rate == next.rate,
        let stop = last.stop
      else { return false }
      return stop - next.start <= rounding && next.start - stop <= rounding
    }

    /// Largest difference of times that are meant to be equal.
    private var rounding: ClockTime { .second / max(movieTimescale, 1) + 1 }
  }
}

extension TrackTimeline {
  /// Returns the PTS of a presentation time of the media.
  func pts(_ time: Int64) -> ClockTime {
    Self.timestamp(time, shift: presentationShift, timescale: timescale)
  }

  /// Returns the DTS of a decode time of the media.
  func dts(_ time: Int64) -> ClockTime {
    Self.timestamp(time, shift: decodeShift, timescale: timescale)
  }

  /// Returns the last media time whose PTS is not after `timestamp`.
  func mediaTime(of timestamp: ClockTime) -> Int64 {
    let next = UInt128((timestamp + 1).nanoseconds) * UInt128(timescale)
    let units = (next - 1) / UInt128(ClockTime.second.nanoseconds)
    return Int64(clamping: units).saturatingSubtracting(presentationShift)
  }

  /// Returns the edit that plays at a movie time: the last one that starts at or before it.
  func edit(at time: ClockTime) -> Int {
    var low = 0
    var high = edits.count
    while low < high {
      let middle = low + (high - low) / 2
      if edits[middle].movieStart <= time { low = middle + 1 } else { high = middle }
    }
    return max(0, low - 1)
  }

  /// End of the last edit in movie time; nil if that depends on the media.
  var end: ClockTime? { edits.last?.movieEnd }

  private static func timestamp(_ time: Int64, shift: Int64, timescale: UInt32) -> ClockTime {
    let (sum, overflow) = time.addingReportingOverflow(shift)
    return overflow ? 0 : min(ClockTime(sum, perSecond: timescale), Self.maximumTimestamp)
  }

  /// About 146 years: the sum of a few of these does not overflow.
  private static let maximumTimestamp = ClockTime(nanoseconds: Int64.max / 2)
}

/// One edit of a track: a part of the movie and the media that plays in it.
struct TimelineEdit: Hashable, Sendable {
  /// Start on the movie's timeline.
  var movieStart: ClockTime
  /// Duration in movie time; nil to the end of the media.
  var duration: ClockTime?
  /// Media time of the start, in units of the track's timescale; nil for an empty edit.
  var mediaStart: Int64?
  /// The timestamp of `mediaStart`.
  var start: ClockTime
  /// Media rate as a 16.16 fixed-point number; never 0.
  var rate: UInt64 = Self.normalRate

  fileprivate static let normalRate: UInt64 = 0x1_0000

  var movieEnd: ClockTime? { duration.map { movieStart + $0 } }
  var stop: ClockTime? { movieEnd.map { timestamp(at: $0) } }

  /// Returns the timestamp shown at a movie time; before the edit, that of its start.
  func timestamp(at time: ClockTime) -> ClockTime {
    start + (time - movieStart).scaled(by: rate, over: Self.normalRate)
  }

  /// Returns the movie time of a timestamp; one before the edit's start may map to before the edit,
  /// but not below 0.
  func movieTime(of timestamp: ClockTime) -> ClockTime {
    ClockTime(clamping: decodeOrder(of: timestamp))
  }

  /// Returns the movie time of a timestamp, extrapolated beyond the edit.
  func decodeOrder(of timestamp: ClockTime) -> RunningTime {
    RunningTime(clamping: movieStart)
      + (timestamp - start).scaled(by: Self.normalRate, over: rate)
      - (start - timestamp).scaled(by: Self.normalRate, over: rate)
  }

  /// Returns the intersection of this edit and a segment on the movie's timeline, as a segment in
  /// the track's own timestamps; nil if it is empty.
  func segment(in movie: PlaybackSegment) -> PlaybackSegment? {
    let from = max(movieStart, movie.start)
    let to = min(movieEnd ?? .max, movie.stop ?? .max)
    guard from < to || (from == movie.start && to == from) else { return nil }
    var segment = movie
    segment.start = timestamp(at: from)
    segment.stop = to == .max ? nil : timestamp(at: to)
    if rate != Self.normalRate {
      // With respect to movie time, the media rate is already applied.
      let speed = Double(rate) / Double(Self.normalRate)
      segment.rate = movie.rate * speed
      segment.appliedRate /= speed
    }
    segment.time = from
    segment.duration = nil
    segment.position = segment.start
    let end = movie.stop ?? to
    let passed = movie.rate < 0 ? end - to : from - movie.start
    segment.base = movie.base + passed.scaled(by: 1 / movie.rate.magnitude)
    return segment
  }
}

/// Lookup of the samples at which decoding has to start.
extension TrackTimeline {
  /// Returns the sample at which decoding has to start to show the movie at `time`.
  func sample(at time: ClockTime, _ samples: TrackSamples) -> Int {
    let edit = edits[edit(at: time)]
    guard let start = edit.mediaStart else { return 0 }
    guard time > edit.movieStart else { return firstSample(for: start, samples) }
    return syncSample(for: mediaTime(of: edit.timestamp(at: time)), samples)
  }

  /// Returns the sample at which decoding starts for an edit. Less than a second of audio before
  /// the first edit is output too: it primes decoders, and a remux keeps it.
  func firstSample(for mediaStart: Int64, _ samples: TrackSamples) -> Int {
    if kind == .audio, mediaStart < Int64(timescale),
      edits.first(where: { $0.mediaStart != nil })?.mediaStart == mediaStart
    {
      return 0
    }
    return syncSample(for: mediaStart, samples)
  }

  /// Returns the sync sample from which the sample shown at a media time can be decoded: leading
  /// pictures need the previous sync sample.
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

  /// Returns the movie time of a sample in the edit that plays at `time`, but not before that edit
  /// starts.
  func movieTime(
    ofSample index: Int, near time: ClockTime, _ samples: TrackSamples
  ) -> ClockTime? {
    let edit = edits[edit(at: time)]
    guard edit.mediaStart != nil, let record = samples.sample(at: index) else { return nil }
    return max(edit.movieTime(of: pts(record.presentationTime)), edit.movieStart)
  }

  /// Returns the index after the last sample needed to show the movie before `time`.
  func end(at time: ClockTime, _ samples: TrackSamples) -> Int {
    let last = time - 1
    let edit = edits[edit(at: last)]
    guard edit.mediaStart != nil, last >= edit.movieStart else { return samples.count }
    let shown = samples.index(atPresentationTime: mediaTime(of: edit.timestamp(at: last)))
    return shown.flatMap { samples.syncSample(after: $0) } ?? samples.count
  }

  /// Returns the end of a last edit that lasts to the end of the media.
  func mediaEnd(_ samples: TrackSamples) -> ClockTime {
    guard let last = edits.last else { return 0 }
    // The last sample in presentation order need not be the last in decoding order.
    let end = (max(0, samples.count - Self.reorderLimit)..<samples.count)
      .compactMap { samples.sample(at: $0) }
      .map { $0.presentationTime.saturatingAdding(Int64($0.duration)) }.max()
    return end.map { max(last.movieTime(of: pts($0)), last.movieStart) } ?? last.movieStart
  }

  /// One more than the maximum number of pictures a picture waits for in output order (H.265
  /// A.4.2).
  private static var reorderLimit: Int { 17 }
}

/// Timelines of movies whose timing upstream dictates, as in adaptive streaming.
extension TrackTimeline {
  /// Creates a timeline whose timestamps are movie times, offset as in the first edit.
  init(upstream timeline: TrackTimeline) {
    let first = timeline.edits.first { $0.mediaStart != nil }
    let start = (first?.movieStart ?? 0).units(perSecond: timeline.timescale)
    let shift = Int64(clamping: start).saturatingSubtracting(first?.mediaStart ?? 0)
    let distance = timeline.presentationShift.saturatingSubtracting(timeline.decodeShift)
    self = timeline
    presentationShift = shift
    decodeShift = shift.saturatingSubtracting(distance)
    isUpstream = true
    edits = [TimelineEdit(movieStart: 0, duration: nil, mediaStart: 0, start: 0)]
  }

  /// Shifts all timestamps.
  mutating func shift(by time: RunningTime) {
    let units = Int64(clamping: time.magnitude.units(perSecond: timescale))
    let distance = time < 0 ? -units : units
    presentationShift = presentationShift.saturatingAdding(distance)
    decodeShift = decodeShift.saturatingAdding(distance)
  }
}
