// SPDX-License-Identifier: MPL-2.0

import StereoVideo

/// Which part of a stream is played, and how its timestamps become time: what GStreamer calls a
/// segment (`GstSegment`).
///
/// Three time lines meet here. *Timestamps* are what samples carry. The *stream time* says where
/// in the movie they belong. The *running time* says when they are due, counted from the last
/// flush.
public struct PlaybackSegment: Hashable, Sendable {
  /// How it is played.
  public struct Flags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    /// Running time begins anew: all that was under way has been dropped.
    public static let reset = Flags(rawValue: 1 << 0)
    /// Frames may be left out.
    public static let trickMode = Flags(rawValue: 1 << 1)
    /// Its end is told as that of a segment, not as that of the stream, so that another may follow
    /// without a break.
    public static let endsWithSegmentDone = Flags(rawValue: 1 << 2)
    /// Of video only what decodes by itself is played.
    public static let keyUnitsOnly = Flags(rawValue: 1 << 3)
    /// Of video only what decodes without later pictures is wanted; more may come.
    public static let forwardPredicted = Flags(rawValue: 1 << 4)
    /// Audio is not played.
    public static let withoutAudio = Flags(rawValue: 1 << 5)
  }

  public var flags: Flags = []
  /// How fast it is played; below 0 backwards, never 0.
  public var rate = 1.0
  /// The speed that the timestamps have in them already.
  public var appliedRate = 1.0
  /// The timestamp that it begins with.
  public var start: Nanoseconds = 0
  /// The timestamp that it ends before; nil where it goes on to the end of the stream.
  public var stop: Nanoseconds?
  /// The stream time of `start`.
  public var time: Nanoseconds = 0
  /// The running time that it begins with.
  public var base: Nanoseconds = 0
  /// How much of it was played before `base`, counted from the end that it begins at.
  public var offset: Nanoseconds = 0
  /// How far it has been played, as a timestamp.
  public var position: Nanoseconds = 0
  /// The length of the whole stream; nil where it is not known.
  public var duration: Nanoseconds?

  public init() {}

  /// The stream time of a timestamp: when what has it is shown on the movie's time line. What lies
  /// before the segment counts as its start.
  public func streamTime(of timestamp: Nanoseconds) -> Nanoseconds {
    let distance = timestamp - min(timestamp, start)
    return saturatingSum(
      time, appliedRate == 1 ? distance : Self.scaled(distance, by: appliedRate.magnitude))
  }

  /// The running time of a timestamp inside the segment.
  func runningTime(of timestamp: Nanoseconds) -> Nanoseconds {
    let place = min(max(timestamp, start), stop ?? .max)
    let distance = rate > 0 ? place - start : (stop ?? place) - place
    let played = distance - min(distance, offset)
    return saturatingSum(
      base, rate.magnitude == 1 ? played : Self.scaled(played, by: 1 / rate.magnitude))
  }

  /// A length times a factor, as near as there is such a time.
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

/// `value * numerator / denominator` in 128 bits, rounded down and saturated; 0 for a denominator
/// of 0.
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

  /// In lowest terms; nil where a part is not above 0 or does not fit.
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

  /// The time of so many units of which there are this many a second.
  func time(of units: UInt64) -> Nanoseconds {
    scale(units, UInt64(denominator) * .second, UInt64(numerator))
  }
}
