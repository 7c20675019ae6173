// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// `pic_parameter_set_rbsp()`, H.265 (7.3.2.3).
public struct PictureParameterSet: Hashable, Sendable {
  /// The NAL unit header.
  public private(set) var header: NALUnitHeader
  /// `pps_pic_parameter_set_id`, 0 to 63.
  public private(set) var id = 0
  /// `pps_seq_parameter_set_id`, 0 to 15.
  public private(set) var sequenceParameterSetID = 0
  /// `dependent_slice_segments_enabled_flag`
  public private(set) var dependentSliceSegmentsEnabled = false
  /// `output_flag_present_flag`
  public private(set) var outputFlagPresent = false
  /// `num_extra_slice_header_bits`, 0 to 7.
  public private(set) var numExtraSliceHeaderBits = 0
  /// `cabac_init_present_flag`
  public private(set) var cabacInitPresent = false
  /// `num_ref_idx_l0_default_active_minus1`, 0 to 14.
  public private(set) var numRefIndexL0DefaultActiveMinus1 = 0
  /// `num_ref_idx_l1_default_active_minus1`, 0 to 14.
  public private(set) var numRefIndexL1DefaultActiveMinus1 = 0
  /// `pps_slice_chroma_qp_offsets_present_flag`
  public private(set) var sliceChromaQPOffsetsPresent = false
  /// `init_qp_minus26` + 26, from -48 to 51.
  public private(set) var initialQP = 26
  /// `weighted_pred_flag`
  public private(set) var weightedPrediction = false
  /// `weighted_bipred_flag`
  public private(set) var weightedBiprediction = false
  /// `tiles_enabled_flag`
  public private(set) var tilesEnabled = false
  /// `entropy_coding_sync_enabled_flag`: wavefronts.
  public private(set) var entropyCodingSyncEnabled = false
  /// `pps_loop_filter_across_slices_enabled_flag`
  public private(set) var loopFilterAcrossSlicesEnabled = false
  /// `deblocking_filter_override_enabled_flag`
  public private(set) var deblockingFilterOverrideEnabled = false
  /// `pps_deblocking_filter_disabled_flag`
  public private(set) var deblockingFilterDisabled = false
  /// `lists_modification_present_flag`
  public private(set) var listsModificationPresent = false
  /// `slice_segment_header_extension_present_flag`
  public private(set) var sliceSegmentHeaderExtensionPresent = false
  /// `pps_scaling_list_data()`; nil if not present.
  public private(set) var scalingList: ScalingListData?
  /// `chroma_qp_offset_list_enabled_flag` of `pps_range_extension()`.
  public private(set) var chromaQPOffsetListEnabled = false
  /// `poc_reset_info_present_flag` of `pps_multilayer_extension()`.
  public private(set) var pocResetInfoPresent = false
  /// `pps_infer_scaling_list_flag` of `pps_multilayer_extension()`.
  public private(set) var infersScalingList = false
  /// Whether `pps_multilayer_extension()` selects a region of the reference layer's picture or a
  /// sub-sample phase, so that the picture cannot be used unchanged for inter-layer prediction.
  public private(set) var resamplesReferenceLayer = false

  /// Bit positions of fields in ``rbsp``, for copying the unchanged parts when rewriting.
  struct Layout: Hashable, Sendable {
    var dependentSliceSegments = 0
    var outputFlagPresent = 0
    var signDataHiding = 0
    var listsModification = 0
    var sliceHeaderExtensionPresent = 0
    var extensions = 0
    var rangeExtension = 0..<0
  }

  /// The NAL unit, with emulation prevention removed.
  private(set) var rbsp: [UInt8]
  private(set) var layout = Layout()

