// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// What positions and durations are counted in: `GstFormat`.
public struct Format: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  init(_ format: GstFormat) {
    rawValue = format.rawValue
  }

  var cValue: GstFormat { GstFormat(rawValue) }

  /// `GST_FORMAT_UNDEFINED`
  public static let undefined = Format(GST_FORMAT_UNDEFINED)
  /// `GST_FORMAT_DEFAULT`: what the stream itself counts in, such as frames.
  public static let stream = Format(GST_FORMAT_DEFAULT)
  /// `GST_FORMAT_BYTES`
  public static let bytes = Format(GST_FORMAT_BYTES)
  /// `GST_FORMAT_TIME`: nanoseconds.
  public static let time = Format(GST_FORMAT_TIME)
}
