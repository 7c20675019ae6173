// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// LHEVCDecoderConfigurationRecord: the content of an `lhvC` box (ISO/IEC 14496-15 9.5.3.1): what
/// the layers above the base need.
public struct LHEVCDecoderConfigurationRecord: DecoderConfigurationRecord {
  public var minSpatialSegmentationIDC = 0
  public var parallelismType = 0
  public var temporalLayerCount = 1
  public var temporalIDNested = false
  public var lengthSize = 4
  public var arrays: [ParameterSetArray] = []

  /// Reads the record. Reserved bits and data behind the arrays are passed over.
  public init(bytes: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(bytes, structure: "LHEVCDecoderConfigurationRecord")
    try Self.readVersion(&reader)
    try readSegmentation(&reader)
    _ = try reader.u(2, "reserved")
    try readLayersAndArrays(&reader)
  }

  /// The record of the dependent layer of a stream with the parameter sets `sets`: SPS and PPS,
  /// complete, as AVFoundation writes them.
  public init(_ sets: LayeredParameterSets) throws(SyntaxError) {
    let sps = try sets.firstBaseSequenceParameterSet()
    temporalLayerCount = sps.maxSubLayersMinus1 + 1
    arrays = ParameterSetArray.complete([
      (.sequenceParameterSet, sets.dependentSequenceParameterSets),
      (.pictureParameterSet, sets.dependentPictureParameterSets),
    ])
  }

  /// The content of the box.
  public var bytes: [UInt8] {
    var writer = BitWriter()
    writer.u(1, 8)
    writeSegmentation(to: &writer)
    writer.u(0b11, 2)
    writeLayersAndArrays(to: &writer)
    return writer.bytes
  }
}
