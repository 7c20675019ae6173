// SPDX-License-Identifier: MPL-2.0

import GStreamer

/// What the pad of one eye takes.
enum StereoEyeCaps {
  /// Raw video, encoded here.
  static let raw = Caps(
    "video/x-raw",
    [
      "format": .strings(RawFormat.names), "width": .intRange(1...16384),
      "height": .intRange(1...16384),
    ])

  /// Raw video, or H.265 of one layer to be woven: what a pad of an eye is linked for.
  static let template: Caps = {
    let caps = raw.with()
    caps.append("video/x-h265", coded + [("views", 1)])
    return caps
  }()

  /// The same, where a stream need not say that it has one view: few do.
  static let any: Caps = {
    let caps = raw.with()
    caps.append("video/x-h265", coded)
    return caps
  }()

  private static let coded: [(String, Value)] = [
    ("stream-format", .strings(["hvc1", "hev1", "byte-stream"])), ("alignment", "au"),
  ]
}
