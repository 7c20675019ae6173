// SPDX-License-Identifier: MPL-2.0

/// A picture that is to be coded in a flattened stream, with all that is known of it when its access
/// unit comes.
struct FlattenedPicture: Sendable {
  /// A slice segment and the PPS that it refers to in the flattened stream.
  struct Slice: Sendable {
    var header: SliceSegmentHeader
    /// The NAL unit, in the bytes of the access unit.
    var range: Range<Int>
    var pictureParameterSetID: Int
  }

  /// NAL unit header in the flattened stream.
  var header: NALUnitHeader
  /// POC in the flattened stream.
  var poc: Int
  /// `pic_output_flag`
  var isOutput: Bool
  /// RefPicListTemp0 and RefPicListTemp1 that the layered picture had, in POCs of the flattened
  /// stream.
  var layeredLists: ([Int], [Int])
  /// `sps_temporal_mvp_enabled_flag`
  var temporalMVPEnabled: Bool
  /// `nuh_layer_id` that the picture had.
  var layerID: Int
  /// Counts access units.
  var accessUnit: Int
  var slices: [Slice]
  /// What comes in front of the slice segments, and behind them.
  var prefix: [RewrittenNALUnit]
  var suffix: [RewrittenNALUnit]

  /// The picture as an access unit that names these reference pictures.
  func coded(_ references: ReferencePictures) -> SingleLayerAccessUnit {
    var units = prefix
    units.reserveCapacity(prefix.count + slices.count + suffix.count)
    for slice in slices {
      let data = slice.range.lowerBound + slice.header.dataOffset..<slice.range.upperBound
      units.append(
        RewrittenNALUnit(
          header: header, beginning: slice.header.flattenedBeginning(slice, self, references),
          payload: data))
    }
    return SingleLayerAccessUnit(
      nalUnits: units + suffix, header: header, pictureOrderCount: poc, layerID: layerID,
      isOutput: isOutput, accessUnit: accessUnit)
  }
}
