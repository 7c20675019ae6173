// SPDX-License-Identifier: LGPL-2.1-or-later

public import CGStreamer

/// What positions and durations are counted in: `GstFormat`.
public typealias Format = GstFormat

extension GstFormat {
  /// `GST_FORMAT_UNDEFINED`
  public static let undefined = GST_FORMAT_UNDEFINED
  /// `GST_FORMAT_DEFAULT`: what the stream itself counts in, such as frames.
  public static let stream = GST_FORMAT_DEFAULT
  /// `GST_FORMAT_BYTES`
  public static let bytes = GST_FORMAT_BYTES
  /// `GST_FORMAT_TIME`: nanoseconds.
  public static let time = GST_FORMAT_TIME
}
