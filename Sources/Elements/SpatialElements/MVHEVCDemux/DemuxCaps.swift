// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import ISOBMFF
import MoviePlayer
import StereoVideo

import struct AVC.MVCRecords

/// Caps of video tracks and of their eyes.
enum DemuxVideoCaps {
  /// Returns the caps of a track's samples as stored; opaque caps for a codec unknown to GStreamer.
  ///
  /// - Parameter viewCount: number of views in the samples' layers.
  static func samples(
    _ entry: VisualSampleEntry, _ description: VideoDescription, viewCount: Int
  ) -> Caps {
    let stream = entry.codec == "mp4v" ? entry.elementaryStream : nil
    let codec =
      stream.flatMap { CodecTable.mpegVideo(objectType: $0.objectType) }
      ?? CodecTable.video.row(entry.codec)
    var fields = codec.fields
    fields.append(("width", .int(Int32(entry.width))))
    fields.append(("height", .int(Int32(entry.height))))
    if codec.media == "video/x-rle" { fields.append(("depth", .int(Int32(entry.depth)))) }
    let configuration = ["hvcC", "avcC", "av1C", "vpcC"] as [FourCC]
    // A track of the type mvc1 may have mvcC alone.
    let record =
      entry.configuration.first { configuration.contains($0.type) }
      ?? entry.configuration.first { $0.type == "mvcC" }
    if let record {
      let second = record.type == "mvcC" ? nil : entry.mvcC
      let records = MVCRecords(avcC: record.payload, mvcC: second)
      fields.append(("codec_data", .buffer(Buffer(records.block))))
    } else if let stream, !stream.configuration.isEmpty {
      fields.append(("codec_data", .buffer(Buffer(stream.configuration))))
    } else if let global = entry.configuration.first(where: { $0.type == "glbl" }),
      entry.codec == "FFV1"
    {
      fields.append(("codec_data", .buffer(Buffer(global.payload))))
    }
    if let lhvC = entry.lhvC {
      fields.append((LayeredCaps.layeredCodecData, .buffer(Buffer(lhvC))))
    }
    var caps = Caps(codec.media, fields)
    if ["video/x-h265", "video/x-h264"].contains(codec.media) {
      let others = entry.configuration.filter {
        $0 != record && $0.type != "lhvC" && $0.type != "mvcC"
      }
      caps = SampleEntryBoxes.add(others + entry.extensions, to: caps.with(["parsed": true]))
    }
    if let record = entry.hvcC { caps = caps.withH265ProfileTierLevel(of: record) }
    if viewCount > 1 {
      let record = entry.hvcC.flatMap { try? HEVCDecoderConfigurationRecord(bytes: $0) }
      caps = caps.with(views(viewCount, bitDepth: record?.bitDepthLuma))
    } else if entry.mvcC != nil, let eye = entry.spatialMetadata.heroEye {
      caps = PackingLayout(.frameByFrame, rightViewFirst: eye == .right).adding(to: caps)
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

  /// Returns the caps of H.265 without a container.
  ///
  /// - Parameter upstream: the upstream caps, if any.
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

  /// Returns the `multiview-mode` of samples that show one eye (`left`, `right`) or are monoscopic
  /// (`mono`); nil if the sample entry does not say.
  private static func singleView(_ entry: VisualSampleEntry) -> String? {
    switch entry.extendedUsage?.views?.intersection([.leftEye, .rightEye]) {
    case .some(.leftEye): return "left"
    case .some(.rightEye): return "right"
    default: return entry.stereoscopicMode == .monoscopic ? "mono" : nil
    }
  }

  /// Returns the caps of one eye as a separate stream.
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
    return format.description.adding(to: caps.withH265ProfileTierLevel(of: bytes))
  }
}

extension VideoDescription {
  /// Returns the caps with the fields that describe the pictures.
  func adding(to caps: Caps) -> Caps {
    var caps = caps
    if let rate = rate { caps = caps.with(["framerate": .fraction(rate)]) }
    if let ratio = pixelAspectRatio {
      let shape = Fraction(ratio.numerator, ratio.denominator)
      caps = caps.with(["pixel-aspect-ratio": .fraction(shape)])
    }
    // H.264 itself tells decoders the range that `nclc` leaves open.
    let unsaid: Colorimetry.Range = caps.mediaType == "video/x-h264" ? .unknown : .limited
    if let name = colour.flatMap({ Colorimetry($0, unsaid: unsaid).name }) {
      caps = caps.with(["colorimetry": .string(name)])
    }
    if let masteringDisplay { caps = masteringDisplay.adding(to: caps) }
    if let contentLightLevel { caps = contentLightLevel.adding(to: caps) }
    return caps
  }

