import GStreamer
import ISOBMFF

/// Which parts of a track's media play when: its edit list, in nanoseconds.
///
/// Timestamps of samples are media times plus `lag`, so that presentation never comes before
/// decoding although composition offsets may be negative.
struct TrackTimeline {
  /// One edit: a stretch of the movie, and what of the media plays in it.
  struct Piece: Equatable {
    /// Where it begins on the movie's time line.
    var movieStart: ClockTime
    /// nil: as long as there is media.
    var duration: ClockTime?
    /// The media time that it begins with, in units of the track's timescale; nil shows nothing.
    var mediaStart: Int64?
    /// The timestamp of `mediaStart`.
    var start: ClockTime
    /// How fast the media plays, in 1/65536 of its own speed; never 0.
    var rate: UInt64 = Piece.normalRate

    static let normalRate: UInt64 = 0x1_0000

    var movieEnd: ClockTime? { duration.map { saturatingSum(movieStart, $0) } }
    var stop: ClockTime? { movieEnd.map { timestamp(at: $0) } }

    /// The timestamp that is shown at a time of the movie; the piece's first for what is before it.
    func timestamp(at time: ClockTime) -> ClockTime {
      let distance = time - min(time, movieStart)
      return saturatingSum(start, scale(distance, rate, Piece.normalRate))
    }

    /// When a timestamp is shown; what is before the piece's first may have its time, 0 at least.
    func movieTime(of timestamp: ClockTime) -> ClockTime {
      let time = decodeOrder(of: timestamp)
      return time > 0 ? ClockTime(time) : 0
    }

    /// When a timestamp would be shown, or have been.
    func decodeOrder(of timestamp: ClockTime) -> Int64 {
      let distance = Int64(
        clamping: scale(
          max(timestamp, start) - min(timestamp, start), Piece.normalRate, rate))
      return saturatingDifference(
        Int64(clamping: movieStart), timestamp < start ? distance : -distance)
    }
  }

  let timescale: UInt32
  /// In units of the timescale, 0 or more.
  let lag: Int64
  let pieces: [Piece]
  /// What of the edit list is not played as it says; nil where all is.
  let warning: String?

  /// More edits than these are not a way of cutting a film.
  private static let maximumPieceCount = 10_000
  /// A track goes back in its media so often at the most: each time, all of it may be read again.
  private static let maximumReturnCount = 8
  /// Media that plays 64 times slower or faster at the most.
  private static let rates = Piece.normalRate / 64...Piece.normalRate * 64

  /// - Parameters:
  ///   - lag: what is added to media times; see ``lag(_:)``.
  ///   - movieTimescale: units a second of the edits' durations.
  init(_ track: Track, lag: Int64, movieTimescale: UInt32) {
    timescale = max(track.timescale, 1)
    self.lag = lag
    var pieces: [Piece] = []
    var time: ClockTime = 0
    var mediaEnd: ClockTime = 0
    var returnCount = 0
    var warning: String?
    let edits = track.edits.prefix(Self.maximumPieceCount)
    for edit in edits {
      let isOpen = edit.duration == 0
      // No duration means to the end in fragmented files, and makes no sense elsewhere but there.
      if isOpen, edit.mediaTime == nil || edit != edits.last { continue }
      let duration = scale(edit.duration, .second, UInt64(movieTimescale))
      var piece = Piece(
        movieStart: time, duration: isOpen ? nil : duration, mediaStart: edit.mediaTime, start: 0)
      if let mediaTime = edit.mediaTime {
        piece.start = Self.timestamp(mediaTime, lag: lag, timescale: track.timescale)
        if let rate = UInt64(exactly: edit.rate), Self.rates.contains(rate) {
          piece.rate = rate
        } else {
          warning =
            "A part of the track that is to stand still, to go backwards or to be more than 64 "
            + "times slower or faster plays at normal speed."
        }
        let isReturn =
          piece.start < mediaEnd && mediaEnd - piece.start > Self.rounding(movieTimescale)
        if isReturn { returnCount += 1 }
        if isReturn, returnCount > Self.maximumReturnCount {
          piece = Piece(movieStart: time, duration: piece.duration, mediaStart: nil, start: 0)
          warning = "A part of the track that plays earlier media again is left out."
        } else {
          mediaEnd = piece.stop ?? .max
        }
      }
      time = saturatingSum(time, duration)
      if let last = pieces.last, Self.continues(last, piece, timescale: movieTimescale) {
        // What goes on needs no segment of its own, for which decoding would start anew.
        pieces[pieces.count - 1].duration = isOpen ? nil : time - last.movieStart
      } else {
        pieces.append(piece)
      }
    }
    if !pieces.contains(where: { $0.mediaStart != nil }) {
      pieces = [
        Piece(
          movieStart: 0, mediaStart: 0,
          start: Self.timestamp(0, lag: lag, timescale: track.timescale))
      ]
    }
    self.pieces = pieces
    self.warning = warning
  }

