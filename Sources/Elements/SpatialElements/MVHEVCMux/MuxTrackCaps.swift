// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

/// Audio formats that a movie can hold, and their sample entries.
enum MuxAudioCaps {
  /// Without `framed` and `parsed`: parsers set them, but encoders do not.
  static let template: Caps = {
    let caps = Caps("audio/mpeg", ["mpegversion": 4, "stream-format": "raw"])
    caps.append("audio/mpeg", [("mpegversion", 1), ("layer", .intRange(1...3))])
    for media in ["audio/x-ac3", "audio/x-eac3", "audio/x-flac"] { caps.append(media, []) }
    caps.append("audio/x-opus", [("channel-mapping-family", .intRange(0...255))])
    caps.append("audio/x-alac", [])
    caps.append(
      "audio/x-raw",
      [
        ("format", .strings(PCMFormat.written.map(\.capsName))), ("layout", "interleaved"),
        ("rate", .intRange(1...(.max))), ("channels", .intRange(1...64)),
      ])
    caps.append(CodecTable.audio.caps)
    return caps
  }()

  /// Returns the sample entry for fixed caps.
  ///
  /// - Parameter first: the first buffer of the stream, for codings whose caps are not enough.
  /// - Throws: an ``ElementError`` if required information is missing.
  static func sampleEntry(
    _ caps: Caps, pad: String, container: MovieContainer, first: Buffer?
  ) throws -> AudioSampleEntry {
    guard let structure = caps.first else { throw FlowReturn.notNegotiated }
    guard structure.bool("framed") != false, structure.bool("parsed") != false else {
      throw ElementError(
        .format, "The audio on \(pad) is not split into frames; put a parser before the pad.",
        debug: "\(caps)")
    }
    let coding = try coding(structure, pad: pad, container: container, first: first)
    let recorded = coding.recordedFormat
    func number(_ field: String) -> UInt32 {
      structure.int(field).flatMap(UInt32.init(exactly:)) ?? 0
    }
    let rate = recorded?.sampleRate ?? number("rate")
    let channels = recorded?.channelCount ?? number("channels")
    // Formats that are copied without being understood may have neither, such as IAMF.
    guard rate > 0 && channels > 0 || CodecTable.audio.isOpaque(structure) else {
      throw ElementError(
        .format, "The audio on \(pad) has no rate or no channels.", debug: "\(caps)")
    }
    var entry = AudioSampleEntry(
      coding: coding, channelCount: channels, sampleRate: rate,
      framesPerSample: framesPerSample(coding, structure, first, rate: rate))
    switch coding {
    case .opus:
      // Opus decodes to this rate, whatever the encoder's input had.
      entry.sampleRate = 48_000
    case .pcm where channels > 2:
      if case .bitmask(let mask)? = structure["channel-mask"], mask != 0 {
        entry.channelBitmap = LoudspeakerBits.bitmap(mask: mask)
      }
    default: break
    }
    entry.otherBoxes = SampleEntryBoxes.read(structure) ?? []
    if case .other(let type) = coding, ["samr", "sawb"].contains(type),
      !entry.otherBoxes.contains(where: { $0.type == "damr" })
    {
      entry.otherBoxes.append(.adaptiveMultiRate)
    }
    return entry
  }

  /// Returns the number of audio frames in each buffer; 0 if it is unknown or varies.
  private static func framesPerSample(
    _ coding: AudioCoding, _ caps: StructureView, _ first: Buffer?, rate: UInt32
  ) -> UInt32 {
    switch coding {
    case .aac: 1024
    case .mp3: caps.int("mpegaudioversion") ?? 1 > 1 ? 576 : 1152
    case .mp2: caps.int("layer") == 1 ? 384 : 1152
    case .ac3, .eac3: 1536
    case .alac(let cookie): cookie.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    case .pcm: 1
    case .opus, .flac: 0
    case .other("alaw"), .other("ulaw"): 1
    case .other("ima4"): 64
    case .other:
      UInt32(
        clamping: TrackClock(timescale: rate).units(
          RunningTime(clamping: first?.duration ?? 0).nanoseconds))
    }
  }