  /// Reads a PPS NAL unit, including its header.
  public init(nalUnit: [UInt8]) throws(SyntaxError) {
    rbsp = RBSP(nalUnit).bytes
    var reader = BitReader(rbsp, structure: "pic_parameter_set_rbsp", position: 16)
    guard let header = NALUnitHeader(nalUnit.span.bytes) else {
      throw reader.failure("nal_unit_header", .endOfData, at: 0)
    }
    self.header = header
    id = try reader.ue("pps_pic_parameter_set_id", in: 0...63)
    sequenceParameterSetID = try reader.ue("pps_seq_parameter_set_id", in: 0...15)
    try readSliceSyntax(&reader)
    try readTools(&reader)
    layout.extensions = reader.position
    try readExtensions(&reader)
  }

  private mutating func readSliceSyntax(_ reader: inout BitReader) throws(SyntaxError) {
    layout.dependentSliceSegments = reader.position
    dependentSliceSegmentsEnabled = try reader.flag("dependent_slice_segments_enabled_flag")
    layout.outputFlagPresent = reader.position
    outputFlagPresent = try reader.flag("output_flag_present_flag")
    numExtraSliceHeaderBits = try reader.u(3, "num_extra_slice_header_bits")
    layout.signDataHiding = reader.position
    _ = try reader.flag("sign_data_hiding_enabled_flag")
    cabacInitPresent = try reader.flag("cabac_init_present_flag")
    numRefIndexL0DefaultActiveMinus1 = try reader.ue(
      "num_ref_idx_l0_default_active_minus1", in: 0...14)
    numRefIndexL1DefaultActiveMinus1 = try reader.ue(
      "num_ref_idx_l1_default_active_minus1", in: 0...14)
  }

  private mutating func readTools(_ reader: inout BitReader) throws(SyntaxError) {
    initialQP = 26 + (try reader.se("init_qp_minus26", in: -74...25))
    _ = try reader.flag("constrained_intra_pred_flag")
    transformSkipEnabled = try reader.flag("transform_skip_enabled_flag")
    if try reader.flag("cu_qp_delta_enabled_flag") {
      _ = try reader.ue("diff_cu_qp_delta_depth", in: 0...3)
    }
    _ = try reader.se("pps_cb_qp_offset", in: -12...12)
    _ = try reader.se("pps_cr_qp_offset", in: -12...12)
    sliceChromaQPOffsetsPresent = try reader.flag("pps_slice_chroma_qp_offsets_present_flag")
    weightedPrediction = try reader.flag("weighted_pred_flag")
    weightedBiprediction = try reader.flag("weighted_bipred_flag")
    _ = try reader.flag("transquant_bypass_enabled_flag")
    tilesEnabled = try reader.flag("tiles_enabled_flag")
    entropyCodingSyncEnabled = try reader.flag("entropy_coding_sync_enabled_flag")
    if tilesEnabled { try readTiles(&reader) }
    loopFilterAcrossSlicesEnabled = try reader.flag("pps_loop_filter_across_slices_enabled_flag")
    try readDeblocking(&reader)
    if try reader.flag("pps_scaling_list_data_present_flag") {
      scalingList = try ScalingListData(&reader)
    }
    layout.listsModification = reader.position
    listsModificationPresent = try reader.flag("lists_modification_present_flag")
    _ = try reader.ue("log2_parallel_merge_level_minus2", in: 0...4)
    layout.sliceHeaderExtensionPresent = reader.position
    sliceSegmentHeaderExtensionPresent = try reader.flag(
      "slice_segment_header_extension_present_flag")
  }

  private func readTiles(_ reader: inout BitReader) throws(SyntaxError) {
    // A picture is at most 65535 luma samples wide, which is 4096 coding tree blocks of 16 samples.
    let columns = try reader.ue("num_tile_columns_minus1", in: 0...4095)
    let rows = try reader.ue("num_tile_rows_minus1", in: 0...4095)
    if try !reader.flag("uniform_spacing_flag") {
      for _ in 0..<columns { _ = try reader.ue("column_width_minus1", in: 0...4095) }
      for _ in 0..<rows { _ = try reader.ue("row_height_minus1", in: 0...4095) }
    }
    _ = try reader.flag("loop_filter_across_tiles_enabled_flag")
  }

