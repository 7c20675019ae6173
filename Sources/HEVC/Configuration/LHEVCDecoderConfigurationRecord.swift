// SPDX-License-Identifier: LGPL-2.1-or-later

public import Bits

/// LHEVCDecoderConfigurationRecord: the content of an `lhvC` box (ISO/IEC 14496-15 9.5.3.1): what
/// the layers above the base need.
public struct LHEVCDecoderConfigurationRecord: Hashable, Sendable {
  /// `min_spatial_segmentation_idc`, 0 to 4095.
  public var minSpatialSegmentationIDC = 0
  /// `parallelismType`: 0 unknown, 1 slices, 2 tiles, 3 wavefronts.
  public var parallelismType = 0
  /// `numTemporalLayers`; 0 is unknown.
  public var temporalLayerCount = 1
  /// `temporalIdNested`
  public var temporalIDNested = false
  /// Bytes of the length in front of each NAL unit: that of `hvcC`.
  public var lengthSize = 4
  /// The parameter sets.
  public var arrays: [ParameterSetArray] = []

  /// All NAL units of the arrays.
  public var nalUnits: [[UInt8]] { arrays.flatMap(\.nalUnits) }

  /// Reads the record. Reserved bits and data behind the arrays are passed over.
  public init(bytes: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(bytes, structure: "LHEVCDecoderConfigurationRecord")
    _ = try reader.u(8, "configurationVersion", in: 0...1)
    _ = try reader.u(4, "reserved")
    minSpatialSegmentationIDC = try reader.u(12, "min_spatial_segmentation_idc")
    _ = try reader.u(6, "reserved")
    parallelismType = try reader.u(2, "parallelismType")
    _ = try reader.u(2, "reserved")
    temporalLayerCount = try reader.u(3, "numTemporalLayers")
    temporalIDNested = try reader.flag("temporalIdNested")
    lengthSize = try reader.u(2, "lengthSizeMinusOne") + 1
    arrays = try ParameterSetArray.readAll(&reader)
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
    writer.u(0xF, 4)
    writer.u(minSpatialSegmentationIDC, 12)
    writer.u(0x3F, 6)
    writer.u(parallelismType, 2)
    writer.u(0b11, 2)
    writer.u(temporalLayerCount, 3)
    writer.flag(temporalIDNested)
    writer.u(lengthSize - 1, 2)
    ParameterSetArray.write(arrays, to: &writer)
    return writer.bytes
  }
}