  private static func coding(
    _ caps: StructureView, pad: String, container: MovieContainer, first: Buffer?
  ) throws -> AudioCoding {
    func missing(_ what: String, _ parser: String) -> ElementError {
      ElementError(
        .format,
        "The \(what) on \(pad) has no \(parser == "aacparse" ? "codec_data" : "header")"
          + "; put \(parser) before the pad.")
    }
    let data = caps.buffer("codec_data")?.bytes
    switch caps.name {
    case "audio/mpeg" where caps.int("mpegversion") == 4:
      guard let data else { throw missing("AAC", "aacparse") }
      return .aac(audioSpecificConfig: data)
    case "audio/mpeg": return caps.int("layer") ?? 3 == 3 ? .mp3 : .mp2
    case "audio/x-ac3", "audio/x-eac3":
      let isEnhanced = caps.name == "audio/x-eac3"
      if let data { return isEnhanced ? .eac3(dec3: data) : .ac3(dac3: data) }
      guard let coding = first.flatMap({ AudioCoding.ac3(firstSample: $0.bytes) }) else {
        throw missing(isEnhanced ? "E-AC-3" : "AC-3", "ac3parse")
      }
      return coding
    case "audio/x-opus":
      guard let box = opusHead(caps).flatMap(OpusHead.dOps) else {
        throw missing("Opus", "opusparse")
      }
      return .opus(dOps: box)
    case "audio/x-flac":
      guard let blocks = flac(caps) else { throw missing("FLAC", "flacparse") }
      return .flac(metadataBlocks: blocks)
    case "audio/x-alac":
      guard let cookie = data.flatMap(ALACBox.magicCookie) else {
        throw ElementError(
          .format, "The ALAC on \(pad) has no codec_data with its decoder configuration.")
      }
      return .alac(magicCookie: cookie)
    case "audio/x-raw":
      guard let name = caps.string("format"),
        let format = PCMFormat.written.first(where: { $0.capsName == name })
      else {
        throw ElementError(
          .format, "The audio on \(pad) cannot be stored in a movie.", debug: caps.name)
      }
      guard container == .quickTime || format.bitsPerSample > 8 else {
        throw ElementError(
          .format,
          "MP4 does not support 8-bit audio, as on \(pad); convert to 16 bits with audioconvert.")
      }
      return .pcm(format)
    default:
      guard let type = CodecTable.audio.type(of: caps) else {
        throw ElementError(
          .format, "The audio on \(pad) cannot be stored in a movie.", debug: caps.name)
      }
      return .other(type)
    }
  }

  private static func flac(_ caps: StructureView) -> [UInt8]? {
    guard case .array(let headers)? = caps["streamheader"] else { return nil }
    return FLACHeaders.metadataBlocks(
      packets: headers.compactMap { if case .buffer(let header) = $0 { header.bytes } else { nil } }
    )
  }

  private static func opusHead(_ caps: StructureView) -> [UInt8]? {
    if case .array(let headers)? = caps["streamheader"], case .buffer(let head)? = headers.first {
      return head.bytes
    }
    return Caps(caps.name, caps.allFields).opusHeader
  }
}

extension OpaqueBox {
  /// `damr` (3GPP TS 26.244 6.7): frames of any mode, one in each sample.
  fileprivate static let adaptiveMultiRate = OpaqueBox(
    "damr", payload: [0, 0, 0, 0, 0, 0x81, 0xFF, 0, 1])
}

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
      let content = structure.buffer("codec_data")
    else {
      throw ElementError(
        .format, "The stream on \(pad) has no codec_data with its sample entry.", debug: "\(caps)")
    }
    return OtherSampleEntry(
      handlerType: track?.handlerType ?? "meta", type: type, content: content.bytes)
  }
}

/// Subtitle tracks.
package enum MuxSubtitles {
  static let template = Caps(
    "text/x-raw", ["format": .list([.string("utf8"), .string(markup)])])
  /// The format of texts with tags, as demuxers of Matroska output SubRip texts.
  private static let markup = "pango-markup"
  /// Units per second.
  static let timescale: UInt32 = 90_000
  /// Duration of a text whose buffer has none.
  static let usualDuration = 3 * ClockTime.second

  /// Returns a buffer's text as a sample, without tags. The text ends at a zero byte, if there is
  /// one.
  static func sample(_ buffer: Buffer, _ caps: Caps?) -> Buffer {
    let text = String(decoding: buffer.bytes.prefix { $0 != 0 }, as: UTF8.self)
    return Buffer(TimedText.subtitle(isMarkup(caps) ? plain(text) : text))
  }

  /// Whether texts have tags and entities.
  static func isMarkup(_ caps: Caps?) -> Bool { caps?.first?.string("format") == markup }

  /// Returns the text of Pango's markup, without tags and with entities replaced.
  package static func plain(_ markup: String) -> String {
    var text = ""
    var rest = markup[...]
    while let place = rest.firstIndex(where: { $0 == "<" || $0 == "&" }) {
      text += rest[..<place]
      rest = rest[place...]
      if rest.first == "<", let end = rest.firstIndex(of: ">") {
        rest = rest[end...].dropFirst()
      } else if let end = rest.prefix(12).firstIndex(of: ";"),
        let character = character(rest[..<end].dropFirst())
      {
        text.append(character)
        rest = rest[end...].dropFirst()
      } else {
        text.append(rest.removeFirst())
      }
    }
    return text + rest
  }

  /// Returns the character of an entity, such as `amp` or `#39`.
  static func character(_ entity: Substring) -> Character? {
    let names: [Substring: Character] = [
      "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'",
    ]
    if let character = names[entity] { return character }
    guard entity.first == "#" else { return nil }
    let digits = entity.dropFirst()
    let code =
      digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits, radix: 10)
    return code.flatMap(Unicode.Scalar.init).map(Character.init)
  }

  /// An empty text, shown between two texts.
  static var silence: Buffer { Buffer(TimedText.subtitle("")) }
}
