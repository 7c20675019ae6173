// SPDX-License-Identifier: LGPL-2.1-or-later

public import Bits

/// HEVCDecoderConfigurationRecord: the content of an `hvcC` box (ISO/IEC 14496-15 8.3.3.1), and
/// `codec_data` of GStreamer's `stream-format=hvc1`.
public struct HEVCDecoderConfigurationRecord: Hashable, Sendable {
  /// Profile, tier and level of the base layer.
  public var profileTierLevel: ProfileTierLevel
  /// `min_spatial_segmentation_idc`, 0 to 4095.
  public var minSpatialSegmentationIDC = 0
  /// `parallelismType`: 0 unknown, 1 slices, 2 tiles, 3 wavefronts.
  public var parallelismType = 0
  /// `chromaFormat`: `chroma_format_idc`.
  public var chromaFormatIDC = 1
  /// Bits a luma sample, 8 to 15.
  public var bitDepthLuma = 8
  /// Bits a chroma sample, 8 to 15.
  public var bitDepthChroma = 8
  /// `avgFrameRate` in frames in 256 seconds; 0 is unknown.
  public var averageFrameRate = 0
  /// `constantFrameRate`: 0 unknown, 1 constant, 2 constant in each sub-layer.
  public var constantFrameRate = 0
  /// `numTemporalLayers`; 0 is unknown.
  public var temporalLayerCount = 1
  /// `temporalIdNested`
  public var temporalIDNested = false
  /// Bytes of the length in front of each NAL unit: 1, 2 or 4.
  public var lengthSize = 4
  /// The parameter sets and SEI.
  public var arrays: [ParameterSetArray] = []

  /// All NAL units of the arrays.
  public var nalUnits: [[UInt8]] { arrays.flatMap(\.nalUnits) }

  /// Reads the record. Reserved bits and data behind the arrays are passed over.
  public init(bytes: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(bytes, structure: "HEVCDecoderConfigurationRecord")
    // Files of before the standard was final have version 0.
    _ = try reader.u(8, "configurationVersion", in: 0...1)
    profileTierLevel = try ProfileTierLevel(
      &reader, profilePresent: true, maxSubLayersMinus1: 0)
    _ = try reader.u(4, "reserved")
    minSpatialSegmentationIDC = try reader.u(12, "min_spatial_segmentation_idc")
    _ = try reader.u(6, "reserved")
    parallelismType = try reader.u(2, "parallelismType")
    _ = try reader.u(6, "reserved")
    chromaFormatIDC = try reader.u(2, "chromaFormat")
    _ = try reader.u(5, "reserved")
    bitDepthLuma = try reader.u(3, "bitDepthLumaMinus8") + 8
    _ = try reader.u(5, "reserved")
    bitDepthChroma = try reader.u(3, "bitDepthChromaMinus8") + 8
    averageFrameRate = try reader.u(16, "avgFrameRate")
    constantFrameRate = try reader.u(2, "constantFrameRate")
    temporalLayerCount = try reader.u(3, "numTemporalLayers")
    temporalIDNested = try reader.flag("temporalIdNested")
    lengthSize = try reader.u(2, "lengthSizeMinusOne") + 1
    arrays = try ParameterSetArray.readAll(&reader)
  }

  /// The record of the base layer of a stream with the parameter sets `sets`: VPS, SPS, PPS and
  /// the SEI that says which view is for which eye, all complete, as AVFoundation writes them.
  public init(_ sets: LayeredParameterSets) throws(SyntaxError) {
    let sps = try sets.firstBaseSequenceParameterSet()
    self.init(sps)
    // AVFoundation leaves it zero whatever the SPS says, which promises nothing.
    temporalIDNested = false
    arrays = ParameterSetArray.complete([
      (.videoParameterSet, [sets.videoParameterSet]),
      (.sequenceParameterSet, sets.baseSequenceParameterSets),
      (.pictureParameterSet, sets.basePictureParameterSets),
      (.prefixSEI, [sets.threeDReferenceDisplays].filter { !$0.isEmpty }),
    ])
  }

  /// A record without arrays for streams of the SPS `sps`, which is not of the short form.
  init(_ sps: SequenceParameterSet) {
    profileTierLevel =
      sps.profileTierLevel ?? ProfileTierLevel(profile: .init(), levelIDC: 0)
    profileTierLevel.subLayers = []
    minSpatialSegmentationIDC = sps.vui?.bitstreamRestriction?.minSpatialSegmentationIDC ?? 0
    chromaFormatIDC = sps.format.sampleFormat?.chromaFormatIDC ?? 1
    bitDepthLuma = sps.format.sampleFormat?.bitDepthLuma ?? 8
    bitDepthChroma = sps.format.sampleFormat?.bitDepthChroma ?? 8
    temporalLayerCount = sps.maxSubLayersMinus1 + 1
    temporalIDNested = sps.temporalIDNesting
  }

  /// The content of the box.
  public var bytes: [UInt8] {
    var writer = BitWriter()
    writer.u(1, 8)
    profileTierLevel.write(to: &writer)
    writer.u(0xF, 4)
    writer.u(minSpatialSegmentationIDC, 12)
    writer.u(0x3F, 6)
    writer.u(parallelismType, 2)
    writer.u(0x3F, 6)
    writer.u(chromaFormatIDC, 2)
    writer.u(0x1F, 5)
    writer.u(bitDepthLuma - 8, 3)
    writer.u(0x1F, 5)
    writer.u(bitDepthChroma - 8, 3)
    writer.u(averageFrameRate, 16)
    writer.u(constantFrameRate, 2)
    writer.u(temporalLayerCount, 3)
    writer.flag(temporalIDNested)
    writer.u(lengthSize - 1, 2)
    ParameterSetArray.write(arrays, to: &writer)
    return writer.bytes
  }
}

extension LayeredParameterSets {
  func firstBaseSequenceParameterSet() throws(SyntaxError) -> SequenceParameterSet {
    guard let first = baseSequenceParameterSets.first else {
      throw SyntaxError(
        structure: "HEVCDecoderConfigurationRecord", element: "general_profile_idc", bitOffset: 0,
        reason: .missing("an SPS of the base layer"))
    }
    return try SequenceParameterSet(nalUnit: first)
  }
}
