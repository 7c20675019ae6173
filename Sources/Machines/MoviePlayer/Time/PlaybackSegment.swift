// SPDX-License-Identifier: MPL-2.0

import StereoVideo

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
  public var start: Nanoseconds = 0
  /// Timestamp of the end, exclusive; nil for the end of the stream.
  public var stop: Nanoseconds?
  /// Stream time of `start`.
  public var time: Nanoseconds = 0
  /// Running time at which the segment begins.
  public var base: Nanoseconds = 0
  /// How much of the segment was already played before `base`, from the end at which playback
  /// began.
  public var offset: Nanoseconds = 0
  /// Current position, as a timestamp.
  public var position: Nanoseconds = 0
  /// Duration of the whole stream in nanoseconds; nil if unknown.
  public var duration: Nanoseconds?

  /// Creates a segment that plays a whole stream at normal rate.
  public init() {}

  /// Returns the stream time of a timestamp. A timestamp before the segment counts as its start.
  public func streamTime(of timestamp: Nanoseconds) -> Nanoseconds {
    let distance = timestamp - min(timestamp, start)
    return saturatingSum(
      time, appliedRate == 1 ? distance : Self.scaled(distance, by: appliedRate.magnitude))
  }

  /// Returns the running time of a timestamp, clamped to the segment.
  func runningTime(of timestamp: Nanoseconds) -> Nanoseconds {
    let place = min(max(timestamp, start), stop ?? .max)
    let distance = rate > 0 ? place - start : (stop ?? place) - place
    let played = distance - min(distance, offset)
    return saturatingSum(
      base, rate.magnitude == 1 ? played : Self.scaled(played, by: 1 / rate.magnitude))
  }

  /// Returns a length times a factor, rounded and saturated.
  static func scaled(_ length: Nanoseconds, by factor: Double) -> Nanoseconds {
    let product = (Double(length) * factor).rounded()
    guard product < 0x1p64 else { return .max - 1 }
    return Nanoseconds(product)
  }
}

/// A time or a duration in nanoseconds.
public typealias Nanoseconds = UInt64

extension Nanoseconds {
  static var second: Nanoseconds { 1_000_000_000 }
}

/// Returns `value * numerator / denominator`, computed in 128 bits, rounded down and saturated; 0
/// if the denominator is 0.
func scale(_ value: UInt64, _ numerator: UInt64, _ denominator: UInt64) -> UInt64 {
  guard denominator > 0 else { return 0 }
  let product = value.multipliedFullWidth(by: numerator)
  guard product.high < denominator else { return .max }
  return denominator.dividingFullWidth(product).quotient
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
  func time(of units: UInt64) -> Nanoseconds {
    scale(units, UInt64(denominator) * .second, UInt64(numerator))
  }
}
