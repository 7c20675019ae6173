// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF

/// The codings that movies hold and their caps, for both ways: from a sample entry's type to caps, and
/// from caps to a sample entry's type.
///
/// A coding that has a row is told by its type alone. Those of audio that have a configuration of their
/// own (AAC, AC-3, Opus, FLAC, ALAC, PCM) are translated where their configuration is.
struct CodecTable: Sendable {
  struct Row: Sendable {
    /// The types of the sample entries; movies that are written get the first.
    let types: [FourCC]
    let media: String
    let fields: [(key: String, value: Value)]

    init(_ types: FourCC..., media: String, _ fields: KeyValuePairs<String, Value> = [:]) {
      self.types = types
      self.media = media
      self.fields = Array(fields)
    }
  }

  /// What stands in the names of caps that have no name in GStreamer: `video`, `audio` or `meta`.
  let kind: String
  let rows: [Row]
  /// Types without a name in GStreamer that `mvhevcmux` takes as it is given them.
  let opaque: [FourCC]

  static let video = CodecTable(
    kind: "video",
    rows: [
      Row("hvc1", media: "video/x-h265", ["stream-format": "hvc1", "alignment": "au"]),
      Row("hev1", media: "video/x-h265", ["stream-format": "hev1", "alignment": "au"]),
      Row("avc1", media: "video/x-h264", ["stream-format": "avc", "alignment": "au"]),
      Row("avc3", media: "video/x-h264", ["stream-format": "avc3", "alignment": "au"]),
      Row("av01", media: "video/x-av1", ["stream-format": "obu-stream", "alignment": "tu"]),
      Row("vp08", media: "video/x-vp8"),
      Row("vp09", media: "video/x-vp9"),
      Row("jpeg", "mjpa", media: "image/jpeg"),
      Row("apch", media: "video/x-prores", ["variant": "hq"]),
      Row("apcn", media: "video/x-prores", ["variant": "standard"]),
      Row("apcs", media: "video/x-prores", ["variant": "lt"]),
      Row("apco", media: "video/x-prores", ["variant": "proxy"]),
      Row("ap4h", media: "video/x-prores", ["variant": "4444"]),
    ], opaque: [])

  static let audio = CodecTable(
    kind: "audio",
    rows: [
      Row("samr", media: "audio/AMR"),
      Row("sawb", media: "audio/AMR-WB"),
      Row("ima4", media: "audio/x-adpcm", ["layout": "quicktime"]),
      Row("alaw", media: "audio/x-alaw"),
      Row("ulaw", media: "audio/x-mulaw"),
    ],
    opaque: [
      "apac", "ac-4", "mha1", "mha2", "mhm1", "mhm2", "dtsc", "dtsh", "dtsl", "dtse", "dtsx",
      "mlpa", "iamf", "QDM2", "QDMC", "MAC3", "MAC6", "agsm", "Qclp", "sqcp", "sevc", "mp4a",
      "enca",
    ])

  /// Metadata that belongs to moments, time codes, texts: Apple's and ISO's own, and cameras'.
  static let meta = CodecTable(
    kind: "meta", rows: [],
    opaque: [
      "mebx", "mett", "metx", "urim", "camm", "gpmd", "fdsc", "rtmd", "djmd", "dbgi", "CTMD",
      "tmcd", "text", "tx3g", "sbtt", "stxt", "stpp", "wvtt", "c608", "c708", "dfxp",
    ])

  /// The row of a sample entry's type; one with a name of its own where GStreamer has none.
  func row(_ type: FourCC) -> Row {
    rows.first { $0.types.contains(type) } ?? Row(type, media: opaqueName(type))
  }

  /// The type of the sample entry for caps that a muxer takes; nil for any other.
  func type(of caps: StructureView) -> FourCC? {
    rows.first { $0.media == caps.name }?.types.first
      ?? opaque.first { opaqueName($0) == caps.name }
  }

  /// The caps of what a muxer takes by its type alone, in the order of their names.
  var caps: Caps {
    let caps = Caps.empty
    for row in rows { caps.append(row.media, row.fields) }
    for name in Set(opaque.map(opaqueName)).sorted() { caps.append(name, []) }
    return caps
  }

  /// The media type of something that GStreamer has no name for.
  private func opaqueName(_ type: FourCC) -> String {
    let name = type.description.utf8.map { byte -> String in
      let isPlain = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
      return isPlain ? String(decoding: [byte], as: UTF8.self) : "_"
    }
    return "\(kind)/x-gst-fourcc-\(name.joined())"
  }
}

extension PCMFormat {
  /// GStreamer's name, such as `S16LE`.
  var capsName: String {
    let letter = isFloat ? "F" : isSigned ? "S" : "U"
    let order = bitsPerSample == 8 ? "" : isBigEndian ? "BE" : "LE"
    return "\(letter)\(bitsPerSample)\(order)"
  }

  /// Those that go into movies.
  static let written: [PCMFormat] = {
    let kinds: [(isFloat: Bool, bits: [UInt16])] = [(false, [16, 24, 32]), (true, [32, 64])]
    let wide = kinds.flatMap { kind in
      kind.bits.flatMap { bits in
        [false, true].map {
          PCMFormat(bitsPerSample: bits, isFloat: kind.isFloat, isBigEndian: $0)
        }
      }
    }
    return [PCMFormat(bitsPerSample: 8), PCMFormat(bitsPerSample: 8, isSigned: false)] + wide
  }()
}

/// Which loudspeakers channels are for: bits of QuickTime's `chan`, and GStreamer's `channel-mask`,
/// which has a second low-frequency channel at bit 9, in front of the sides.
enum LoudspeakerBits {
  /// GStreamer's mask for QuickTime's bitmap.
  static func mask(bitmap: UInt32) -> UInt64 {
    UInt64(bitmap & 0x1FF) | UInt64(bitmap >> 9 & 3) << 10
  }

  /// QuickTime's bitmap for GStreamer's mask; nil where a loudspeaker has no bit there.
  static func bitmap(mask: UInt64) -> UInt32? {
    guard mask & ~0xDFF == 0 else { return nil }
    return UInt32(truncatingIfNeeded: mask & 0x1FF | (mask >> 10 & 3) << 9)
  }
}
