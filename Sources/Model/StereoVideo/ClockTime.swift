// SPDX-License-Identifier: MPL-2.0

/// A time or a duration in nanoseconds: a valid `GstClockTime`.
///
/// Times come from files and from other elements, so no operation traps: a result outside of 0 to
/// ``max`` is replaced by the nearest of the two. `GST_CLOCK_TIME_NONE` is no time; nil stands for
/// it.
public struct ClockTime: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
  /// At most `UInt64.max - 1`.
  public let nanoseconds: UInt64

  // All is inlinable, because each sample and each frame takes dozens of these operations.

  /// Creates the time nearest to a number of nanoseconds.
  @inlinable
  public init(nanoseconds: some BinaryInteger) {
    self.nanoseconds = min(UInt64(clamping: nanoseconds), .max - 1)
  }

  /// Creates a time from a number of nanoseconds; nil if that is negative, as where GStreamer has
  /// no time.
  @inlinable
  public init?(exactly nanoseconds: some SignedInteger) {
    guard nanoseconds >= 0 else { return nil }
    self.init(nanoseconds: nanoseconds)
  }

  /// Creates a time from a number of nanoseconds.
  @inlinable
  public init(integerLiteral nanoseconds: UInt64) { self.init(nanoseconds: nanoseconds) }

  /// Creates the time of a running time, or 0 if that is negative.
  @inlinable
  public init(clamping time: RunningTime) { self.init(nanoseconds: time.nanoseconds) }

  /// Creates the duration of a number of units, such as frames, at a rate of `rate / denominator`
  /// units per second, rounded down; 0 if the rate is not above 0.
  @inlinable
  public init(
    _ units: some BinaryInteger, perSecond rate: some BinaryInteger, over denominator: Int32 = 1
  ) {
    self = (Self.second * denominator).scaled(by: units, over: rate)
  }

  /// The largest time: `UInt64.max - 1` nanoseconds, almost 585 years.
  @inlinable
  public static var max: Self { ClockTime(nanoseconds: UInt64.max) }
  /// A second.
  @inlinable
  public static var second: ClockTime { 1_000_000_000 }
  /// A millisecond.
  @inlinable
  public static var millisecond: ClockTime { 1_000_000 }

  /// The time in seconds.
  @inlinable
  public var seconds: Double { Double(nanoseconds) / 1e9 }

  /// Returns the number of whole units, such as frames, that last so long at a rate of
  /// `rate / denominator` units per second; 0 if the denominator is not above 0.
  @inlinable
  public func units(perSecond rate: some BinaryInteger, over denominator: Int32 = 1) -> UInt64 {
    nanoseconds.scaled(
      by: UInt64(clamping: rate), over: (Self.second * denominator).nanoseconds)
  }

  /// Whether `a` is before, or shorter than, `b`.
  @inlinable
  public static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }

  /// Returns the sum, at most ``max``.
  @inlinable
  public static func + (a: Self, b: Self) -> Self {
    Self(nanoseconds: a.nanoseconds.saturatingAdding(b.nanoseconds))
  }

  /// Returns the difference; 0 if `b` is greater.
  @inlinable
  public static func - (a: Self, b: Self) -> Self {
    Self(nanoseconds: a.nanoseconds.saturatingSubtracting(b.nanoseconds))
  }

  /// Adds a duration, up to ``max``.
  @inlinable
  public static func += (a: inout Self, b: Self) { a = a + b }

  /// Subtracts a duration, down to 0.
  @inlinable
  public static func -= (a: inout Self, b: Self) { a = a - b }

  /// Returns a multiple, at most ``max``; 0 if the count is negative.
  @inlinable
  public static func * (time: Self, count: some BinaryInteger) -> Self {
    time.scaled(by: count, over: 1)
  }

  /// Returns a multiple, at most ``max``; 0 if the count is negative.
  @inlinable
  public static func * (count: some BinaryInteger, time: Self) -> Self { time * count }

  /// Returns one of a number of equal parts, rounded down; 0 if the number is not above 0.
  @inlinable
  public static func / (time: Self, count: some BinaryInteger) -> Self {
    time.scaled(by: 1, over: count)
  }

  /// Returns the time multiplied by a fraction of whole numbers, rounded down; 0 if the numerator
  /// or the denominator is not above 0.
  @inlinable
  public func scaled(by numerator: some BinaryInteger, over denominator: some BinaryInteger)
    -> ClockTime
  {
    Self(
      nanoseconds: nanoseconds.scaled(
        by: UInt64(clamping: numerator), over: UInt64(clamping: denominator)))
  }

  /// Returns the time multiplied by a factor, rounded to the nearest; 0 for a negative factor and
  /// for NaN.
  @inlinable
  public func scaled(by factor: Double) -> ClockTime {
    // Not every time is a Double.
    guard factor != 1 else { return self }
    let product = (Double(nanoseconds) * factor).rounded()
    guard product > 0 else { return 0 }
    return product < 0x1p64 ? Self(nanoseconds: UInt64(product)) : .max
  }
}

