// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import ISOBMFF
internal import MoviePlayer

/// The frames of a movie in the order in which they are shown: when, for how long, and how large.
///
/// It is read from the movie's index when it is asked for first; nothing is decoded. A frame's
/// position in it is what ``StereoFrame/index`` and ``StereoImageGenerator/frame(_:)`` mean.
public struct FrameIndex: RandomAccessCollection, Sendable {
  /// One frame.
  public struct Element: Equatable, Sendable {
    /// On the movie's time line, from its beginning.
    public let time: Duration
    /// Until the next frame is shown; above or equal to 0.
    public let duration: Duration
    /// Decoding can start here.
    public let isSync: Bool
    /// The size of the coded frame, both eyes together.
    public let byteCount: Int
  }

  private let table: Table

  init(_ track: Track?, movieTimescale: UInt32, limit: Int) {
    table = Table(track, movieTimescale: movieTimescale, limit: limit)
  }

  /// Frames that are made when they are asked for, in the order of their times: any can come first.
  init(_ places: [(time: Duration, duration: Duration)]) {
    table = Table(
      places.enumerated().map { index, place in
        ShownSample(
          time: place.time.clockTime, end: (place.time + place.duration).clockTime, sample: index,
          size: 0, isSync: true)
      })
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { table.samples.count }

  /// The frame of an index from 0 to `count` - 1.
  public subscript(index: Int) -> Element {
    let samples = table.samples
    let sample = samples[index]
    let end = index + 1 < samples.count ? samples[index + 1].time : sample.end
    return Element(
      time: .nanoseconds(Int64(clamping: sample.time)),
      duration: .nanoseconds(Int64(clamping: end > sample.time ? end - sample.time : 0)),
      isSync: sample.isSync, byteCount: Int(sample.size))
  }

  /// The index of the frame that is shown at a time: the last one that has begun by then, which
  /// behind the movie's end is its last one; nil before the first frame, and in a movie without
  /// frames.
  public func playing(at time: Duration) -> Int? {
    let samples = table.samples
    let index = samples.firstIndex(from: time.clockTime &+ 1) - 1
    return time >= .zero && index >= 0 ? index : nil
  }

  /// The frames that begin in a part of the movie.
  func beginning(in range: Range<Duration>) -> Range<Int> {
    let samples = table.samples
    let first = samples.firstIndex(from: range.lowerBound.clockTime)
    return first..<Swift.max(first, samples.firstIndex(from: range.upperBound.clockTime))
  }

  /// The frame that a decoded picture of this time is; nil where it is none.
  ///
  /// Times were rounded on the way, and the first picture behind a jump has the time of the jump.
  func index(ofPictureAt time: ClockTime) -> Int? {
    let samples = table.samples
    let index = samples.firstIndex(from: time &+ Self.rounding &+ 1) - 1
    return index >= 0 ? index : nil
  }

  /// By how much times may differ that are meant to be the same, in nanoseconds.
  private static let rounding: ClockTime = 1000

  /// Which sample of the track a frame is, in decoding order.
  func sample(of index: Int) -> Int { table.samples[index].sample }

  /// A time at which exactly one frame is shown, whatever rounding does to it.
  func middle(of index: Int) -> ClockTime {
    let frame = self[index]
    return frame.time.clockTime &+ frame.duration.clockTime / 3
  }

  /// The frame before the one that decoding starts at for a frame; nil where it starts at the first one.
  ///
  /// From there on, a frame is had that a decoder lost. The libav decoders of GStreamer 1.26 do that soon
  /// behind a flush: a thread of theirs asks for memory after its frame was taken for one without pictures.
  func earlierStart(of index: Int) -> Int? {
    guard let start = self[...index].lastIndex(where: \.isSync), start > startIndex else {
      return nil
    }
    return start - 1
  }

  /// Made when it is needed: most programs that look at a movie do not ask for its frames.
  private final class Table: Sendable {
    private let track: Track?
    private let movieTimescale: UInt32
    private let limit: Int
    private let made: Locked<[ShownSample]?>

    init(_ track: Track?, movieTimescale: UInt32, limit: Int) {
      (self.track, self.movieTimescale, self.limit) = (track, movieTimescale, limit)
      made = Locked(nil)
    }

    init(_ samples: [ShownSample]) {
      (track, movieTimescale, limit) = (nil, 0, 0)
      made = Locked(samples)
    }

    var samples: [ShownSample] {
      made.withLock { made in
        if let made { return made }
        let samples =
          track.map {
            ShownSample.all(of: $0, movieTimescale: movieTimescale, limit: limit)
          } ?? []
        made = samples
        return samples
      }
    }
  }
}

extension [ShownSample] {
  /// The position of the first one that begins at a time or later.
  fileprivate func firstIndex(from time: ClockTime) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle].time < time { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Duration {
  /// In nanoseconds; 0 for what is below that.
  var clockTime: ClockTime {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let whole = ClockTime(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return whole.overflow
      ? ClockTime(Int64.max)
      : Swift.min(
        whole.partialValue &+ ClockTime(attoseconds / 1_000_000_000), ClockTime(Int64.max))
  }

  init(_ time: ClockTime) { self = .nanoseconds(Int64(clamping: time)) }
}
