// SPDX-License-Identifier: MPL-2.0

internal import HEVC
internal import StereoVideo

/// `pic_parameter_set_rbsp()`, H.264 (7.3.2.2).
package struct PictureParameterSet: Hashable, Sendable {
  /// How B slices are weighted, `weighted_bipred_idc`.
  package enum BiPrediction: Int, Sendable {
    case standard = 0
    case explicit = 1
    case implicit = 2
  }

  /// `pic_parameter_set_id`, 0 to 255.
  package private(set) var id = 0
  /// `seq_parameter_set_id`, 0 to 31: an SPS for slices of the base view, a subset SPS for others.
  package private(set) var sequenceParameterSetID = 0
  /// `entropy_coding_mode_flag`
  package private(set) var isCABAC = false
  /// `bottom_field_pic_order_in_frame_present_flag`
  package private(set) var sendsBottomFieldOrder = false
  /// `num_ref_idx_l0_default_active_minus1` and `num_ref_idx_l1_default_active_minus1`, plus 1.
  package private(set) var defaultReferenceCounts = [1, 1]
  /// `weighted_pred_flag`
  package private(set) var weightsPSlices = false
  /// `weighted_bipred_idc`
  package private(set) var biPrediction = BiPrediction.standard
  /// `deblocking_filter_control_present_flag`
  package private(set) var controlsDeblocking = false
  /// `redundant_pic_cnt_present_flag`
  package private(set) var sendsRedundantCount = false
  /// `transform_8x8_mode_flag`
  package private(set) var transforms8x8 = false
  /// The scaling lists; nil if `pic_scaling_matrix_present_flag` is 0.
  package private(set) var scalingLists: ScalingLists?
  /// `second_chroma_qp_index_offset`
  package private(set) var secondChromaQPOffset = 0
  /// Where parts begin in ``rbsp``, in bits.
  package private(set) var layout = Layout()
  /// The NAL unit, with emulation prevention removed.
  package let rbsp: [UInt8]

  /// Bit positions for copying the parts that do not change.
  package struct Layout: Hashable, Sendable {
    /// `num_slice_groups_minus1`
    package var sliceGroups = 0
    /// `deblocking_filter_control_present_flag`
    package var deblockingControl = 0
    /// `transform_8x8_mode_flag`, or the trailing bits.
    package var highProfile = 0
    /// The trailing bits.
    package var end = 0
  }

  /// Reads `pic_parameter_set_id` and `seq_parameter_set_id` alone.
  static func ids(of nalUnit: RawSpan) throws(SyntaxError) -> (pps: Int, sps: Int) {
    var reader = BitReader(
      RBSP(nalUnit, limit: 16).bytes, structure: "pic_parameter_set_rbsp", position: 8)
    return (
      try reader.ue("pic_parameter_set_id", in: 0...255),
      try reader.ue("seq_parameter_set_id", in: 0...31)
    )
  }

  /// Reads a PPS NAL unit that refers to an SPS of `format`.
  ///
  /// - Throws: ``MVCError/sliceGroups`` or ``MVCError/syntax(_:)``.
  package init(
    nalUnit: [UInt8], format: SequenceParameterSet.Format
  ) throws(MVCError) {
    rbsp = RBSP(nalUnit).bytes
    var reader = BitReader(rbsp, structure: "pic_parameter_set_rbsp", position: 8)
    let hasSliceGroups: Bool
    do throws(SyntaxError) {
      hasSliceGroups = try readBeginning(&reader)
      if !hasSliceGroups { try readRest(&reader, format) }
    } catch {
      throw .syntax(error)
    }
    if hasSliceGroups { throw .sliceGroups }
  }

  /// Reads up to `num_slice_groups_minus1`, and returns whether there are several.
  private mutating func readBeginning(_ reader: inout BitReader) throws(SyntaxError) -> Bool {
    id = try reader.ue("pic_parameter_set_id", in: 0...255)
    sequenceParameterSetID = try reader.ue("seq_parameter_set_id", in: 0...31)
    isCABAC = try reader.flag("entropy_coding_mode_flag")
    sendsBottomFieldOrder = try reader.flag("bottom_field_pic_order_in_frame_present_flag")
    layout.sliceGroups = reader.position
    return try reader.ue("num_slice_groups_minus1", in: 0...7) > 0
  }

  private mutating func readRest(
    _ reader: inout BitReader, _ format: SequenceParameterSet.Format
  ) throws(SyntaxError) {
    for list in 0..<2 {
      defaultReferenceCounts[list] =
        try reader.ue("num_ref_idx_default_active_minus1", in: 0...31) + 1
    }
    weightsPSlices = try reader.flag("weighted_pred_flag")
    let weighting = try reader.u(2, "weighted_bipred_idc", in: 0...2)
    biPrediction = BiPrediction(rawValue: weighting) ?? .standard
    _ = try reader.se("pic_init_qp_minus26", in: -62...25)
    _ = try reader.se("pic_init_qs_minus26", in: -26...25)
    secondChromaQPOffset = try reader.se("chroma_qp_index_offset", in: -12...12)
    layout.deblockingControl = reader.position
    controlsDeblocking = try reader.flag("deblocking_filter_control_present_flag")
    _ = try reader.flag("constrained_intra_pred_flag")
    sendsRedundantCount = try reader.flag("redundant_pic_cnt_present_flag")
    layout.highProfile = reader.position
    layout.end = reader.trailingBitsPosition
    guard reader.moreRBSPData else {
      layout.end = reader.position
      return
    }
    transforms8x8 = try reader.flag("transform_8x8_mode_flag")
    if try reader.flag("pic_scaling_matrix_present_flag") {
      scalingLists = try ScalingLists(&reader, count: scalingListCount(format))
    }
    secondChromaQPOffset = try reader.se("second_chroma_qp_index_offset", in: -12...12)
    guard reader.position <= layout.end else {
      throw reader.failure("rbsp_trailing_bits", .endOfData)
    }
  }

  /// Number of scaling lists of a PPS.
  func scalingListCount(_ format: SequenceParameterSet.Format) -> Int {
    6 + (transforms8x8 ? format.scalingListCount8x8 : 0)
  }
}
