// SPDX-License-Identifier: LGPL-2.1-or-later

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

  /// Raw video, or H.265 of one layer to be woven.
  static let any: Caps = {
    let caps = raw.with()
    caps.append(
      "video/x-h265",
      [
        ("stream-format", .strings(["hvc1", "hev1", "byte-stream"])), ("alignment", "au"),
      ])
    return caps
  }()
}
