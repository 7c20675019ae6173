import CGStreamer
import GStreamer
import ISOBMFF

/// The audio that goes into a movie, and its sample entry.
enum MuxAudioCaps {
  /// PCM formats by GStreamer's names.
  private static let pcm: [(name: String, format: PCMFormat)] = [
    ("S16LE", PCMFormat(bitsPerSample: 16, isFloat: false, isBigEndian: false, isSigned: true)),
    ("S16BE", PCMFormat(bitsPerSample: 16, isFloat: false, isBigEndian: true, isSigned: true)),
    ("S24LE", PCMFormat(bitsPerSample: 24, isFloat: false, isBigEndian: false, isSigned: true)),
    ("S24BE", PCMFormat(bitsPerSample: 24, isFloat: false, isBigEndian: true, isSigned: true)),
    ("S32LE", PCMFormat(bitsPerSample: 32, isFloat: false, isBigEndian: false, isSigned: true)),
    ("S32BE", PCMFormat(bitsPerSample: 32, isFloat: false, isBigEndian: true, isSigned: true)),
    ("F32LE", PCMFormat(bitsPerSample: 32, isFloat: true, isBigEndian: false, isSigned: true)),
    ("F32BE", PCMFormat(bitsPerSample: 32, isFloat: true, isBigEndian: true, isSigned: true)),
  ]

  static let template: Caps = {
    let caps = Caps("audio/mpeg", ["mpegversion": 4, "stream-format": "raw", "framed": true])
    caps.append("audio/mpeg", [("mpegversion", 1), ("layer", 3), ("parsed", true)])
    caps.append(
      "audio/x-raw",
      [
        ("format", .strings(pcm.map(\.name))), ("layout", "interleaved"),
        ("rate", .intRange(1...(.max))), ("channels", .intRange(1...64)),
      ])
    return caps
  }()

  /// The sample entry for fixed caps. Throws where something that it needs is missing.
  static func sampleEntry(_ caps: Caps, pad: String) throws -> AudioSampleEntry {
    guard let structure = caps.first,
      let rate = structure.int("rate").flatMap(UInt32.init(exactly:)), rate > 0,
      let channels = structure.int("channels").flatMap(UInt32.init(exactly:)), channels > 0
    else {
      throw ElementError(
        .format, "The audio on \(pad) has no rate or no channels.", debug: "\(caps)")
    }
    switch (structure.name, structure.int("mpegversion")) {
    case ("audio/mpeg", 4):
      guard let config = structure.buffer("codec_data") else {
        throw ElementError(
          .format, "The AAC on \(pad) has no codec_data; put aacparse before the pad.")
      }
      return AudioSampleEntry(
        coding: .aac(audioSpecificConfig: config.bytes), channelCount: channels, sampleRate: rate,
        framesPerSample: 1024)
    case ("audio/mpeg", _):
      let halved = (structure.int("mpegaudioversion") ?? 1) > 1
      return AudioSampleEntry(
        coding: .mp3, channelCount: channels, sampleRate: rate,
        framesPerSample: halved ? 576 : 1152)
    default:
      guard let name = structure.string("format"),
        let format = pcm.first(where: { $0.name == name })?.format
      else {
        throw ElementError(
          .format, "The audio on \(pad) cannot go into a movie.", debug: "\(caps)")
      }
      return AudioSampleEntry(
        coding: .pcm(format), channelCount: channels, sampleRate: rate, framesPerSample: 1)
    }
  }
}
