// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Which part of a stream is played, and how its timestamps become time: what GStreamer calls a
/// segment (`GstSegment`).
///
/// Three timelines are involved. *Timestamps* are carried by samples. *Stream time* is the
/// position within the movie. *Running time* says when a sample is due, counted from the last
/// flush.
public struct PlaybackSegment: Hashable, Sendable {
  /// How the segment is played.
  public struct Flags: OptionSet, Hashable, Sendable {
    /// The bits, which are the library's own and not those of `GstSegmentFlags`.
    public let rawValue: UInt32

    /// Creates flags from their bits.
    public init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    /// Running time starts again at 0 because everything in progress has been dropped.
    public static let reset = Flags(rawValue: 1 << 0)
    /// Frames may be skipped.
    public static let trickMode = Flags(rawValue: 1 << 1)
    /// The end is signalled as segment-done instead of end of stream, so that another segment may
    /// follow without a gap.
    public static let endsWithSegmentDone = Flags(rawValue: 1 << 2)
    /// Only video samples that can be decoded on their own are played.
    public static let keyUnitsOnly = Flags(rawValue: 1 << 3)
    /// Only video samples that decode without later pictures are needed; more may be sent.
    public static let forwardPredicted = Flags(rawValue: 1 << 4)
    /// Audio is not played.
    public static let withoutAudio = Flags(rawValue: 1 << 5)
  }

  /// How the segment is played.
  public var flags: Flags = []
  /// Playback rate; negative is backwards, never 0.
  public var rate = 1.0
  /// Rate that the timestamps already include.
  public var appliedRate = 1.0
  /// Timestamp of the start.
  public var start: ClockTime = 0
  /// Timestamp of the end, exclusive; nil for the end of the stream.
  public var stop: ClockTime?
  /// Stream time of `start`.
  public var time: ClockTime = 0
  /// Running time at which the segment begins.
  public var base: ClockTime = 0
  /// How much of the segment was already played before `base`, from the end at which playback
  /// began.
  public var offset: ClockTime = 0
  /// Current position, as a timestamp.
  public var position: ClockTime = 0
  /// Duration of the whole stream; nil if unknown.
  public var duration: ClockTime?

  /// Creates a segment that plays a whole stream at normal rate.
  public init() {}

  /// Returns the stream time of a timestamp. A timestamp before the segment counts as its start.
  public func streamTime(of timestamp: ClockTime) -> ClockTime {
    time + (timestamp - start).scaled(by: appliedRate.magnitude)
  }

  /// Returns the running time of a timestamp, clamped to the segment.
  func runningTime(of timestamp: ClockTime) -> ClockTime {
    let place = min(max(timestamp, start), stop ?? .max)
    let distance = rate > 0 ? place - start : (stop ?? place) - place
    return base + (distance - offset).scaled(by: 1 / rate.magnitude)
  }
}

/// A number as a fraction: frames a second, or the shape of a pixel.
public struct Ratio: Hashable, Sendable {
  /// 1 or more.
  public let numerator: Int32
  /// 1 or more.
  public let denominator: Int32

  /// Creates a fraction in lowest terms; nil if either part is not positive or does not fit.
  public init?(_ numerator: some BinaryInteger, _ denominator: some BinaryInteger) {
    guard let top = UInt64(exactly: numerator), let bottom = UInt64(exactly: denominator),
      top > 0, bottom > 0
    else { return nil }
    var (a, b) = (top, bottom)
    while b > 0 { (a, b) = (b, a % b) }
    guard let top = Int32(exactly: top / a), let bottom = Int32(exactly: bottom / a) else {
      return nil
    }
    (self.numerator, self.denominator) = (top, bottom)
  }

  /// Returns the duration of `units` units when this is the number of units per second.
  func time(of units: some BinaryInteger) -> ClockTime {
    ClockTime(units, perSecond: numerator, over: denominator)
  }
}
