// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

@_exported public import struct StereoVideo.ClockTime
@_exported public import struct StereoVideo.RunningTime

extension ClockTime {
  /// nil for `GST_CLOCK_TIME_NONE`.
  package init?(cValue: GstClockTime) {
    guard cValue != .max else { return nil }
    self.init(nanoseconds: cValue)
  }

  package var cValue: GstClockTime { GstClockTime(nanoseconds) }
}

extension ClockTime? {
  /// `GST_CLOCK_TIME_NONE` for nil.
  package var cValue: GstClockTime { self?.cValue ?? .max }
}

/// Returns the time of a monotonic clock since an arbitrary start.
public func monotonicTime() -> ClockTime { ClockTime(nanoseconds: gst_util_get_timestamp()) }

/// Returns the wall-clock time, in nanoseconds since 1970-01-01 00:00 UTC.
public func nanosecondsSince1970() -> Int64 { Int64(g_get_real_time()) &* 1000 }

/// Returns the wall-clock time, in seconds since 1970-01-01 00:00 UTC.
public func secondsSince1970() -> Int64 { Int64(g_get_real_time() / 1_000_000) }

/// Returns the time to note in files that are written now, in seconds since 1970-01-01 00:00 UTC:
/// that of the environment variable `SOURCE_DATE_EPOCH`, which makes two runs write the same bytes,
/// or else the wall-clock time.
///
/// https://reproducible-builds.org/specs/source-date-epoch/
public func secondsSince1970ForFiles() -> Int64 {
  let given = g_getenv("SOURCE_DATE_EPOCH").flatMap { Int64(String(cString: $0)) }
  return given.flatMap { $0 >= 0 ? $0 : nil } ?? secondsSince1970()
}

/// A date, with the time and the offset from UTC if known: `GstDateTime`.
public struct DateTime: Sendable {
  /// In ISO 8601 format, such as `2026-01-31T09:30:00+0100`, up to the last known field.
  public let text: String
  /// Seconds since 1970-01-01 00:00 UTC; nil if the time of day is unknown.
  public let secondsSince1970: Int64?

  /// Parses ISO 8601; nil if the text is not a date.
  public init?(_ text: String) {
    // For some numbers out of range, GStreamer logs a critical warning.
    guard Self.isDate(text), let date = gst_date_time_new_from_iso8601_string(text) else {
      return nil
    }
    defer { gst_date_time_unref(date) }
    self.init(date)
  }

  /// Creates a date in the years 1 to 9999; nil for any other.
  public init?(secondsSince1970 seconds: Int64) {
    guard (-62_135_596_800...253_402_300_799).contains(seconds),
      let date = gst_date_time_new_from_unix_epoch_utc(gint64(seconds))
    else { return nil }
    defer { gst_date_time_unref(date) }
    self.init(date)
  }

  fileprivate init?(_ date: OpaquePointer) {
    guard let text = adopt(gst_date_time_to_iso8601_string(date)) else { return nil }
    self.text = text
    guard gst_date_time_has_time(date) != 0, let moment = gst_date_time_to_g_date_time(date) else {
      secondsSince1970 = nil
      return
    }
    secondsSince1970 = Int64(g_date_time_to_unix(moment))
    g_date_time_unref(moment)
  }

  /// Whether a text is `YYYY-MM-DDThh:mm:ss.f+hh:mm` or the beginning of it; the last colon is
  /// optional.
  private static func isDate(_ text: String) -> Bool {
    var rest = Array(text.utf8)[...]
    func take(_ characters: String) -> Bool {
      guard let first = rest.first, characters.utf8.contains(first) else { return false }
      rest.removeFirst()
      return true
    }
    func number(_ digits: Int, _ range: ClosedRange<Int>) -> Bool {
      let field = rest.prefix(digits)
      guard field.count == digits, field.allSatisfy({ (0x30...0x39).contains($0) }) else {
        return false
      }
      rest.removeFirst(digits)
      return range.contains(field.reduce(0) { $0 * 10 + Int($1) - 0x30 })
    }
    guard number(4, 1...9999) else { return false }
    for limit in [12, 31] where !rest.isEmpty {
      guard take("-"), number(2, 1...limit) else { return false }
    }
    guard !rest.isEmpty else { return true }
    guard take("T "), number(2, 0...23), take(":"), number(2, 0...59) else { return false }
    if take(":") {
      guard number(2, 0...59) else { return false }
      if take(".") { rest = rest.drop { (0x30...0x39).contains($0) } }
    }
    if rest.isEmpty { return true }
    if take("Z") { return rest.isEmpty }
    let isEast = rest.first == UInt8(ascii: "+")
    guard take("+-"), number(2, 0...(isEast ? 13 : 11)) else { return false }
    _ = take(":")
    return (rest.isEmpty || number(2, 0...59)) && rest.isEmpty
  }
}

extension TagList {
  /// Sets a tag to a date, replacing its previous values.
  public func set(_ tag: String, _ date: DateTime) {
    guard let date = gst_date_time_new_from_iso8601_string(date.text) else { return }
    var value = GValue()
    g_value_init(&value, gst_date_time_get_type())
    g_value_take_boxed(&value, UnsafeMutableRawPointer(date))
    gst_tag_list_add_value(pointer, GST_TAG_MERGE_REPLACE, tag, &value)
    g_value_unset(&value)
  }

  /// Returns the first date of a tag.
  public func dateTime(_ tag: String) -> DateTime? {
    var date: OpaquePointer?
    guard gst_tag_list_get_date_time_index(pointer, tag, 0, &date) != 0, let date else {
      return nil
    }
    defer { gst_date_time_unref(date) }
    return DateTime(date)
  }
}

extension ClockTime {
  /// The time as a duration.
  package var duration: Duration { .nanoseconds(Int64(clamping: nanoseconds)) }
}

extension Duration {
  /// The duration as a time; 0 if it is negative.
  package var clockTime: ClockTime { ClockTime(nanoseconds: attoseconds / 1_000_000_000) }

  /// The duration in seconds.
  package var seconds: Double { self / .seconds(1) }
}
