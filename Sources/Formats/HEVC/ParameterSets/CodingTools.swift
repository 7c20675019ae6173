// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The part of an SPS that the slice data is coded with: what two layers must have in common to
/// be decoded by one single-layer SPS.
public struct CodingTools: Hashable, Sendable {
  /// PCM coding, `pcm_enabled_flag`.
  public struct PCM: Hashable, Sendable {
    /// `pcm_sample_bit_depth_luma_minus1`
    public var bitDepthLumaMinus1: Int
    /// `pcm_sample_bit_depth_chroma_minus1`
    public var bitDepthChromaMinus1: Int
    /// `log2_min_pcm_luma_coding_block_size_minus3`
    public var log2MinBlockSizeMinus3: Int
    /// `log2_diff_max_min_pcm_luma_coding_block_size`
    public var log2DiffMaxMinBlockSize: Int
    /// `pcm_loop_filter_disabled_flag`
    public var loopFilterDisabled: Bool
  }

  /// Scaling lists, `scaling_list_enabled_flag`.
  public enum ScalingList: Hashable, Sendable {
    /// None.
    case disabled
    /// Those of table 7-5 and 7-6.
    case standard
    /// Those of the base layer, `sps_infer_scaling_list_flag`.
    case inferred
    /// Those that the SPS has.
    case explicit(ScalingListData)
  }

  /// `log2_min_luma_coding_block_size_minus3`
  public var log2MinCodingBlockSizeMinus3 = 0
  /// `log2_diff_max_min_luma_coding_block_size`
  public var log2DiffMaxMinCodingBlockSize = 0
  /// `log2_min_luma_transform_block_size_minus2`
  public var log2MinTransformBlockSizeMinus2 = 0
  /// `log2_diff_max_min_luma_transform_block_size`
  public var log2DiffMaxMinTransformBlockSize = 0
  /// `max_transform_hierarchy_depth_inter`
  public var maxTransformHierarchyDepthInter = 0
  /// `max_transform_hierarchy_depth_intra`
  public var maxTransformHierarchyDepthIntra = 0
  /// `scaling_list_enabled_flag` and what it brings.
  public var scalingList = ScalingList.disabled
  /// `amp_enabled_flag`
  public var asymmetricMotionPartitions = false
  /// `sample_adaptive_offset_enabled_flag`
  public var sampleAdaptiveOffset = false
  /// `pcm_enabled_flag` and what it brings.
  public var pcm: PCM?
  /// `sps_temporal_mvp_enabled_flag`
  public var temporalMotionVectorPrediction = false
  /// `strong_intra_smoothing_enabled_flag`
  public var strongIntraSmoothing = false
  /// The nine flags of `sps_range_extension()`, `transform_skip_rotation_enabled_flag` in bit 8;
  /// 0 where there is none.
  public var rangeExtension = 0

  /// CtbLog2SizeY, 4 to 6.
  public var ctbLog2Size: Int { log2MinCodingBlockSizeMinus3 + 3 + log2DiffMaxMinCodingBlockSize }
  /// `high_precision_offsets_enabled_flag`
  public var highPrecisionOffsets: Bool { rangeExtension >> 2 & 1 == 1 }
}

extension CodingTools.PCM {
  init(_ reader: inout BitReader) throws(SyntaxError) {
    bitDepthLumaMinus1 = try reader.u(4, "pcm_sample_bit_depth_luma_minus1")
    bitDepthChromaMinus1 = try reader.u(4, "pcm_sample_bit_depth_chroma_minus1")
    log2MinBlockSizeMinus3 = try reader.ue(
      "log2_min_pcm_luma_coding_block_size_minus3", in: 0...2)
    log2DiffMaxMinBlockSize = try reader.ue(
      "log2_diff_max_min_pcm_luma_coding_block_size", in: 0...2)
    loopFilterDisabled = try reader.flag("pcm_loop_filter_disabled_flag")
  }
}
