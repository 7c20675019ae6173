import GStreamer
import HEVC
import StereoVideo

/// A layered H.265 stream as its caps describe it.
struct LayeredInput {
  let caps: Caps
  let framing: NALUnitFraming
  /// NAL units of the records of both layers; empty for a byte stream, which has them inside.
  let parameterSets: [[UInt8]]
  /// Why the record of the dependent layer cannot be read; nil where it can, or where there is none.
  private(set) var layeredRecordProblem: String?

  /// - Parameter recordIsOptional: a stream with lengths and no record has lengths of four bytes.
  init(_ caps: Caps, recordIsOptional: Bool = false) throws {
    self.caps = caps
    guard let structure = caps.first else { throw FlowReturn.notNegotiated }
    guard structure.string("stream-format") != "byte-stream" else {
      framing = .annexB
      parameterSets = []
      return
    }
    guard let codecData = structure.buffer("codec_data") else {
      if recordIsOptional {
        framing = .lengthPrefixed(lengthSize: 4)
        parameterSets = []
        return
      }
      throw ElementError(.format, "The layered stream has no codec_data.", debug: "\(caps)")
    }
    do {
      let record = try HEVCDecoderConfigurationRecord(bytes: codecData.bytes)
      framing = .lengthPrefixed(lengthSize: record.lengthSize)
      guard let layered = structure.buffer(LayeredCaps.layeredCodecData) else {
        parameterSets = record.nalUnits
        return
      }
      do {
        let dependent = try LHEVCDecoderConfigurationRecord(bytes: layered.bytes)
        parameterSets = record.nalUnits + dependent.nalUnits
      } catch {
        parameterSets = record.nalUnits
        layeredRecordProblem = "\(error)"
      }
    } catch {
      throw ElementError(.format, "The stream's codec_data is damaged: \(error).")
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