  private mutating func readDeblocking(_ reader: inout BitReader) throws(SyntaxError) {
    guard try reader.flag("deblocking_filter_control_present_flag") else { return }
    deblockingFilterOverrideEnabled = try reader.flag("deblocking_filter_override_enabled_flag")
    deblockingFilterDisabled = try reader.flag("pps_deblocking_filter_disabled_flag")
    guard !deblockingFilterDisabled else { return }
    _ = try reader.se("pps_beta_offset_div2", in: -6...6)
    _ = try reader.se("pps_tc_offset_div2", in: -6...6)
  }

  private var transformSkipEnabled = false

  private mutating func readExtensions(_ reader: inout BitReader) throws(SyntaxError) {
    guard try reader.flag("pps_extension_present_flag") else { return }
    let range = try reader.flag("pps_range_extension_flag")
    let multilayer = try reader.flag("pps_multilayer_extension_flag")
    if try reader.flag("pps_3d_extension_flag") {
      throw reader.failure("pps_3d_extension_flag", .unsupported("3D-HEVC"))
    }
    if try reader.flag("pps_scc_extension_flag") {
      throw reader.failure("pps_scc_extension_flag", .unsupported("screen content coding"))
    }
    _ = try reader.u(4, "pps_extension_4bits")
    if range {
      let start = reader.position
      try readRangeExtension(&reader)
      layout.rangeExtension = start..<reader.position
    }
    if multilayer { try readMultilayerExtension(&reader) }
  }

  /// `pps_range_extension()` (7.3.2.3.2)
  private mutating func readRangeExtension(_ reader: inout BitReader) throws(SyntaxError) {
    if transformSkipEnabled {
      _ = try reader.ue("log2_max_transform_skip_block_size_minus2", in: 0...3)
    }
    _ = try reader.flag("cross_component_prediction_enabled_flag")
    chromaQPOffsetListEnabled = try reader.flag("chroma_qp_offset_list_enabled_flag")
    if chromaQPOffsetListEnabled {
      _ = try reader.ue("diff_cu_chroma_qp_offset_depth", in: 0...3)
      for _ in 0...(try reader.ue("chroma_qp_offset_list_len_minus1", in: 0...5)) {
        _ = try reader.se("cb_qp_offset_list", in: -12...12)
        _ = try reader.se("cr_qp_offset_list", in: -12...12)
      }
    }
    _ = try reader.ue("log2_sao_offset_scale_luma", in: 0...6)
    _ = try reader.ue("log2_sao_offset_scale_chroma", in: 0...6)
  }

  /// `pps_multilayer_extension()` (F.7.3.2.3.4)
  private mutating func readMultilayerExtension(_ reader: inout BitReader) throws(SyntaxError) {
    pocResetInfoPresent = try reader.flag("poc_reset_info_present_flag")
    infersScalingList = try reader.flag("pps_infer_scaling_list_flag")
    if infersScalingList { _ = try reader.u(6, "pps_scaling_list_ref_layer_id") }
    for _ in 0..<(try reader.ue("num_ref_loc_offsets", in: 0...63)) {
      _ = try reader.u(6, "ref_loc_offset_layer_id")
      for _ in 0..<2 where try reader.flag("ref_region_offset_present_flag") {
        for _ in 0..<4 where try reader.se("ref_region_offset") != 0 {
          resamplesReferenceLayer = true
        }
      }
      if try reader.flag("resample_phase_set_present_flag") {
        // phase_hor_luma, phase_ver_luma, phase_hor_chroma_plus8, phase_ver_chroma_plus8
        for none in [0, 0, 8, 8] where try reader.ue("resample_phase", in: 0...63) != none {
          resamplesReferenceLayer = true
        }
      }
    }
    if try reader.flag("colour_mapping_enabled_flag") {
      throw reader.failure("colour_mapping_enabled_flag", .unsupported("colour mapping"))
    }
  }
}
