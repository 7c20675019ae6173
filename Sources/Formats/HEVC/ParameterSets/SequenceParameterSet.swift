// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// `seq_parameter_set_rbsp()`, H.265 (7.3.2.2), in the regular form and in the short form allowed
/// for layers above the base (F.7.3.2.2.1).
public struct SequenceParameterSet: Hashable, Sendable {
  /// The NAL unit header.
  public private(set) var header: NALUnitHeader
  /// `sps_video_parameter_set_id`, 0 to 15.
  public private(set) var videoParameterSetID = 0
  /// Number of temporal sub-layers minus 1, 0 to 6; in the short form, the VPS's value.
  public private(set) var maxSubLayersMinus1 = 0
  /// MultiLayerExtSpsFlag: whether this is the short form, with size and format in the VPS.
  public private(set) var isMultilayerForm = false
  /// `sps_temporal_id_nesting_flag`
  public private(set) var temporalIDNesting = true
  /// Profile, tier and level; nil in the short form.
  public private(set) var profileTierLevel: ProfileTierLevel?
  /// `sps_seq_parameter_set_id`, 0 to 15.
  public private(set) var id = 0
  /// Size and sample format; in the short form, taken from the VPS.
  public private(set) var format: RepresentationFormat
  /// Number of bits of `slice_pic_order_cnt_lsb`, 4 to 16.
  public private(set) var log2MaxPOCLSB = 4
  /// DPB requirements, one entry for all sub-layers or one per sub-layer; empty in the short form.
  public private(set) var subLayerOrdering: [VideoParameterSet.SubLayerOrdering] = []
  /// Coding tools and block sizes that the slice data depends on.
  public private(set) var tools = CodingTools()
  /// The candidate sets `st_ref_pic_set(0)`, `st_ref_pic_set(1)` and so on.
  public private(set) var shortTermSets: [ShortTermReferencePictureSet] = []
  /// `long_term_ref_pics_present_flag`
  public private(set) var longTermPicturesPresent = false
  /// `lt_ref_pic_poc_lsb_sps` and `used_by_curr_pic_lt_sps_flag`
  public private(set) var longTermCandidates: [LongTermCandidate] = []
  /// `vui_parameters()`; nil if not present.
  public private(set) var vui: VideoUsabilityInformation?
  /// `inter_view_mv_vert_constraint_flag` of `sps_multilayer_extension()`; nil if that is not
  /// present.
  public private(set) var interViewMVVerticalConstraint: Bool?

  /// A long-term reference picture that slices can refer to by index.
  public struct LongTermCandidate: Hashable, Sendable {
    /// `lt_ref_pic_poc_lsb_sps`
    public var pocLSB: Int
    /// `used_by_curr_pic_lt_sps_flag`
    public var isUsedByCurrentPicture: Bool
  }

  /// Bit positions of fields in ``rbsp``, for copying the unchanged parts when rewriting.
  struct Layout: Hashable, Sendable {
    var id = 0
    var pocLSB = 0
    var codingTools = 0
    /// After `scaling_list_enabled_flag`, before the flags that only the short form has.
    var scalingListInference = 0
    var scalingListData = 0
    var shortTermSets = 0
    var longTermPictures = 0
    var temporalMVP = 0
    var extensions = 0
    var rangeExtension = 0..<0
  }

  /// The NAL unit, with emulation prevention removed.
  private(set) var rbsp: [UInt8]
  private(set) var layout = Layout()

