// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// HEVCDecoderConfigurationRecord: the content of an `hvcC` box (ISO/IEC 14496-15 8.3.3.1), and
/// `codec_data` of GStreamer's `stream-format=hvc1`.
public struct HEVCDecoderConfigurationRecord: DecoderConfigurationRecord {
  /// Profile, tier and level of the base layer.
  public var profileTierLevel: ProfileTierLevel
  public var minSpatialSegmentationIDC = 0
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
  public var temporalLayerCount = 1
  public var temporalIDNested = false
  public var lengthSize = 4
  public var arrays: [ParameterSetArray] = []

  /// Reads the record. Reserved bits and data behind the arrays are passed over.
  public init(bytes: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(bytes, structure: "HEVCDecoderConfigurationRecord")
    try Self.readVersion(&reader)
    profileTierLevel = try ProfileTierLevel(
      &reader, profilePresent: true, maxSubLayersMinus1: 0)
    try readSegmentation(&reader)
    _ = try reader.u(6, "reserved")
    chromaFormatIDC = try reader.u(2, "chromaFormat")
    _ = try reader.u(5, "reserved")
    bitDepthLuma = try reader.u(3, "bitDepthLumaMinus8") + 8
    _ = try reader.u(5, "reserved")
    bitDepthChroma = try reader.u(3, "bitDepthChromaMinus8") + 8
    averageFrameRate = try reader.u(16, "avgFrameRate")
    constantFrameRate = try reader.u(2, "constantFrameRate")
    try readLayersAndArrays(&reader)
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
    writeSegmentation(to: &writer)
    writer.u(0x3F, 6)
    writer.u(chromaFormatIDC, 2)
    writer.u(0x1F, 5)
    writer.u(bitDepthLuma - 8, 3)
    writer.u(0x1F, 5)
    writer.u(bitDepthChroma - 8, 3)
    writer.u(averageFrameRate, 16)
    writer.u(constantFrameRate, 2)
    writeLayersAndArrays(to: &writer)
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
