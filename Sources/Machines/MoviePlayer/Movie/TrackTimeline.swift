// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

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