  /// Reads an SPS NAL unit.
  ///
  /// - Parameters:
  ///   - nalUnit: the NAL unit, including its header.
  ///   - videoParameterSet: the VPS; required for the short form, which takes size, format and the
  ///     number of sub-layers from it.
  /// - Throws: `SyntaxError` if the SPS is invalid or uses an unsupported extension, or if the
  ///   short form's VPS is missing.
  public init(
    nalUnit: [UInt8], videoParameterSet: VideoParameterSet? = nil
  ) throws(SyntaxError) {
    rbsp = RBSP(nalUnit).bytes
    var reader = BitReader(rbsp, structure: "seq_parameter_set_rbsp", position: 16)
    guard let header = NALUnitHeader(nalUnit.span.bytes) else {
      throw reader.failure("nal_unit_header", .endOfData, at: 0)
    }
    self.header = header
    format = RepresentationFormat(
      width: 0, height: 0, sampleFormat: nil, conformanceWindow: nil)
    try readHead(&reader, videoParameterSet)
    layout.pocLSB = reader.position
    log2MaxPOCLSB = try reader.ue("log2_max_pic_order_cnt_lsb_minus4", in: 0...12) + 4
    if !isMultilayerForm {
      subLayerOrdering = try VideoParameterSet.SubLayerOrdering.read(
        &reader, maxSubLayersMinus1: maxSubLayersMinus1)
    }
    layout.codingTools = reader.position
    try readCodingTools(&reader)
    try readReferencePictures(&reader)
    layout.temporalMVP = reader.position
    tools.temporalMotionVectorPrediction = try reader.flag("sps_temporal_mvp_enabled_flag")
    tools.strongIntraSmoothing = try reader.flag("strong_intra_smoothing_enabled_flag")
    if try reader.flag("vui_parameters_present_flag") {
      vui = try VideoUsabilityInformation(&reader, maxSubLayersMinus1: maxSubLayersMinus1)
    }
    layout.extensions = reader.position
    try readExtensions(&reader)
  }

  /// Reads everything before `log2_max_pic_order_cnt_lsb_minus4`.
  private mutating func readHead(
    _ reader: inout BitReader, _ vps: VideoParameterSet?
  ) throws(SyntaxError) {
    videoParameterSetID = try reader.u(4, "sps_video_parameter_set_id")
    let start = reader.position
    let subLayers = try reader.u(3, "sps_max_sub_layers_minus1")
    isMultilayerForm = header.layerID != 0 && subLayers == 7
    if isMultilayerForm {
      layout.id = reader.position
      id = try reader.ue("sps_seq_parameter_set_id", in: 0...15)
      try readFormatReference(&reader, vps)
      return
    }
    guard subLayers <= 6 else {
      throw reader.failure(
        "sps_max_sub_layers_minus1", .outOfRange(value: subLayers, allowed: 0...6), at: start)
    }
    maxSubLayersMinus1 = subLayers
    temporalIDNesting = try reader.flag("sps_temporal_id_nesting_flag")
    profileTierLevel = try ProfileTierLevel(
      &reader, profilePresent: true, maxSubLayersMinus1: maxSubLayersMinus1)
    layout.id = reader.position
    id = try reader.ue("sps_seq_parameter_set_id", in: 0...15)
    try readFormat(&reader)
  }

  private mutating func readFormatReference(
    _ reader: inout BitReader, _ vps: VideoParameterSet?
  ) throws(SyntaxError) {
    let start = reader.position
    var index: Int?
    if try reader.flag("update_rep_format_flag") {
      index = try reader.u(8, "sps_rep_format_idx")
    }
    guard let vps, vps.id == videoParameterSetID, let pair = vps.multilayer?.pair else {
      throw reader.failure(
        "update_rep_format_flag",
        .missing("VPS \(videoParameterSetID) with an extension for two layers"), at: start)
    }
    let used = index ?? pair.representationFormatIndexes[1]
    let formats = pair.representationFormats
    guard used < formats.count else {
      throw reader.failure(
        "sps_rep_format_idx", .outOfRange(value: used, allowed: 0...formats.count - 1), at: start)
    }
    format = formats[used]
    if format.sampleFormat == nil { format.sampleFormat = formats[0].sampleFormat }
    maxSubLayersMinus1 = vps.maxSubLayersMinus1
    temporalIDNesting = vps.temporalIDNesting
  }

  private mutating func readFormat(_ reader: inout BitReader) throws(SyntaxError) {
    let chroma = try reader.ue("chroma_format_idc", in: 0...3)
    let planes = chroma == 3 ? try reader.flag("separate_colour_plane_flag") : false
    // Level 8.5 has no limit; 65535 is the largest size a rep_format can hold.
    format.width = try reader.ue("pic_width_in_luma_samples", in: 1...65535)
    format.height = try reader.ue("pic_height_in_luma_samples", in: 1...65535)
    if try reader.flag("conformance_window_flag") {
      format.conformanceWindow = try PictureWindow(&reader)
    }
    format.sampleFormat = .init(
      chromaFormatIDC: chroma, separateColourPlanes: planes,
      bitDepthLuma: try reader.ue("bit_depth_luma_minus8", in: 0...8) + 8,
      bitDepthChroma: try reader.ue("bit_depth_chroma_minus8", in: 0...8) + 8)
  }

