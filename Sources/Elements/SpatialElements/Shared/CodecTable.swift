// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF

/// Formats found in movies and their caps, in both directions: from a sample entry type to caps,
/// and from caps to a sample entry type.
///
/// A format with a row is identified by its type alone. Audio formats with a configuration record
/// (AAC, AC-3, Opus, FLAC, ALAC, PCM) are handled where that is parsed.
struct CodecTable: Sendable {
  struct Row: Sendable {
    /// Sample entry types; the muxer writes the first.
    let types: [FourCC]
    let media: String
    let fields: [(key: String, value: Value)]

    init(_ types: FourCC..., media: String, _ fields: KeyValuePairs<String, Value> = [:]) {
      self.types = types
      self.media = media
      self.fields = Array(fields)
    }
  }

  /// Prefix of caps names for formats without a name in GStreamer: `video`, `audio` or `meta`.
  let kind: String
  let rows: [Row]
  /// Types without a name in GStreamer that `mvhevcmux` stores unchanged.
  let opaque: [FourCC]

  static let video = CodecTable(
    kind: "video",
    rows: [
      Row("hvc1", media: "video/x-h265", ["stream-format": "hvc1", "alignment": "au"]),
      Row("hev1", media: "video/x-h265", ["stream-format": "hev1", "alignment": "au"]),
      Row("avc1", media: "video/x-h264", ["stream-format": "avc", "alignment": "au"]),
      // Both views of MVC, with a record of both alone.
      Row("mvc1", "mvc2", media: "video/x-h264", ["stream-format": "avc", "alignment": "au"]),
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
      Row("m2v1", "mpg2", media: "video/mpeg", ["mpegversion": 2, "systemstream": false]),
      Row("m1v1", "mpg1", media: "video/mpeg", ["mpegversion": 1, "systemstream": false]),
      Row(
        "hdv1", "hdv2", "hdv3", "hdv5", "hdv6", "hdv7", "mx3n", "mx3p", "mx4n", "mx4p", "mx5n",
        "mx5p", "xdv1", "xdv2", "xdv3", "xdvb", "xdvc", media: "video/mpeg",
        ["mpegversion": 2, "systemstream": false]),
      Row(
        "dvc ", "dvcp", "dvpp", "dv5n", "dv5p", media: "video/x-dv", ["systemstream": false]),
      Row("h263", "s263", "H263", media: "video/x-h263", ["variant": "itu"]),
      Row("FFV1", media: "video/x-ffv", ["ffvversion": 1]),
      Row("CFHD", media: "video/x-cineform"),
      Row("png ", media: "image/png"),
      Row("rle ", media: "video/x-rle", ["layout": "quicktime"]),
      Row("SVQ1", media: "video/x-svq", ["svqversion": 1]),
      Row("cvid", media: "video/x-cinepak"),
      Row("rpza", media: "video/x-apple-video"),
      Row(
        "XVID", "xvid", "DIVX", "divx", "DX50", "3IVX", "FMP4", media: "video/mpeg",
        ["mpegversion": 4, "systemstream": false]),
      Row("2vuy", media: "video/x-raw", ["format": "UYVY"]),
      Row("yuvs", "yuv2", media: "video/x-raw", ["format": "YUY2"]),
      Row("v210", media: "video/x-raw", ["format": "v210"]),
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

  /// Timed metadata, time codes and texts: Apple's, ISO's and camera makers'.
  static let meta = CodecTable(
    kind: "meta", rows: [],
    opaque: [
      "mebx", "mett", "metx", "urim", "camm", "gpmd", "fdsc", "rtmd", "djmd", "dbgi", "CTMD",
      "tmcd", "text", "tx3g", "sbtt", "stxt", "stpp", "wvtt", "c608", "c708", "dfxp",
    ])

  /// Returns the row for a sample entry type; one with an opaque caps name if GStreamer has none.
  func row(_ type: FourCC) -> Row {
    rows.first { $0.types.contains(type) } ?? Row(type, media: opaqueName(type))
  }

  /// Returns the row for MPEG video whose kind is in a descriptor (`mp4v`, ISO/IEC 14496-14 5.6).
  ///
  /// - Parameter objectType: a number of ISO/IEC 14496-1 table 5.
  static func mpegVideo(objectType: UInt8) -> Row? {
    let version: Int32
    switch objectType {
    case 0x20: version = 4
    case 0x60...0x65: version = 2
    case 0x6A: version = 1
    case 0x6C: return Row("mp4v", media: "image/jpeg")
    case 0x6D: return Row("mp4v", media: "image/png")
    default: return nil
    }
    return Row(
      "mp4v", media: "video/mpeg", ["mpegversion": .int(version), "systemstream": false])
  }

  /// Returns the sample entry type for caps that the muxer accepts; nil for any others.
  func type(of caps: StructureView) -> FourCC? {
    rows.first { $0.media == caps.name }?.types.first
      ?? opaque.first { opaqueName($0) == caps.name }
  }

  /// Whether caps are those of a format that is stored without being understood.
  func isOpaque(_ caps: StructureView) -> Bool { opaque.contains { opaqueName($0) == caps.name } }

  /// Caps of all formats that the muxer accepts by type alone, in the order of their names.
  var caps: Caps {
    let caps = Caps.empty
    for row in rows { caps.append(row.media, row.fields) }
    for name in Set(opaque.map(opaqueName)).sorted() { caps.append(name, []) }
    return caps
  }

  /// Caps name for a type that has no name in GStreamer.
  private func opaqueName(_ type: FourCC) -> String {
    let name = type.description.utf8.map { byte -> String in
      let isPlain = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
      return isPlain ? String(decoding: [byte], as: UTF8.self) : "_"
    }
    return "\(kind)/x-gst-fourcc-\(name.joined())"
  }
}

/// The boxes of a movie's sample entry, except for the decoder's configuration, as a field of caps:
/// stereo description (`vexu`, `st3d`), pixel aspect ratio, colour, ambisonics (`SA3D`) and all
/// others. Caps and tags carry only part of it, so this keeps remuxing lossless. No decoder reads
/// it.
enum SampleEntryBoxes {
  /// The boxes, concatenated.
  static let field = "sample_entry_boxes"
  /// In bytes; more is not carried in caps.
  private static let maximumSize = 1 << 20

  /// Returns caps with the boxes of their stream's sample entry.
  static func add(_ boxes: [OpaqueBox], to caps: Caps) -> Caps {
    let bytes = boxes.flatMap(\.bytes)
    guard !bytes.isEmpty, bytes.count <= maximumSize else { return caps }
    return caps.with([field: .buffer(Buffer(bytes))])
  }

  /// Returns the boxes in caps; nil if these have none.
  static func read(_ caps: StructureView?) -> [OpaqueBox]? {
    caps?.buffer(field).map { OpaqueBox.all(in: $0.bytes) }
  }
}

extension PCMFormat {
  /// GStreamer's name of the sample format, such as `S16LE`.
  var capsName: String {
    let letter = isFloat ? "F" : isSigned ? "S" : "U"
    let order = bitsPerSample == 8 ? "" : isBigEndian ? "BE" : "LE"
    return "\(letter)\(bitsPerSample)\(order)"
  }

  /// Formats that the muxer writes.
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

/// Loudspeaker positions: the bits of QuickTime's `chan` and of GStreamer's `channel-mask`, which
/// has a second low-frequency channel at bit 9, before the side channels.
enum LoudspeakerBits {
  /// Returns GStreamer's mask for QuickTime's bitmap.
  static func mask(bitmap: UInt32) -> UInt64 {
    UInt64(bitmap & 0x1FF) | UInt64(bitmap >> 9 & 3) << 10
  }

  /// Returns QuickTime's bitmap for GStreamer's mask; nil if a loudspeaker has no bit there.
  static func bitmap(mask: UInt64) -> UInt32? {
    guard mask & ~0xDFF == 0 else { return nil }
    return UInt32(truncatingIfNeeded: mask & 0x1FF | (mask >> 10 & 3) << 9)
  }
}
