// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

// A keyframe of the dependent eye that is predicted from the base eye's: a P picture of a third
// stream, whose one reference stands for the base picture, becomes the dependent layer's IDR picture.
//
// Its slice data means the same in both streams. No motion vector is scaled, as all refer to one
// picture; there are no temporal candidates in either; and all else that slice data depends on is
// compared.

extension SequenceParameterSet {
  /// The name of the first field that slice data depends on and `other` has another value of; nil
  /// where there is none.
  func differingField(from other: SequenceParameterSet) -> String? {
    let (own, their) = (tools, other.tools)
    let (format, theirFormat) = (format, other.format)
    let comparisons: [(field: String, isEqual: Bool)] = [
      ("pic_width_in_luma_samples", format.width == theirFormat.width),
      ("pic_height_in_luma_samples", format.height == theirFormat.height),
      (
        "chroma_format_idc",
        format.sampleFormat?.chromaFormatIDC == theirFormat.sampleFormat?.chromaFormatIDC
      ),
      (
        "bit_depth_luma_minus8",
        format.sampleFormat?.bitDepthLuma == theirFormat.sampleFormat?.bitDepthLuma
      ),
      (
        "bit_depth_chroma_minus8",
        format.sampleFormat?.bitDepthChroma == theirFormat.sampleFormat?.bitDepthChroma
      ),
      (
        "log2_min_luma_coding_block_size_minus3",
        own.log2MinCodingBlockSizeMinus3 == their.log2MinCodingBlockSizeMinus3
      ),
      (
        "log2_diff_max_min_luma_coding_block_size",
        own.log2DiffMaxMinCodingBlockSize == their.log2DiffMaxMinCodingBlockSize
      ),
      (
        "log2_min_luma_transform_block_size_minus2",
        own.log2MinTransformBlockSizeMinus2 == their.log2MinTransformBlockSizeMinus2
      ),
      (
        "log2_diff_max_min_luma_transform_block_size",
        own.log2DiffMaxMinTransformBlockSize == their.log2DiffMaxMinTransformBlockSize
      ),
      (
        "max_transform_hierarchy_depth_inter",
        own.maxTransformHierarchyDepthInter == their.maxTransformHierarchyDepthInter
      ),
      (
        "max_transform_hierarchy_depth_intra",
        own.maxTransformHierarchyDepthIntra == their.maxTransformHierarchyDepthIntra
      ),
      ("scaling_list_data", own.scalingList == their.scalingList),
      ("amp_enabled_flag", own.asymmetricMotionPartitions == their.asymmetricMotionPartitions),
      (
        "sample_adaptive_offset_enabled_flag",
        own.sampleAdaptiveOffset == their.sampleAdaptiveOffset
      ),
      ("pcm_enabled_flag", own.pcm == their.pcm),
      (
        "strong_intra_smoothing_enabled_flag",
        own.strongIntraSmoothing == their.strongIntraSmoothing
      ),
      ("sps_range_extension", own.rangeExtension == their.rangeExtension),
    ]
    return comparisons.first { !$0.isEqual }?.field
  }
}

extension SliceSegmentHeader {
  /// Whether the slice refers to one picture, once.
  ///
  /// The reference picture set may hold others, for later pictures.
  var hasOneReference: Bool { isDependent || sliceType == .p && activeCountL0 == 1 }

  /// The beginning of the NAL unit of this base-layer P slice segment as one of an IDR picture of
  /// layer 1 whose one reference is the base picture: all in front of the slice data.
  ///
  /// - Parameters:
  ///   - base: the first slice segment header of the base picture.
  ///   - log2MaxPOCLSB: of the dependent layer's SPS.
  func predictedKeyframeBeginning(
    base: SliceSegmentHeader, pictureParameterSetID: Int, log2MaxPOCLSB: Int
  ) -> [UInt8] {
    var writer = BitWriter()
    writer.flag(isFirstInPicture)
    writer.flag(base.noOutputOfPriorPictures)
    return dependentLayerBeginning(
      of: base.header, writer, pictureParameterSetID: pictureParameterSetID
    ) {
      $0.u(0, log2MaxPOCLSB)
      // An IDR picture has no reference picture set and no slice_temporal_mvp_enabled_flag;
      // inter_layer_pred_enabled_flag:
      $0.flag(true)
      $0.copy(layout.interLayer.upperBound..<layout.referenceLists.lowerBound, of: rbsp)
      // num_ref_idx_active_override_flag, for one active reference
      $0.flag(true)
      $0.ue(0)
      $0.copy(layout.referenceLists.upperBound..<layout.end, of: rbsp)
    }
  }
}