  private mutating func readCodingTools(_ reader: inout BitReader) throws(SyntaxError) {
    tools.log2MinCodingBlockSizeMinus3 = try reader.ue(
      "log2_min_luma_coding_block_size_minus3", in: 0...3)
    tools.log2DiffMaxMinCodingBlockSize = try reader.ue(
      "log2_diff_max_min_luma_coding_block_size",
      in: 0...3 - tools.log2MinCodingBlockSizeMinus3)
    tools.log2MinTransformBlockSizeMinus2 = try reader.ue(
      "log2_min_luma_transform_block_size_minus2", in: 0...3)
    tools.log2DiffMaxMinTransformBlockSize = try reader.ue(
      "log2_diff_max_min_luma_transform_block_size", in: 0...3)
    tools.maxTransformHierarchyDepthInter = try reader.ue(
      "max_transform_hierarchy_depth_inter", in: 0...4)
    tools.maxTransformHierarchyDepthIntra = try reader.ue(
      "max_transform_hierarchy_depth_intra", in: 0...4)
    tools.scalingList = try readScalingList(&reader)
    tools.asymmetricMotionPartitions = try reader.flag("amp_enabled_flag")
    tools.sampleAdaptiveOffset = try reader.flag("sample_adaptive_offset_enabled_flag")
    if try reader.flag("pcm_enabled_flag") { tools.pcm = try CodingTools.PCM(&reader) }
  }

  private mutating func readScalingList(
    _ reader: inout BitReader
  ) throws(SyntaxError) -> CodingTools.ScalingList {
    let isEnabled = try reader.flag("scaling_list_enabled_flag")
    layout.scalingListInference = reader.position
    layout.scalingListData = reader.position
    guard isEnabled else { return .disabled }
    if isMultilayerForm, try reader.flag("sps_infer_scaling_list_flag") {
      _ = try reader.u(6, "sps_scaling_list_ref_layer_id")
      layout.scalingListData = reader.position
      return .inferred
    }
    layout.scalingListData = reader.position
    guard try reader.flag("sps_scaling_list_data_present_flag") else { return .standard }
    return .explicit(try ScalingListData(&reader))
  }

  private mutating func readReferencePictures(_ reader: inout BitReader) throws(SyntaxError) {
    layout.shortTermSets = reader.position
    for _ in 0..<(try reader.ue("num_short_term_ref_pic_sets", in: 0...64)) {
      shortTermSets.append(
        try ShortTermReferencePictureSet(&reader, candidates: shortTermSets, isInSlice: false))
    }
    layout.longTermPictures = reader.position
    longTermPicturesPresent = try reader.flag("long_term_ref_pics_present_flag")
    guard longTermPicturesPresent else { return }
    for _ in 0..<(try reader.ue("num_long_term_ref_pics_sps", in: 0...32)) {
      longTermCandidates.append(
        LongTermCandidate(
          pocLSB: try reader.u(log2MaxPOCLSB, "lt_ref_pic_poc_lsb_sps"),
          isUsedByCurrentPicture: try reader.flag("used_by_curr_pic_lt_sps_flag")))
    }
  }

  private mutating func readExtensions(_ reader: inout BitReader) throws(SyntaxError) {
    guard try reader.flag("sps_extension_present_flag") else { return }
    let range = try reader.flag("sps_range_extension_flag")
    let multilayer = try reader.flag("sps_multilayer_extension_flag")
    if try reader.flag("sps_3d_extension_flag") {
      throw reader.failure("sps_3d_extension_flag", .unsupported("3D-HEVC"))
    }
    if try reader.flag("sps_scc_extension_flag") {
      throw reader.failure("sps_scc_extension_flag", .unsupported("screen content coding"))
    }
    _ = try reader.u(4, "sps_extension_4bits")
    if range {
      let start = reader.position
      tools.rangeExtension = try reader.u(9, "sps_range_extension")
      layout.rangeExtension = start..<reader.position
    }
    if multilayer {
      interViewMVVerticalConstraint = try reader.flag("inter_view_mv_vert_constraint_flag")
    }
  }
}

