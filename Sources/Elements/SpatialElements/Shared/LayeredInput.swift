// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import StereoVideo

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
