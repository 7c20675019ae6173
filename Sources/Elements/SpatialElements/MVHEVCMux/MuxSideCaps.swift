// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

/// Tracks that are neither video nor audio, as output by `mvhevcdemux`: timed metadata, time codes
/// and texts. Their samples are written unchanged.
enum MuxMetaCaps {
  static let template = CodecTable.meta.caps

  /// Returns the sample entry for fixed caps.
  ///
  /// - Parameter track: the description of the track that the stream comes from, if any.
  static func sampleEntry(
    _ caps: Caps, pad: String, track: PrivateTrack?
  ) throws -> OtherSampleEntry {
    guard let structure = caps.first, let type = CodecTable.meta.type(of: structure),
      let payload = structure.buffer("codec_data")
    else {
      throw ElementError(
        .format, "The stream on \(pad) has no codec_data with its sample entry.", debug: "\(caps)")
    }
    return OtherSampleEntry(
      handlerType: track?.handlerType ?? "meta", type: type, payload: payload.bytes)
  }
}

/// Subtitle tracks.
enum MuxSubtitles {
  static let template = Caps("text/x-raw", ["format": "utf8"])
  /// Units per second.
  static let timescale: UInt32 = 90_000
  /// Duration of a text whose buffer has none.
  static let usualDuration = 3 * ClockTime.second

  /// Returns a buffer's text as a sample. The text ends at a zero byte, if there is one.
  static func sample(_ buffer: Buffer) -> Buffer {
    let text = String(decoding: buffer.bytes.prefix { $0 != 0 }, as: UTF8.self)
    return Buffer(TimedText.subtitle(text))
  }

  /// An empty text, shown between two texts.
  static var silence: Buffer { Buffer(TimedText.subtitle("")) }
}
