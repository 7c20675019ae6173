import CGStreamer
import GStreamer
import HEVC
import ISOBMFF
import StereoVideo

/// The caps of video tracks and of their eyes.
enum DemuxVideoCaps {
  /// What is the same for all streams of a track.
  struct Description {
    /// The stream shows no eye in particular.
    var isMono = false
    var frameRate: Fraction?
    var pixelAspectRatio: Fraction?
    var colour: GstVideoColorimetry?
    var masteringDisplay: MasteringDisplayColourVolume?
    var contentLightLevel: ContentLightLevel?
  }

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
    _ entry: VisualSampleEntry, _ description: Description, viewCount: Int
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
      let depth = entry.hvcC.flatMap { try? HEVCDecoderConfigurationRecord(bytes: $0) }?
        .bitDepthLuma
      caps = caps.with([
        "profile": .string(LayeredCaps.profiles[(depth ?? 8) > 8 ? 2 : 0]),
        "views": .int(Int32(clamping: viewCount)),
      ])
    } else if let packing = entry.packing {
      caps = packing.adding(to: caps)
    } else if let mode = singleView(entry) {
      caps = caps.with(["multiview-mode": .string(mode)])
    }
    return description.adding(to: caps)
  }

  /// Which eye alone the samples show, or that they are for both, where the sample entry says that.
  private static func singleView(_ entry: VisualSampleEntry) -> String? {
    switch entry.extendedUsage?.views?.intersection([.leftEye, .rightEye]) {
    case .some(.leftEye): return "left"
    case .some(.rightEye): return "right"
    default: return entry.stereoscopicMode == .monoscopic ? "mono" : nil
    }
  }

  /// The caps of one eye as a stream of its own with these parameter sets.
  static func eye(
    _ eye: Eye, _ sets: SingleLayerParameterSets, _ description: Description
  ) throws -> Caps {
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
        "multiview-mode": .string(description.isMono ? "mono" : eye.rawValue),
        "codec_data": .buffer(Buffer(bytes)),
      ])
    addProfile(bytes, to: caps)
    var description = description
    description.complete(from: sps.vui)
    return description.adding(to: caps)
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

extension DemuxVideoCaps.Description {
  /// What a sample entry says.
  init(_ entry: VisualSampleEntry, frameRate: Fraction?) {
    self.frameRate = frameRate
    if let ratio = entry.pixelAspectRatio,
      let horizontal = Int32(exactly: ratio.horizontalSpacing),
      let vertical = Int32(exactly: ratio.verticalSpacing), horizontal > 0, vertical > 0
    {
      pixelAspectRatio = Fraction(horizontal, vertical)
    }
    colour = entry.colour.map {
      GstVideoColorimetry(
        primaries: UInt32($0.primaries), transfer: UInt32($0.transferCharacteristics),
        matrix: UInt32($0.matrixCoefficients), fullRange: $0.fullRange)
    }
    masteringDisplay = entry.masteringDisplay
    contentLightLevel = entry.contentLightLevel
  }

  /// Fills gaps with what messages in the stream or beside it say.
  mutating func complete(fromSEI nalUnits: [[UInt8]]) {
    for unit in nalUnits where NALUnitHeader(unit.span.bytes)?.type == .prefixSEI {
      for message in (try? SEIMessage.messages(in: unit.span.bytes)) ?? [] {
        switch message.type {
        case .masteringDisplayColourVolume where masteringDisplay == nil:
          masteringDisplay = try? MasteringDisplayColourVolume(payload: message.payload)
        case .contentLightLevel where contentLightLevel == nil:
          contentLightLevel = try? ContentLightLevel(payload: message.payload)
        default: continue
        }
      }
    }
  }

  /// Fills gaps with what the stream itself says.
  mutating func complete(from vui: VideoUsabilityInformation?) {
    if pixelAspectRatio == nil, let ratio = vui?.sampleAspectRatio,
      let width = Int32(exactly: ratio.width), let height = Int32(exactly: ratio.height),
      width > 0, height > 0
    {
      pixelAspectRatio = Fraction(width, height)
    }
    if colour == nil, let signal = vui?.signalType {
      colour = GstVideoColorimetry(
        primaries: UInt32(clamping: signal.colour?.primaries ?? 2),
        transfer: UInt32(clamping: signal.colour?.transfer ?? 2),
        matrix: UInt32(clamping: signal.colour?.matrix ?? 2), fullRange: signal.fullRange)
    }
    if frameRate == nil, let timing = vui?.timing, timing.numUnitsInTick > 0,
      let scale = Int32(exactly: timing.timeScale),
      let units = Int32(exactly: timing.numUnitsInTick), scale > 0
    {
      frameRate = Fraction(scale, units)
    }
  }

  func adding(to caps: Caps) -> Caps {
    var caps = caps
    if let frameRate { caps = caps.with(["framerate": .fraction(frameRate)]) }
    if let pixelAspectRatio {
      caps = caps.with(["pixel-aspect-ratio": .fraction(pixelAspectRatio)])
    }
    if var colour, let name = gst_video_colorimetry_to_string(&colour) {
      caps = caps.with(["colorimetry": .string(String(cString: name))])
      g_free(name)
    }
    masteringDisplay?.add(to: caps)
    contentLightLevel?.add(to: caps)
    return caps
  }
}

extension GstVideoColorimetry {
  /// Code points of ITU-T H.273.
  fileprivate init(primaries: UInt32, transfer: UInt32, matrix: UInt32, fullRange: Bool) {
    self.init()
    self.primaries = gst_video_color_primaries_from_iso(primaries)
    self.transfer = gst_video_transfer_function_from_iso(transfer)
    self.matrix = gst_video_color_matrix_from_iso(matrix)
    range = fullRange ? GST_VIDEO_COLOR_RANGE_0_255 : GST_VIDEO_COLOR_RANGE_16_235
  }
}