  /// The frame rate; for variable frame durations, the common rate nearest to their average.
  private var rate: Fraction? {
    if let frameRate { return Fraction(frameRate.numerator, frameRate.denominator) }
    return averageFrameDuration.flatMap { Fraction(guessedFromFrameDuration: $0) }
  }
}

/// Caps of audio tracks.
enum DemuxAudioCaps {
  /// Returns the caps of a track's samples; opaque caps for an unknown format, so that it never
  /// makes the file fail.
  static func caps(_ entry: AudioSampleEntry) -> Caps {
    SampleEntryBoxes.add(entry.otherBoxes, to: coded(entry))
  }

  private static func coded(_ entry: AudioSampleEntry) -> Caps {
    switch entry.coding {
    case .aac(let config): return aac(entry, config)
    case .mp3, .mp2:
      let layer: Int32 = entry.coding == .mp3 ? 3 : 2
      let version: Int32 = entry.sampleRate >= 32000 ? 1 : entry.sampleRate >= 16000 ? 2 : 3
      return common(
        "audio/mpeg", entry,
        [
          ("mpegversion", 1), ("mpegaudioversion", .int(version)), ("layer", .int(layer)),
          ("parsed", true),
        ])
    case .pcm(let format): return pcm(entry, format)
    case .ac3(let record), .eac3(let record):
      // For muxers, not decoders: the record has what the frame headers lack.
      let data: [(key: String, value: Value)] =
        record.isEmpty ? [] : [("codec_data", .buffer(Buffer(record)))]
      let isEnhanced = if case .eac3 = entry.coding { true } else { false }
      return common(
        isEnhanced ? "audio/x-eac3" : "audio/x-ac3", entry, [("framed", true)] + data)
    case .opus(let box): return opus(entry, box)
    case .flac(let blocks):
      let headers = FLACHeaders.packets(metadataBlocks: blocks).map { Value.buffer(Buffer($0)) }
      return common("audio/x-flac", entry, [("framed", true), ("streamheader", .array(headers))])
    case .alac(let cookie):
      let box = ALACBox.box(magicCookie: cookie)
      var fields: [(key: String, value: Value)] = [("codec_data", .buffer(Buffer(box)))]
      if let bits = entry.coding.recordedFormat?.bitsPerSample {
        fields.append(("samplesize", .int(Int32(clamping: bits))))
      }
      return common("audio/x-alac", entry, fields)
    case .other(let type):
      let row = CodecTable.audio.row(type)
      return common(row.media, entry, row.fields)
    }
  }

  private static func common(
    _ media: String, _ entry: AudioSampleEntry, _ fields: [(key: String, value: Value)]
  ) -> Caps {
    var all = fields
    var entry = entry
    if let format = entry.coding.recordedFormat {
      (entry.sampleRate, entry.channelCount) = (format.sampleRate, format.channelCount)
    }
    if entry.sampleRate > 0 { all.append(("rate", .int(Int32(clamping: entry.sampleRate)))) }
    if entry.channelCount > 0 {
      all.append(("channels", .int(Int32(clamping: entry.channelCount))))
    }
    return Caps(media, all)
  }

  private static func aac(_ entry: AudioSampleEntry, _ config: [UInt8]) -> Caps {
    var entry = entry
    // The AudioSpecificConfig takes precedence over the box, whose field ends at 65535 Hz.
    let said = AACConfiguration(config)
    if let rate = said.sampleRate { entry.sampleRate = rate }
    if let channels = said.channelCount { entry.channelCount = channels }
    return common(
      "audio/mpeg", entry,
      [
        ("mpegversion", 4), ("framed", true), ("stream-format", "raw"),
        ("codec_data", .buffer(Buffer(config))),
      ]
    ).withAACProfileAndLevel(of: config)
  }

  private static func pcm(_ entry: AudioSampleEntry, _ format: PCMFormat) -> Caps {
    var text =
      "audio/x-raw, format=\(format.capsName), layout=interleaved, "
      + "rate=\(entry.sampleRate), channels=\(entry.channelCount)"
    if entry.channelCount > 2 {
      text += ", channel-mask=(bitmask)0x\(String(channelMask(entry), radix: 16))"
    }
    return Caps(parsing: text) ?? common("audio/x-raw", entry, [])
  }

  /// Returns GStreamer's channel mask; 0 (no positions) if the file does not specify one.
  private static func channelMask(_ entry: AudioSampleEntry) -> UInt64 {
    guard let bitmap = entry.channelBitmap, bitmap.nonzeroBitCount == Int(entry.channelCount) else {
      return 0
    }
    return LoudspeakerBits.mask(bitmap: bitmap)
  }

  private static func opus(_ entry: AudioSampleEntry, _ box: [UInt8]) -> Caps {
    OpusHead.header(dOps: box).flatMap { Caps.opus(header: $0) }
      ?? common("audio/x-opus", entry, [("channel-mapping-family", 0)])
  }
}
