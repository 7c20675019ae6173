import CGStreamer
import GStreamer
import HEVC
import ISOBMFF
import MoviePlayer
import StereoVideo

/// The caps of video tracks and of their eyes.
enum DemuxVideoCaps {
  /// Coded video by the types of its sample entries.
  private static let codecs: [(types: [FourCC], media: String, fields: [(String, Value)])] = [
    (["hvc1"], "video/x-h265", [("stream-format", "hvc1"), ("alignment", "au")]),
    (["hev1"], "video/x-h265", [("stream-format", "hev1"), ("alignment", "au")]),
    (["avc1"], "video/x-h264", [("stream-format", "avc"), ("alignment", "au")]),
    (["avc3"], "video/x-h264", [("stream-format", "avc3"), ("alignment", "au")]),
    (["av01"], "video/x-av1", [("stream-format", "obu-stream"), ("alignment", "tu")]),
    (["vp08"], "video/x-vp8", []),
    (["vp09"], "video/x-vp9", []),
    (["jpeg", "mjpa"], "image/jpeg", []),
    (["apch"], "video/x-prores", [("variant", "hq")]),
    (["apcn"], "video/x-prores", [("variant", "standard")]),
    (["apcs"], "video/x-prores", [("variant", "lt")]),
    (["apco"], "video/x-prores", [("variant", "proxy")]),
    (["ap4h"], "video/x-prores", [("variant", "4444")]),
  ]

  /// More of them, in bytes, is nothing to carry along in caps.
  private static let maximumBoxesSize = 1 << 20

  /// The caps of a track's samples as they are; opaque ones for a codec that has no caps here.
  ///
  /// - Parameter viewCount: how many views the samples hold in layers.
  static func samples(
    _ entry: VisualSampleEntry, _ description: VideoDescription, viewCount: Int
  ) -> Caps {
    let codec = codecs.first { $0.types.contains(entry.codec) }
    var fields: [(key: String, value: Value)] = (codec?.fields ?? []).map { ($0.0, $0.1) }
    fields.append(("width", .int(Int32(entry.width))))
    fields.append(("height", .int(Int32(entry.height))))
    let configuration = ["hvcC", "avcC", "av1C", "vpcC"] as [FourCC]
    let record = entry.configuration.first { configuration.contains($0.type) }
    if let record {
      fields.append(("codec_data", .buffer(Buffer(record.payload))))
    }
    if let lhvC = entry.lhvC {
      fields.append((LayeredCaps.layeredCodecData, .buffer(Buffer(lhvC))))
    }
    let others = entry.configuration.filter { $0 != record && $0.type != "lhvC" }
    let boxes = (others + entry.extensions).flatMap(\.bytes)
    if codec?.media == "video/x-h265", !boxes.isEmpty, boxes.count <= maximumBoxesSize {
      fields.append((LayeredCaps.sampleEntryBoxes, .buffer(Buffer(boxes))))
    }
    if codec != nil, codec?.media == "video/x-h265" || codec?.media == "video/x-h264" {
      fields.append(("parsed", true))
    }
    var caps = Caps(codec?.media ?? opaque("video", entry.codec), fields)
    if let record = entry.hvcC { addProfile(record, to: caps) }
    if viewCount > 1 {
      let record = entry.hvcC.flatMap { try? HEVCDecoderConfigurationRecord(bytes: $0) }
      caps = caps.with(views(viewCount, bitDepth: record?.bitDepthLuma))
    } else if let packing = entry.packing {
      caps = packing.adding(to: caps)
    } else if let mode = singleView(entry) {
      caps = caps.with(["multiview-mode": .string(mode)])
    }
    return description.adding(to: caps)
  }

  private static func views(_ count: Int, bitDepth: Int?) -> Fields {
    [
      "profile": .string(LayeredCaps.profiles[bitDepth ?? 8 > 8 ? 2 : 0]),
      "views": .int(Int32(clamping: count)),
    ]
  }

  /// The caps of H.265 without a container as it is.
  ///
  /// - Parameter upstream: what upstream says of it, if it does.
  static func elementary(_ format: ElementaryFormat, upstream: Caps?) -> Caps {
    var caps = (upstream ?? Caps("video/x-h265")).with([
      "stream-format": format.framing == .annexB ? "byte-stream" : "hvc1", "alignment": "au",
    ])
    if let rate = format.frameRate {
      caps = caps.with(["framerate": .fraction(Fraction(rate.numerator, rate.denominator))])
    }
    guard let count = format.viewCount else { return caps }
    let layered = caps.with(["parsed": true])
    return count > 1 ? layered.with(views(count, bitDepth: format.bitDepth)) : layered
  }

