// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import StereoVideo

/// The caps of layered H.265: both eyes in each buffer.
///
/// `codec_data` is the base layer's record (hvcC), so that an element that knows no layers handles
/// the base eye; the dependent layer's record (lhvC) has a field of its own. The profile says that
/// this is not ordinary H.265, and keeps plain decoders and parsers from taking it by accident.
enum LayeredCaps {
  static let layeredCodecData = "layered_codec_data"
  /// The boxes of a movie's sample entry, one behind the other, but for the records: what it says
  /// of the pair of eyes (vexu, st3d), of shape and colour and whatever else, of which caps and tags
  /// carry what they can. So nothing is lost on the way into another movie.
  static let sampleEntryBoxes = "sample_entry_boxes"
  static let profiles = ["multiview-main", "multiview-extended", "multiview-extended-10"]

  static let template = Caps(
    "video/x-h265",
    [
      "stream-format": .strings(["hvc1", "byte-stream"]), "alignment": "au",
      "profile": .strings(profiles), "views": 2,
    ])

  /// Layered streams as any source gives them: with records or as a byte stream.
  static let decodable: Caps = {
    let caps = Caps(
      "video/x-h265",
      ["stream-format": .strings(["hvc1", "hev1", "byte-stream"]), "alignment": "au"])
    return caps
  }()

  /// The caps of a stream that is coded as `configuration` says.
  ///
  /// - Parameters:
  ///   - raw: the caps of the base eye's pictures, which say colour and shape.
  ///   - isByteStream: the parameter sets are inside, and there are no records.
  static func caps(
    _ configuration: LayeredConfiguration, like raw: Caps?, frameRate: Fraction?,
    isByteStream: Bool = false
  ) -> Caps {
    var fields: [(key: String, value: Value)] = [
      ("stream-format", isByteStream ? "byte-stream" : "hvc1"), ("alignment", "au"),
      ("profile", .string(configuration.bitDepth == 8 ? profiles[0] : profiles[2])),
      ("views", 2), ("parsed", true),
      ("width", .int(Int32(clamping: configuration.width))),
      ("height", .int(Int32(clamping: configuration.height))),
    ]
    if !isByteStream {
      fields.append(("codec_data", .buffer(Buffer(configuration.hvcC))))
      fields.append((layeredCodecData, .buffer(Buffer(configuration.lhvC))))
    }
    if let frameRate { fields.append(("framerate", .fraction(frameRate))) }
    let kept = [
      "pixel-aspect-ratio", "colorimetry", "chroma-site", "mastering-display-info",
      "content-light-level",
    ]
    for field in kept {
      if let value = raw?.first?[field] { fields.append((field, value)) }
    }
    return Caps("video/x-h265", fields)
  }
}

/// A layered H.265 stream as its caps describe it.
struct LayeredInput {
  let caps: Caps
  private let configuration: StreamConfiguration
  var framing: NALUnitFraming { configuration.framing }
  /// NAL units of the records of both layers; empty for a byte stream, which has them inside.
  var parameterSets: [[UInt8]] { configuration.parameterSets }
  /// Why the record of the dependent layer cannot be read; nil where it can, or where there is none.
  var layeredRecordProblem: String? { configuration.layeredRecordError.map { "\($0)" } }

  /// - Parameter recordIsOptional: a stream with lengths and no record has lengths of four bytes.
  init(_ caps: Caps, recordIsOptional: Bool = false) throws {
    self.caps = caps
    guard let structure = caps.first else { throw FlowReturn.notNegotiated }
    if structure.string("stream-format") == "byte-stream" {
      configuration = .byteStream
    } else if let record = structure.buffer("codec_data") {
      do {
        configuration = try StreamConfiguration(
          hvcC: record.bytes, lhvC: structure.buffer(LayeredCaps.layeredCodecData)?.bytes)
      } catch {
        throw ElementError(.format, "The stream's codec_data is damaged: \(error).")
      }
    } else if recordIsOptional {
      configuration = StreamConfiguration(framing: .lengthPrefixed(lengthSize: 4))
    } else {
      throw ElementError(.format, "The layered stream has no codec_data.", debug: "\(caps)")
    }
  }

  /// Which layer is for which eye; nil where no VPS has come yet.
  func information(
    _ bytes: RawSpan, _ units: [Range<Int>]
  ) throws -> LayeredStreamInformation? {
    let inBand = units.compactMap { range -> [UInt8]? in
      let unit = bytes.extracting(range)
      guard let type = NALUnitHeader(unit)?.type,
        type == .videoParameterSet || type == .prefixSEI
      else { return nil }
      return unit.withUnsafeBytes { Array($0) }
    }
    let known = parameterSets + inBand
    guard
      let unit = known.last(where: {
        NALUnitHeader($0.span.bytes)?.type == .videoParameterSet
      })
    else { return nil }
    return LayeredStreamInformation(
      try VideoParameterSet(nalUnit: unit),
      displays: ThreeDReferenceDisplaysInformation(nalUnits: known))
  }

  /// The caps of a single-layer stream that is made of this one.
  func singleLayerCaps(_ sets: SingleLayerParameterSets) throws -> Caps {
    let record = try HEVCDecoderConfigurationRecord(sets)
    let single = caps.with(
      [
        "stream-format": "hvc1", "alignment": "au", "parsed": true,
        "codec_data": .buffer(Buffer(record.bytes)),
      ],
      removing: [
        LayeredCaps.layeredCodecData, LayeredCaps.sampleEntryBoxes, "views", "profile", "tier",
        "level", "multiview-mode", "multiview-flags",
      ])
    return single.withH265ProfileTierLevel(of: record.bytes)
  }
}

/// Elements that take layered H.265 for plain H.265, and lose an eye without a word.
enum LayerBlindness {
  /// What they do with it.
  private static let harm: [String: String] = [
    "h265parse":
      "it takes the second eye's parameter sets away; leave it out, nothing needs it",
    "mp4mux": muxer, "qtmux": muxer, "isofmp4mux": muxer, "cmafmux": muxer, "mp4mux2": muxer,
    "matroskamux": "it has no place for the second one; write it with mvhevcmux",
  ]
  private static let muxer =
    "it writes no record of the second eye, which no player finds then; write it with mvhevcmux"

  /// What to say of the first element behind a pad that loses an eye; nil where there is none.
  static func warning(behind pad: Pad) -> ElementError? {
    for reader in pad.readers {
      guard let harm = harm[reader] else { continue }
      return ElementError(
        .failedStream, "Behind \(reader) there is one eye: \(harm).")
    }
    return nil
  }
}
