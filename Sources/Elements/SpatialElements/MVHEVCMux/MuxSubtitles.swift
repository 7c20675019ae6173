// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF

/// Texts that are shown for a while, as a track.
enum MuxSubtitles {
  static let template = Caps("text/x-raw", ["format": "utf8"])
  /// Units a second.
  static let timescale: UInt32 = 90_000
  /// How long a text is shown that does not say it.
  static let usualDuration = 3 * ClockTime.second

  /// A buffer's text as a sample; subtitles may end with a zero byte.
  static func sample(_ buffer: Buffer) -> Buffer {
    let text = String(decoding: buffer.bytes.prefix { $0 != 0 }, as: UTF8.self)
    return Buffer(TimedText.subtitle(text))
  }

  /// What is shown between two texts: nothing.
  static var silence: Buffer { Buffer(TimedText.subtitle("")) }
}