  /// Which eye alone the samples show, or that they are for both, where the sample entry says that.
  private static func singleView(_ entry: VisualSampleEntry) -> String? {
    switch entry.extendedUsage?.views?.intersection([.leftEye, .rightEye]) {
    case .some(.leftEye): return "left"
    case .some(.rightEye): return "right"
    default: return entry.stereoscopicMode == .monoscopic ? "mono" : nil
    }
  }

  /// The caps of one eye as a stream of its own.
  static func eye(_ eye: Eye, _ format: EyeFormat) throws -> Caps {
    let sets = format.parameterSets
    let record = try HEVCDecoderConfigurationRecord(sets)
    guard let first = sets.sequenceParameterSets.first else { throw FlowReturn.notNegotiated }
    let sps = try SequenceParameterSet(nalUnit: first)
    let size = sps.visibleSize
    let chroma =
      record.chromaFormatIDC < 4
      ? ["4:0:0", "4:2:0", "4:2:2", "4:4:4"][record.chromaFormatIDC] : ""
    let bytes = record.bytes
    let caps = Caps(
      "video/x-h265",
      [
        "stream-format": "hvc1", "alignment": "au", "parsed": true,
        "width": .int(Int32(clamping: size.width)), "height": .int(Int32(clamping: size.height)),
        "chroma-format": .string(chroma),
        "bit-depth-luma": .uint(UInt32(clamping: record.bitDepthLuma)),
        "bit-depth-chroma": .uint(UInt32(clamping: record.bitDepthChroma)),
        "multiview-mode": .string(format.isMono ? "mono" : eye.rawValue),
        "codec_data": .buffer(Buffer(bytes)),
      ])
    addProfile(bytes, to: caps)
    return format.description.adding(to: caps)
  }

  /// The media type of something that GStreamer has no name for.
  static func opaque(_ kind: String, _ type: FourCC) -> String {
    let name = type.description.utf8.map { byte -> String in
      let isPlain = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
      return isPlain ? String(decoding: [byte], as: UTF8.self) : "_"
    }
    return "\(kind)/x-gst-fourcc-\(name.joined())"
  }

  /// Profile, tier and level of a decoder configuration record.
  private static func addProfile(_ record: [UInt8], to caps: Caps) {
    guard caps.mediaType == "video/x-h265", record.count >= 13 else { return }
    let general = Array(record[1..<13])
    gst_codec_utils_h265_caps_set_level_tier_and_profile(
      caps.pointer, general, UInt32(general.count))
  }
}

extension VideoDescription {
  /// The caps with what is said of the pictures.
  func adding(to caps: Caps) -> Caps {
    var caps = caps
    if let rate = rate { caps = caps.with(["framerate": .fraction(rate)]) }
    if let ratio = pixelAspectRatio {
      let shape = Fraction(ratio.numerator, ratio.denominator)
      caps = caps.with(["pixel-aspect-ratio": .fraction(shape)])
    }
    var colorimetry = colour.map { GstVideoColorimetry($0) } ?? GstVideoColorimetry()
    if colour != nil, let name = gst_video_colorimetry_to_string(&colorimetry) {
      caps = caps.with(["colorimetry": .string(String(cString: name))])
      g_free(name)
    }
    masteringDisplay?.add(to: caps)
    contentLightLevel?.add(to: caps)
    return caps
  }

  /// Of frames that are not equally long, the usual rate that theirs is near to on average.
  private var rate: Fraction? {
    if let frameRate { return Fraction(frameRate.numerator, frameRate.denominator) }
    guard let length = averageFrameDuration else { return nil }
    var (numerator, denominator): (Int32, Int32) = (0, 1)
    guard gst_video_guess_framerate(GstClockTime(length), &numerator, &denominator) != 0 else {
      return nil
    }
    return Fraction(numerator, denominator)
  }
}

extension GstVideoColorimetry {
  fileprivate init(_ colour: ColourInformation) {
    self.init()
    primaries = gst_video_color_primaries_from_iso(guint(colour.primaries))
    transfer = gst_video_transfer_function_from_iso(guint(colour.transferCharacteristics))
    matrix = gst_video_color_matrix_from_iso(guint(colour.matrixCoefficients))
    range = colour.fullRange == true ? GST_VIDEO_COLOR_RANGE_0_255 : GST_VIDEO_COLOR_RANGE_16_235
  }
}