  /// Whether a piece begins where the one in front of it ends, in the media too, but for rounding;
  /// or both show nothing.
  private static func continues(_ last: Piece, _ next: Piece, timescale: UInt32) -> Bool {
    if last.mediaStart == nil, next.mediaStart == nil { return true }
    guard last.mediaStart != nil, next.mediaStart != nil, last.rate == next.rate,
      let stop = last.stop
    else { return false }
    let distance = stop > next.start ? stop - next.start : next.start - stop
    return distance <= rounding(timescale)
  }

  /// By how much times may differ that are meant to be the same.
  private static func rounding(_ timescale: UInt32) -> ClockTime {
    .second / UInt64(max(timescale, 1)) + 1
  }

  /// What has to be added to a track's media times so that no sample is presented before it is
  /// decoded, in units of its timescale.
  static func lag(_ track: Track) -> Int64 {
    max(0, -Int64(track.samples.leastCompositionOffset))
  }

  /// The PTS of a presentation time of the media.
  func pts(_ time: Int64) -> ClockTime { Self.timestamp(time, lag: lag, timescale: timescale) }

  /// The DTS of a decode time of the media.
  func dts(_ time: Int64) -> ClockTime { Self.timestamp(time, lag: 0, timescale: timescale) }

  /// The last media time whose PTS is not behind `timestamp`.
  func mediaTime(of timestamp: ClockTime) -> Int64 {
    let next = saturatingSum(timestamp, 1).multipliedFullWidth(by: UInt64(timescale))
    guard next.high < ClockTime.second else { return .max }
    let (quotient, remainder) = ClockTime.second.dividingFullWidth(next)
    let units = remainder == 0 ? (quotient > 0 ? quotient - 1 : 0) : quotient
    return saturatingDifference(Int64(clamping: units), lag)
  }

  /// The piece that plays at a time of the movie: the last one that begins by then.
  func piece(at time: ClockTime) -> Int {
    var low = 0
    var high = pieces.count
    while low < high {
      let middle = low + (high - low) / 2
      if pieces[middle].movieStart <= time { low = middle + 1 } else { high = middle }
    }
    return max(0, low - 1)
  }

  /// Where the last piece ends; nil where that depends on the media.
  var end: ClockTime? { pieces.last?.movieEnd }

  private static func timestamp(_ time: Int64, lag: Int64, timescale: UInt32) -> ClockTime {
    let (sum, overflow) = time.addingReportingOverflow(lag)
    guard !overflow, sum > 0 else { return 0 }
    return min(scale(sum.magnitude, .second, UInt64(timescale)), Self.maximumTimestamp)
  }

  /// Some hundred years: sums of a few of these do not overflow.
  private static let maximumTimestamp = ClockTime(Int64.max / 2)
}

/// `a + b`, as near as a ClockTime that is not `GST_CLOCK_TIME_NONE` gets.
func saturatingSum(_ a: ClockTime, _ b: ClockTime) -> ClockTime {
  let (sum, overflow) = a.addingReportingOverflow(b)
  return overflow ? .max - 1 : min(sum, .max - 1)
}
