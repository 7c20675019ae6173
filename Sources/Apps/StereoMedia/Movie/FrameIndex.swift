// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import ISOBMFF
internal import MoviePlayer

/// The frames of a movie in presentation order, with their times, durations and sizes.
///
/// It is built from the movie's index on first use; nothing is decoded. A position in it is the
/// frame number of ``StereoFrame/index`` and ``StereoImageGenerator/frame(_:)``.
public struct FrameIndex: RandomAccessCollection, Sendable {
  /// An entry for one frame.
  public struct Element: Equatable, Sendable {
    /// Presentation time, from the movie's start.
    public let time: Duration
    /// Time until the next frame; 0 or more.
    public let duration: Duration
    /// Whether the frame is a sync sample, at which decoding can start.
    public let isSync: Bool
    /// Size of the coded frame in bytes, both eyes together.
    public let byteCount: Int
  }

  private let table: Table

  init(_ track: Track?, movieTimescale: UInt32, limit: Int) {
    table = Table(track, movieTimescale: movieTimescale, limit: limit)
  }

  /// Creates the index of frames that are generated on demand, in the order of their times;
  /// decoding can start at each.
  init(_ places: [(time: Duration, duration: Duration)]) {
    table = Table(
      places.enumerated().map { index, place in
        ShownSample(
          time: place.time.clockTime, end: (place.time + place.duration).clockTime, sample: index,
          size: 0, isSync: true)
      })
  }

  /// Always 0.
  public var startIndex: Int { 0 }
  /// The number of frames.
  public var endIndex: Int { table.samples.count }

  /// The entry of the frame at `index`, from 0 to `count` - 1.
  public subscript(index: Int) -> Element {
    let samples = table.samples
    let sample = samples[index]
    let end = index + 1 < samples.count ? samples[index + 1].time : sample.end
    return Element(
      time: sample.time.duration, duration: (end - sample.time).duration,
      isSync: sample.isSync, byteCount: Int(sample.size))
  }

  /// Returns the index of the frame that is shown at a time, which after the movie's end is the
  /// last one; nil before the first frame or if the movie has none.
  public func playing(at time: Duration) -> Int? {
    let samples = table.samples
    let index = samples.firstIndex(from: time.clockTime + 1) - 1
    return time >= .zero && index >= 0 ? index : nil
  }

  /// Returns the frames whose time is in `range`.
  func beginning(in range: Range<Duration>) -> Range<Int> {
    let samples = table.samples
    let first = samples.firstIndex(from: range.lowerBound.clockTime)
    return first..<Swift.max(first, samples.firstIndex(from: range.upperBound.clockTime))
  }

  /// Returns the frame to which a decoded picture with this timestamp belongs; nil before the first
  /// frame.
  ///
  /// The timestamp may be rounded, and that of the first picture after a seek is the seek position.
  func index(ofPictureAt time: ClockTime) -> Int? {
    let samples = table.samples
    let index = samples.firstIndex(from: time + Self.rounding + 1) - 1
    return index >= 0 ? index : nil
  }

  /// Maximum rounding error of timestamps.
  private static let rounding: ClockTime = 1000

  /// Returns the number of the track's sample that holds a frame, in decoding order.
  func sample(of index: Int) -> Int { table.samples[index].sample }

  /// Returns a time within a frame's duration, which rounding does not move into another frame.
  func middle(of index: Int) -> ClockTime {
    let frame = self[index]
    return frame.time.clockTime + frame.duration.clockTime / 3
  }

  /// Returns the frame before the sync sample at which decoding of a frame starts; nil if that is
  /// the first frame.
  ///
  /// Seeking to it recovers a frame that the decoder dropped. The libav decoders of GStreamer 1.26
  /// may do so just after a flush: one of their threads requests a buffer after its frame has been
  /// taken for one without output.
  func recoveryStart(of index: Int) -> Int? {
    guard let start = self[...index].lastIndex(where: \.isSync), start > startIndex else {
      return nil
    }
    return start - 1
  }

  /// The entries, built on first use, as most programs do not need them.
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
  /// Returns the position of the first sample at `time` or later.
  fileprivate func firstIndex(from time: ClockTime) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle].time < time { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
