// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo

/// Which parts of a track's media play when: its edit list, in nanoseconds.
///
/// PTSs are presentation times plus ``presentationShift``, DTSs decode times plus ``decodeShift``.
/// They differ by the track's composition to DTS shift (ISO/IEC 14496-12 8.6.1.4), so that
/// presentation never comes before decoding although composition offsets may be negative.
struct TrackTimeline: Sendable {
  let kind: PlayerStream.Kind
  /// Never 0.
  let timescale: UInt32
  /// In units of the timescale.
  var presentationShift: Int64
  /// In units of the timescale.
  var decodeShift: Int64
  /// Segments are upstream's, and timestamps are times of the movie.
  var isUpstream: Bool
  /// One or more, in the movie's order.
  var edits: [TimelineEdit]
  /// What of the edit list is not played as it says; nil where all is.
  let warning: String?

  /// More edits than these are not a way of cutting a film.
  private static let maximumEditCount = 10_000
  /// A track goes back in its media so often at the most: each time, all of it may be read again.
  private static let maximumReturnCount = 8
  /// Media that plays 64 times slower or faster at the most.
  private static let rates = TimelineEdit.normalRate / 64...TimelineEdit.normalRate * 64

  /// - Parameter movieTimescale: units a second of the edits' durations.
  init(_ track: Track, movieTimescale: UInt32) {
    let timescale = max(track.timescale, 1)
    let shift = max(0, -Int64(track.samples.leastCompositionOffset))
    var builder = Builder(movieTimescale: movieTimescale)
    let rows = track.edits.prefix(Self.maximumEditCount)
    for row in rows {
      // No duration means to the end in fragmented files, and makes no sense elsewhere but there.
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

  /// Makes edits of the rows of an edit list.
  private struct Builder {
    let movieTimescale: UInt32
    var edits: [TimelineEdit] = []
    var warning: String?
    private var time: Nanoseconds = 0
    private var mediaEnd: Nanoseconds = 0
    private var returnCount = 0

    init(movieTimescale: UInt32) {
      self.movieTimescale = movieTimescale
    }

    mutating func add(_ row: Edit, timestamp: (Int64) -> Nanoseconds) {
      let isOpen = row.duration == 0
      let duration = scale(row.duration, .second, UInt64(movieTimescale))
      var edit = TimelineEdit(
        movieStart: time, duration: isOpen ? nil : duration, mediaStart: row.mediaTime, start: 0)
      if let mediaTime = row.mediaTime {
        edit.start = timestamp(mediaTime)
        edit.rate = rate(row)
        let isReturn = edit.start < mediaEnd && mediaEnd - edit.start > rounding
        if isReturn { returnCount += 1 }
        if isReturn, returnCount > TrackTimeline.maximumReturnCount {
          edit = TimelineEdit(
            movieStart: time, duration: edit.duration, mediaStart: nil, start: 0)
          warning = "A part of the track that plays earlier media again is left out."
        } else {
          mediaEnd = edit.stop ?? .max
        }
      }
      time = saturatingSum(time, duration)
      if let last = edits.last, continues(last, edit) {
        // What goes on needs no segment of its own, for which decoding would start anew.
        edits[edits.count - 1].duration = isOpen ? nil : time - last.movieStart
      } else {
        edits.append(edit)
      }
    }

    private mutating func rate(_ row: Edit) -> UInt64 {
      if let rate = UInt64(exactly: row.rate), TrackTimeline.rates.contains(rate) { return rate }
      warning =
        "A part of the track that is to stand still, to go backwards or to be more than 64 "
        + "times slower or faster plays at normal speed."
      return TimelineEdit.normalRate
    }

    /// Whether an edit begins where the one in front of it ends, in the media too, but for
    /// rounding; or both show nothing.
    private func continues(_ last: TimelineEdit, _ next: TimelineEdit) -> Bool {
      if last.mediaStart == nil, next.mediaStart == nil { return true }
      guard last.mediaStart != nil, next.mediaStart != nil, last.rate == next.rate,
        let stop = last.stop
      else { return false }
      return (stop > next.start ? stop - next.start : next.start - stop) <= rounding
    }

    /// By how much times may differ that are meant to be the same.
    private var rounding: Nanoseconds { .second / UInt64(max(movieTimescale, 1)) + 1 }
  }
}

extension TrackTimeline {
  /// The PTS of a presentation time of the media.
  func pts(_ time: Int64) -> Nanoseconds {
    Self.timestamp(time, shift: presentationShift, timescale: timescale)
  }

  /// The DTS of a decode time of the media.
  func dts(_ time: Int64) -> Nanoseconds {
    Self.timestamp(time, shift: decodeShift, timescale: timescale)
  }

  /// The last media time whose PTS is not behind `timestamp`.
  func mediaTime(of timestamp: Nanoseconds) -> Int64 {
    let next = saturatingSum(timestamp, 1).multipliedFullWidth(by: UInt64(timescale))
    guard next.high < Nanoseconds.second else { return .max }
    let (quotient, remainder) = Nanoseconds.second.dividingFullWidth(next)
    let units = remainder == 0 ? (quotient > 0 ? quotient - 1 : 0) : quotient
    return saturatingDifference(Int64(clamping: units), presentationShift)
  }

  /// The edit that plays at a time of the movie: the last one that begins by then.
  func edit(at time: Nanoseconds) -> Int {
    var low = 0
    var high = edits.count
    while low < high {
      let middle = low + (high - low) / 2
      if edits[middle].movieStart <= time { low = middle + 1 } else { high = middle }
    }
    return max(0, low - 1)
  }

  /// Where the last edit ends; nil where that depends on the media.
  var end: Nanoseconds? { edits.last?.movieEnd }

  private static func timestamp(_ time: Int64, shift: Int64, timescale: UInt32) -> Nanoseconds {
    let (sum, overflow) = time.addingReportingOverflow(shift)
    guard !overflow, sum > 0 else { return 0 }
    return min(scale(sum.magnitude, .second, UInt64(timescale)), Self.maximumTimestamp)
  }

  /// Some hundred years: sums of a few of these do not overflow.
  private static let maximumTimestamp = Nanoseconds(Int64.max / 2)
}

/// One edit of a track: a part of the movie, and what of the media plays in it.
struct TimelineEdit: Hashable, Sendable {
  /// Where it begins on the movie's time line.
  var movieStart: Nanoseconds
  /// nil: as long as there is media.
  var duration: Nanoseconds?
  /// The media time that it begins with, in units of the track's timescale; nil shows nothing.
  var mediaStart: Int64?
  /// The timestamp of `mediaStart`.
  var start: Nanoseconds
  /// How fast the media plays, in 1/65536 of its own speed; never 0.
  var rate: UInt64 = Self.normalRate

  static let normalRate: UInt64 = 0x1_0000

  var movieEnd: Nanoseconds? { duration.map { saturatingSum(movieStart, $0) } }
  var stop: Nanoseconds? { movieEnd.map { timestamp(at: $0) } }

  /// The timestamp that is shown at a time of the movie; the edit's first for what is before it.
  func timestamp(at time: Nanoseconds) -> Nanoseconds {
    let distance = time - min(time, movieStart)
    return saturatingSum(start, scale(distance, rate, Self.normalRate))
  }

  /// When a timestamp is shown; what is before the edit's first may have its time, 0 at least.
  func movieTime(of timestamp: Nanoseconds) -> Nanoseconds {
    let time = decodeOrder(of: timestamp)
    return time > 0 ? Nanoseconds(time) : 0
  }

  /// When a timestamp would be shown, or have been.
  func decodeOrder(of timestamp: Nanoseconds) -> Int64 {
    let distance = Int64(
      clamping: scale(max(timestamp, start) - min(timestamp, start), Self.normalRate, rate))
    return saturatingDifference(
      Int64(clamping: movieStart), timestamp < start ? distance : -distance)
  }

  /// The part of this edit that `segment`, one of the movie's time line, wants to play, as a
  /// segment of the track's own timestamps; nil where it wants none of it.
  func segment(in movie: PlaybackSegment) -> PlaybackSegment? {
    let from = max(movieStart, movie.start)
    let to = min(movieEnd ?? .max, movie.stop ?? .max)
    guard from < to || (from == movie.start && to == from) else { return nil }
    var segment = movie
    segment.start = timestamp(at: from)
    segment.stop = to == .max ? nil : timestamp(at: to)
    if rate != Self.normalRate {
      // To the movie's time line, the media's speed is as if somebody had changed it already.
      let speed = Double(rate) / Double(Self.normalRate)
      segment.rate = movie.rate * speed
      segment.appliedRate /= speed
    }
    segment.time = from
    segment.duration = nil
    segment.position = segment.start
    let end = movie.stop ?? to
    let passed = movie.rate < 0 ? end - min(to, end) : from - movie.start
    segment.base = saturatingSum(
      movie.base,
      movie.rate.magnitude == 1
        ? passed : PlaybackSegment.scaled(passed, by: 1 / movie.rate.magnitude))
    return segment
  }
}

/// Where in a track's samples decoding has to start.
extension TrackTimeline {
  /// The sample that decoding has to start at for what is shown at a time of the movie.
  func sample(at time: Nanoseconds, _ samples: TrackSamples) -> Int {
    let edit = edits[edit(at: time)]
    guard let start = edit.mediaStart else { return 0 }
    guard time > edit.movieStart else { return firstSample(for: start, samples) }
    return syncSample(for: mediaTime(of: edit.timestamp(at: time)), samples)
  }

  /// The sample that decoding starts at for an edit. Sound that lies less than a second before the
  /// first one is given too: decoders settle on it, and a remux keeps it.
  func firstSample(for mediaStart: Int64, _ samples: TrackSamples) -> Int {
    if kind == .audio, mediaStart < Int64(timescale),
      edits.first(where: { $0.mediaStart != nil })?.mediaStart == mediaStart
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

  /// When a sample is shown in the edit that plays at `time`; not before that begins.
  func movieTime(
    ofSample index: Int, near time: Nanoseconds, _ samples: TrackSamples
  ) -> Nanoseconds? {
    let edit = edits[edit(at: time)]
    guard edit.mediaStart != nil, let record = samples.sample(at: index) else { return nil }
    return max(edit.movieTime(of: pts(record.presentationTime)), edit.movieStart)
  }

  /// The sample behind the last one that is needed for what is shown before a time.
  func end(at time: Nanoseconds, _ samples: TrackSamples) -> Int {
    let last = time > 0 ? time - 1 : 0
    let edit = edits[edit(at: last)]
    guard edit.mediaStart != nil, last >= edit.movieStart else { return samples.count }
    let shown = samples.index(atPresentationTime: mediaTime(of: edit.timestamp(at: last)))
    return shown.flatMap { samples.syncSample(after: $0) } ?? samples.count
  }

  /// Where the last edit ends that goes on to the end of the media.
  func mediaEnd(_ samples: TrackSamples) -> Nanoseconds {
    guard let last = edits.last else { return 0 }
    // What is shown last need not be decoded last.
    let end = (max(0, samples.count - Self.reorderLimit)..<samples.count)
      .compactMap { samples.sample(at: $0) }
      .map { saturatingDifference($0.presentationTime, -Int64($0.duration)) }.max()
    return end.map { max(last.movieTime(of: pts($0)), last.movieStart) } ?? last.movieStart
  }

  /// No picture waits for more others to be decoded (H.265 A.4.2), itself included.
  private static var reorderLimit: Int { 17 }
}

/// Time lines of movies of which upstream says what plays when, as adaptive streaming does.
extension TrackTimeline {
  /// The time line whose timestamps are times of the movie: where the first edit puts them.
  init(upstream timeline: TrackTimeline) {
    let first = timeline.edits.first { $0.mediaStart != nil }
    let start = scale(first?.movieStart ?? 0, UInt64(timeline.timescale), .second)
    let shift = saturatingDifference(Int64(clamping: start), first?.mediaStart ?? 0)
    let distance = saturatingDifference(timeline.presentationShift, timeline.decodeShift)
    self = timeline
    presentationShift = shift
    decodeShift = saturatingDifference(shift, distance)
    isUpstream = true
    edits = [TimelineEdit(movieStart: 0, duration: nil, mediaStart: 0, start: 0)]
  }

  /// Moves all timestamps.
  mutating func shift(by nanoseconds: Int64) {
    let units = Int64(
      clamping: scale(nanoseconds.magnitude, UInt64(timescale), .second))
    let distance = nanoseconds < 0 ? units : -units
    presentationShift = saturatingDifference(presentationShift, distance)
    decodeShift = saturatingDifference(decodeShift, distance)
  }
}
