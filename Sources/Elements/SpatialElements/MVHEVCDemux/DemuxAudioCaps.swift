// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF

/// The caps of audio tracks.
enum DemuxAudioCaps {
  /// The caps of a track's samples; opaque ones for a coding that has no caps here, so that it
  /// never fails the file.
  static func caps(_ entry: AudioSampleEntry) -> Caps {
    switch entry.coding {
    case .aac(let config): return aac(entry, config)
    case .mp3:
      let version: Int32 = entry.sampleRate >= 32000 ? 1 : entry.sampleRate >= 16000 ? 2 : 3
      return common(
        "audio/mpeg", entry,
        [
          ("mpegversion", 1), ("mpegaudioversion", .int(version)), ("layer", 3), ("parsed", true),
        ])
    case .pcm(let format): return pcm(entry, format)
    case .ac3(let record), .eac3(let record):
      // Not for decoders: what a frame's header does not say, a muxer finds here.
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
      // What no decoder asks for, a muxer finds here.
      let boxes = entry.otherBoxes.flatMap(\.bytes)
      let data: [(key: String, value: Value)] =
        boxes.isEmpty ? [] : [("codec_data", .buffer(Buffer(boxes)))]
      let row = CodecTable.audio.row(type)
      return common(row.media, entry, row.fields + data)
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
    // The configuration knows better than the box, which cannot say more than 65535 Hz.
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

  /// GStreamer's bits for the loudspeakers; 0 (no positions) where the file does not say them.
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