/// Variables derived from the syntax elements of an SPS, H.265 (7.4.3.2.1).
extension SequenceParameterSet {
  /// ChromaArrayType; 0 if the colour planes are coded separately.
  public var chromaArrayType: Int {
    guard let sample = format.sampleFormat, !sample.separateColourPlanes else { return 0 }
    return sample.chromaFormatIDC
  }

  /// PicWidthInCtbsY
  public var widthInCTBs: Int { ceilingShift(format.width, tools.ctbLog2Size) }
  /// PicHeightInCtbsY
  public var heightInCTBs: Int { ceilingShift(format.height, tools.ctbLog2Size) }
  /// PicSizeInCtbsY
  public var sizeInCTBs: Int { widthInCTBs * heightInCTBs }

  /// Size of the conformance window in luma samples; a dimension is 0 if the cropping leaves
  /// nothing of it.
  public var visibleSize: (width: Int, height: Int) {
    guard let window = format.conformanceWindow else { return (format.width, format.height) }
    let chroma = format.sampleFormat?.chromaFormatIDC ?? 1
    let subWidth = chroma == 1 || chroma == 2 ? 2 : 1
    let subHeight = chroma == 1 ? 2 : 1
    return (
      max(format.width - subWidth * (window.left + window.right), 0),
      max(format.height - subHeight * (window.top + window.bottom), 0)
    )
  }

  /// DPB requirements of the highest sub-layer; nil in the short form, where the VPS has them.
  public var dpb: VideoParameterSet.SubLayerOrdering? { subLayerOrdering.last }

  private func ceilingShift(_ value: Int, _ bits: Int) -> Int { (value + (1 << bits) - 1) >> bits }
}

/// `scaling_list_data()`, H.265 (7.3.4), as coded values, for comparing two layers.
public struct ScalingListData: Hashable, Sendable {
  /// Values of the syntax elements in coding order.
  public private(set) var codedValues: [Int16] = []

  init(_ reader: inout BitReader) throws(SyntaxError) {
    for size in 0..<4 {
      for matrix in stride(from: 0, to: 6, by: size == 3 ? 3 : 1) {
        if try reader.flag("scaling_list_pred_mode_flag") {
          append(1)
          try readCoefficients(&reader, size)
        } else {
          append(0)
          let limit = size == 3 ? matrix / 3 : matrix
          append(try reader.ue("scaling_list_pred_matrix_id_delta", in: 0...limit))
        }
      }
    }
  }

  private mutating func readCoefficients(
    _ reader: inout BitReader, _ size: Int
  ) throws(SyntaxError) {
    if size > 1 {
      append(try reader.se("scaling_list_dc_coef_minus8", in: -7...247))
    }
    for _ in 0..<min(64, 1 << (4 + size << 1)) {
      append(try reader.se("scaling_list_delta_coef", in: -128...127))
    }
  }

  private mutating func append(_ value: Int) {
    codedValues.append(Int16(truncatingIfNeeded: value))
  }
}

/// SPS parameters that the slice data depends on. Two layers can share one single-layer SPS only if
/// these are equal.
public struct CodingTools: Hashable, Sendable {
  /// PCM coding parameters, `pcm_enabled_flag`.
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

  /// Scaling list mode, `scaling_list_enabled_flag`.
  public enum ScalingList: Hashable, Sendable {
    /// Scaling lists are not used.
    case disabled
    /// The default lists of tables 7-5 and 7-6.
    case standard
    /// The lists of the base layer, `sps_infer_scaling_list_flag`.
    case inferred
    /// The lists sent in the SPS.
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
  /// `scaling_list_enabled_flag` and the fields it enables.
  public var scalingList = ScalingList.disabled
  /// `amp_enabled_flag`
  public var asymmetricMotionPartitions = false
  /// `sample_adaptive_offset_enabled_flag`
  public var sampleAdaptiveOffset = false
  /// `pcm_enabled_flag` and the fields it enables; nil if PCM is disabled.
  public var pcm: PCM?
  /// `sps_temporal_mvp_enabled_flag`
  public var temporalMotionVectorPrediction = false
  /// `strong_intra_smoothing_enabled_flag`
  public var strongIntraSmoothing = false
  /// The nine flags of `sps_range_extension()`, with `transform_skip_rotation_enabled_flag` in bit
  /// 8; 0 if the extension is not present.
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
