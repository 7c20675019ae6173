// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// What `hvcC` and `lhvC` have in common (ISO/IEC 14496-15 8.3.3.1 and 9.5.3.1).
public protocol DecoderConfigurationRecord: Hashable, Sendable {
  /// `min_spatial_segmentation_idc`, 0 to 4095.
  var minSpatialSegmentationIDC: Int { get set }
  /// `parallelismType`: 0 unknown, 1 slices, 2 tiles, 3 wavefronts.
  var parallelismType: Int { get set }
  /// `numTemporalLayers`; 0 is unknown.
  var temporalLayerCount: Int { get set }
  /// `temporalIdNested`
  var temporalIDNested: Bool { get set }
  /// Bytes of the length in front of each NAL unit: 1, 2 or 4; the same in both records of a track.
  var lengthSize: Int { get set }
  /// The parameter sets, and in `hvcC` SEI.
  var arrays: [ParameterSetArray] { get set }
}

extension DecoderConfigurationRecord {
  /// All NAL units of the arrays.
  public var nalUnits: [[UInt8]] { arrays.flatMap(\.nalUnits) }

  /// Reads `configurationVersion`.
  static func readVersion(_ reader: inout BitReader) throws(SyntaxError) {
    // Files of before the standard was final have version 0.
    _ = try reader.u(8, "configurationVersion", in: 0...1)
  }

  /// Reads from `min_spatial_segmentation_idc` to `parallelismType`, with the reserved bits in front.
  mutating func readSegmentation(_ reader: inout BitReader) throws(SyntaxError) {
    _ = try reader.u(4, "reserved")
    minSpatialSegmentationIDC = try reader.u(12, "min_spatial_segmentation_idc")
    _ = try reader.u(6, "reserved")
    parallelismType = try reader.u(2, "parallelismType")
  }

  func writeSegmentation(to writer: inout BitWriter) {
    writer.u(0xF, 4)
    writer.u(minSpatialSegmentationIDC, 12)
    writer.u(0x3F, 6)
    writer.u(parallelismType, 2)
  }

  /// Reads from `numTemporalLayers` to the end.
  mutating func readLayersAndArrays(_ reader: inout BitReader) throws(SyntaxError) {
    temporalLayerCount = try reader.u(3, "numTemporalLayers")
    temporalIDNested = try reader.flag("temporalIdNested")
    lengthSize = try reader.u(2, "lengthSizeMinusOne") + 1
    arrays = try ParameterSetArray.readAll(&reader)
  }

  func writeLayersAndArrays(to writer: inout BitWriter) {
    writer.u(temporalLayerCount, 3)
    writer.flag(temporalIDNested)
    writer.u(lengthSize - 1, 2)
    ParameterSetArray.write(arrays, to: &writer)
  }
}