/// A time in nanoseconds that may be negative: a running time, as of
/// `gst_segment_to_running_time_full`, or the difference of two times.
///
/// No operation traps: a result outside of ``min`` to ``max`` is replaced by the nearest of the
/// two.
public struct RunningTime: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
  /// The number of nanoseconds.
  public let nanoseconds: Int64

  /// Creates the running time nearest to a number of nanoseconds.
  @inlinable
  public init(nanoseconds: some BinaryInteger) { self.nanoseconds = Int64(clamping: nanoseconds) }

  /// Creates a running time from a number of nanoseconds.
  @inlinable
  public init(integerLiteral nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Creates the running time of a time, at most ``max``.
  @inlinable
  public init(clamping time: ClockTime) { self.init(nanoseconds: time.nanoseconds) }

  /// The earliest running time: `Int64.min` nanoseconds.
  @inlinable
  public static var min: Self { RunningTime(nanoseconds: Int64.min) }
  /// The latest running time: `Int64.max` nanoseconds, 292 years.
  @inlinable
  public static var max: Self { RunningTime(nanoseconds: Int64.max) }

  /// The running time in seconds.
  @inlinable
  public var seconds: Double { Double(nanoseconds) / 1e9 }

  /// The distance from 0.
  @inlinable
  public var magnitude: ClockTime { ClockTime(nanoseconds: nanoseconds.magnitude) }

  /// Whether `a` is before, or shorter than, `b`.
  @inlinable
  public static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }

  /// Returns the sum, within ``min`` to ``max``.
  @inlinable
  public static func + (a: Self, b: Self) -> Self {
    Self(nanoseconds: a.nanoseconds.saturatingAdding(b.nanoseconds))
  }

  /// Returns the difference, within ``min`` to ``max``.
  @inlinable
  public static func - (a: Self, b: Self) -> Self {
    Self(nanoseconds: a.nanoseconds.saturatingSubtracting(b.nanoseconds))
  }

  /// Returns the running time a duration later, at most ``max``.
  @inlinable
  public static func + (time: Self, duration: ClockTime) -> Self {
    Self(nanoseconds: Int128(time.nanoseconds) + Int128(duration.nanoseconds))
  }

  /// Returns the running time a duration earlier, at least ``min``.
  @inlinable
  public static func - (time: Self, duration: ClockTime) -> Self {
    Self(nanoseconds: Int128(time.nanoseconds) - Int128(duration.nanoseconds))
  }
}

// Arithmetic of numbers that come from files: none of it may trap.

extension FixedWidthInteger {
  /// Returns `self + other`, or the nearest representable number.
  @inlinable
  package func saturatingAdding(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// Returns `self - other`, or the nearest representable number.
  @inlinable
  package func saturatingSubtracting(_ other: Self) -> Self {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }
}

extension UInt64 {
  /// Returns `self * numerator / denominator`, rounded down, or the nearest representable number; 0
  /// if the denominator is 0.
  @inlinable
  package func scaled(by numerator: UInt64, over denominator: UInt64) -> UInt64 {
    guard denominator > 0 else { return 0 }
    let (high, low) = multipliedFullWidth(by: numerator)
    // A division of 128 bits takes several times as long.
    guard high > 0 else { return low / denominator }
    return high < denominator ? denominator.dividingFullWidth((high, low)).quotient : .max
  }
}
