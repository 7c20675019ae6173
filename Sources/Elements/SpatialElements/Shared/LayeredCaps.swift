// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import StereoVideo

/// Caps of layered H.265: both eyes in each buffer.
///
/// `codec_data` is the base layer's record (hvcC), so that an element without layer support handles
/// the base eye; the dependent layer's record (lhvC) has its own field. The profile marks the
/// stream as extended H.265 and keeps plain decoders and parsers from accepting it by accident.
enum LayeredCaps {
  static let layeredCodecData = "layered_codec_data"
  /// Elements that take records, but keep both eyes of byte streams alone.
  static let readersOfByteStreams: Set = ["rtph265pay", "rtspclientsink"]
  static let profiles = ["multiview-main", "multiview-extended", "multiview-extended-10"]

  static let template = Caps(
    "video/x-h265",
    [
      "stream-format": .strings(["hvc1", "byte-stream"]), "alignment": "au",
      "profile": .strings(profiles), "views": 2,
    ])

  /// Layered streams from any source: with records, or as a byte stream.
  static let decodable: Caps = {
    let caps = Caps(
      "video/x-h265",
      ["stream-format": .strings(["hvc1", "hev1", "byte-stream"]), "alignment": "au"])
    return caps
  }()

  /// Makes the caps of a stream encoded with `configuration`.
  ///
  /// - Parameters:
  ///   - raw: caps of the base eye's raw frames, for colour and pixel aspect ratio.
  ///   - isByteStream: whether parameter sets are in-band, without records.
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

/// A layered H.265 stream as described by its caps.
struct LayeredInput {
  let caps: Caps
  private let configuration: StreamConfiguration
  var framing: NALUnitFraming { configuration.framing }
  /// Parameter sets of both layers' records, as NAL units. A byte stream has them in-band; one that
  /// a parser has made of a stream with records may have those of the dependent layer here alone.
  var parameterSets: [[UInt8]] { configuration.parameterSets }
  /// Why the dependent layer's record is unreadable; nil if it is readable or absent.
  var layeredRecordProblem: String? { configuration.layeredRecordError.map { "\($0)" } }

  /// - Parameter recordIsOptional: whether a length-prefixed stream may lack a record, in which
  ///   case lengths have four bytes.
  init(_ caps: Caps, recordIsOptional: Bool = false) throws {
    self.caps = caps
    guard let structure = caps.first else { throw FlowReturn.notNegotiated }
    let layered = structure.buffer(LayeredCaps.layeredCodecData)?.bytes
    if structure.string("stream-format") == "byte-stream" {
      configuration = StreamConfiguration(framing: .annexB, lhvC: layered)
    } else if let record = structure.buffer("codec_data") {
      do {
        configuration = try StreamConfiguration(hvcC: record.bytes, lhvC: layered)
      } catch {
        throw ElementError(.format, "The stream's codec_data is damaged: \(error).")
      }
    } else if recordIsOptional {
      configuration = StreamConfiguration(framing: .lengthPrefixed(lengthSize: 4))
    } else {
      throw ElementError(.format, "The layered stream has no codec_data.", debug: "\(caps)")
    }
  }

  /// Finds which layer shows which eye; nil before the first VPS.
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

  /// Makes the caps of a single-layer stream extracted from this one.
  func singleLayerCaps(_ sets: SingleLayerParameterSets) throws -> Caps {
    let record = try HEVCDecoderConfigurationRecord(sets)
    let single = caps.with(
      [
        "stream-format": "hvc1", "alignment": "au", "parsed": true,
        "codec_data": .buffer(Buffer(record.bytes)),
      ],
      removing: [
        LayeredCaps.layeredCodecData, SampleEntryBoxes.field, "views", "profile", "tier",
        "level", "multiview-mode", "multiview-flags",
      ])
    let described = single.withH265ProfileTierLevel(of: record.bytes)
    // Hardware decoders accept no stream without its size, which a byte stream's caps may lack.
    guard described.first?.int("width") == nil, let unit = sets.sequenceParameterSets.first else {
      return described
    }
    let (width, height) = try SequenceParameterSet(nalUnit: unit).visibleSize
    guard width > 0, height > 0 else { return described }
    return described.with([
      "width": .int(Int32(clamping: width)), "height": .int(Int32(clamping: height)),
    ])
  }
}

/// Elements that treat layered H.265 as plain H.265 and silently lose an eye.
enum BaseLayerOnlyWarning {
  /// Consequence and remedy, by element factory name.
  private static let harm: [String: String] = [
    "h265parse":
      "it removes the second eye's parameter sets; leave it out, it is not needed",
    "mp4mux": muxer, "qtmux": muxer, "isofmp4mux": muxer, "cmafmux": muxer, "mp4mux2": muxer,
    "matroskamux": "it cannot store the second eye; use mvhevcmux instead",
  ]
  /// Consequence and remedy of elements that keep both eyes of byte streams alone: of records, they
  /// read that of the first eye.
  private static let harmOfRecords = Dictionary(
    uniqueKeysWithValues: LayeredCaps.readersOfByteStreams.map {
      (
        $0,
        "it does not send the second eye's parameter sets; mvhevcenc ! "
          + "video/x-h265,stream-format=byte-stream keeps both eyes"
      )
    })
  private static let muxer =
    "it writes no record of the second eye, so no player finds it; use mvhevcmux instead"

  /// Returns a warning about the first element downstream of a pad that loses an eye; nil if none
  /// does.
  ///
  /// - Parameter isByteStream: whether the pad's stream has its parameter sets in-band.
  static func warning(after pad: Pad, isByteStream: Bool = false) -> ElementError? {
    for reader in pad.readers {
      guard let harm = harm[reader] ?? (isByteStream ? nil : harmOfRecords[reader]) else {
        continue
      }
      return ElementError(
        .failedStream, "Only one eye is left after \(reader): \(harm).")
    }
    return nil
  }
}
