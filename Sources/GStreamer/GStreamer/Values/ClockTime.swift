// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A time or a duration in nanoseconds: `GstClockTime`. `nil` stands for `GST_CLOCK_TIME_NONE`.
public typealias ClockTime = UInt64

extension ClockTime {
  /// `GST_SECOND`.
  public static var second: ClockTime { 1_000_000_000 }

  /// nil for `GST_CLOCK_TIME_NONE`.
  init?(cValue: GstClockTime) {
    guard cValue != .max else { return nil }
    self.init(cValue)
  }
}

extension ClockTime? {
  /// `GST_CLOCK_TIME_NONE` for nil.
  var cValue: GstClockTime { map { GstClockTime($0) } ?? .max }
}

/// `value * numerator / denominator` in 128 bits, saturated; 0 for a denominator of 0.
public func scale(_ value: UInt64, _ numerator: UInt64, _ denominator: UInt64) -> UInt64 {
  denominator == 0
    ? 0 : UInt64(gst_util_uint64_scale(guint64(value), guint64(numerator), guint64(denominator)))
}

/// The same, rounded to the nearest.
public func scaleRounded(_ value: UInt64, _ numerator: UInt64, _ denominator: UInt64) -> UInt64 {
  denominator == 0
    ? 0
    : UInt64(gst_util_uint64_scale_round(guint64(value), guint64(numerator), guint64(denominator)))
}

/// The time of a clock that never jumps, from a start of its own.
public func monotonicTime() -> ClockTime { ClockTime(gst_util_get_timestamp()) }

/// The time of the wall clock, in nanoseconds since 1 January 1970.
public func nanosecondsSince1970() -> Int64 { Int64(g_get_real_time()) &* 1000 }

/// The time of the wall clock, in seconds since 1 January 1970.
public func secondsSince1970() -> Int64 { Int64(g_get_real_time() / 1_000_000) }
