// SPDX-License-Identifier: MPL-2.0

internal import HEVC
package import StereoVideo

/// `seq_parameter_set_data()`, H.264 (7.3.2.1.1), of an SPS or a subset SPS.
package struct SequenceParameterSet: Hashable, Sendable {
  /// `profile_idc`
  package private(set) var profile = 0
  /// `level_idc`, ten times the level.
  package private(set) var level = 0
  /// `seq_parameter_set_id`, 0 to 31. SPSs and subset SPSs are numbered separately.
  package private(set) var id = 0
  /// Size, sample format and coding tools.
  package private(set) var format = Format()
  /// The scaling lists without gaps; nil if `seq_scaling_matrix_present_flag` is 0.
  package private(set) var scalingLists: [ScalingList]?
  /// `log2_max_frame_num_minus4` + 4, 4 to 16.
  package private(set) var log2MaxFrameNum = 4
  /// How picture order counts are coded.
  package private(set) var orderCount = PictureOrderCountSyntax.sent(log2MaxLSB: 4)
  /// `max_num_ref_frames`, 0 to 16.
  package private(set) var maxNumRefFrames = 0
  /// `gaps_in_frame_num_value_allowed_flag`
  package private(set) var allowsFrameNumGaps = false
  /// The VUI parameters; nil if there are none.
  package private(set) var vui: VideoUsabilityInformation?
  /// Range of the cropping rectangle in ``rbsp``, with its flag.
  package private(set) var cropping = 0..<0
  /// `frame_crop_left_offset`, right, top and bottom.
  private var crop = [0, 0, 0, 0]
  /// Range of the whole structure in ``rbsp``, from `seq_parameter_set_id` on.
  package private(set) var data = 0..<0
  /// The NAL unit, with emulation prevention removed.
  package let rbsp: [UInt8]

  /// The properties that must be equal in both views for one decoder to decode both.
  package struct Format: Hashable, Sendable {
    /// `chroma_format_idc`: 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    package var chromaFormat = 1
    /// `separate_colour_plane_flag`
    package var separatesColourPlanes = false
    /// `bit_depth_luma_minus8`
    package var bitDepthLumaMinus8 = 0
    /// `bit_depth_chroma_minus8`
    package var bitDepthChromaMinus8 = 0
    /// `qpprime_y_zero_transform_bypass_flag`
    package var bypassesTransform = false
    /// `pic_width_in_mbs_minus1` + 1
    package var widthInMBs = 0
    /// `pic_height_in_map_units_minus1` + 1
    package var heightInMapUnits = 0
    /// `frame_mbs_only_flag`
    package var isFrameOnly = true
    /// `mb_adaptive_frame_field_flag`
    package var isMBAFF = false
    /// `direct_8x8_inference_flag`
    package var direct8x8Inference = false

    /// FrameHeightInMbs
    package var heightInMBs: Int { isFrameOnly ? heightInMapUnits : 2 * heightInMapUnits }
    /// Number of 8x8 scaling lists, if there are any.
    var scalingListCount8x8: Int { chromaFormat == 3 ? 6 : 2 }
  }

  /// Width and height of the cropped picture in samples (7.4.2.1.1).
  package var visibleSize: (width: Int, height: Int) {
    let unitX = [1, 2].contains(format.chromaFormat) ? 2 : 1
    let unitY = (format.chromaFormat == 1 ? 2 : 1) * (format.isFrameOnly ? 1 : 2)
    return (
      max(format.widthInMBs * 16 - unitX * (crop[0] + crop[1]), 1),
      max(format.heightInMBs * 16 - unitY * (crop[2] + crop[3]), 1)
    )
  }

  /// Width and height are limited to those of level 6.2: the square root of 8 * MaxFS.
  static let maximumMBs = 1055

  private static let highProfiles: Set<Int> = [
    44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 244,
  ]

  /// Reads an SPS or a subset SPS NAL unit up to its VUI.
  ///
  /// - Throws: `SyntaxError` if it is truncated or out of range.
  package init(nalUnit: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(
      RBSP(nalUnit).bytes, structure: "seq_parameter_set_data", position: 8)
    self.init(rbsp: reader.bytes)
    try read(&reader)
  }

  private init(rbsp: [UInt8]) { self.rbsp = rbsp }

  /// Reads `seq_parameter_set_id` alone.
  static func id(of nalUnit: RawSpan) throws(SyntaxError) -> Int {
    var reader = BitReader(
      RBSP(nalUnit, limit: 16).bytes, structure: "seq_parameter_set_data", position: 32)
    return try reader.ue("seq_parameter_set_id", in: 0...31)
  }

  mutating func read(_ reader: inout BitReader) throws(SyntaxError) {
    profile = try reader.u(8, "profile_idc")
    _ = try reader.u(8, "constraint_set_flags")
    level = try reader.u(8, "level_idc")
    let start = reader.position
    id = try reader.ue("seq_parameter_set_id", in: 0...31)
    if Self.highProfiles.contains(profile) { try readHighProfile(&reader) }
    log2MaxFrameNum = try reader.ue("log2_max_frame_num_minus4", in: 0...12) + 4
    orderCount = try PictureOrderCountSyntax(&reader)
    maxNumRefFrames = try reader.ue("max_num_ref_frames", in: 0...16)
    allowsFrameNumGaps = try reader.flag("gaps_in_frame_num_value_allowed_flag")
    let limit = Self.maximumMBs - 1
    format.widthInMBs = try reader.ue("pic_width_in_mbs_minus1", in: 0...limit) + 1
    format.heightInMapUnits = try reader.ue("pic_height_in_map_units_minus1", in: 0...limit) + 1
    format.isFrameOnly = try reader.flag("frame_mbs_only_flag")
    if !format.isFrameOnly { format.isMBAFF = try reader.flag("mb_adaptive_frame_field_flag") }
    format.direct8x8Inference = try reader.flag("direct_8x8_inference_flag")
    let cropStart = reader.position
    if try reader.flag("frame_cropping_flag") {
      for index in crop.indices { crop[index] = try reader.ue("frame_crop_offset", in: 0...0x7FFF) }
    }
    cropping = cropStart..<reader.position
    if try reader.flag("vui_parameters_present_flag") {
      vui = try VideoUsabilityInformation(&reader)
    }
    data = start..<reader.position
  }

  private mutating func readHighProfile(_ reader: inout BitReader) throws(SyntaxError) {
    format.chromaFormat = try reader.ue("chroma_format_idc", in: 0...3)
    if format.chromaFormat == 3 {
      format.separatesColourPlanes = try reader.flag("separate_colour_plane_flag")
    }
    format.bitDepthLumaMinus8 = try reader.ue("bit_depth_luma_minus8", in: 0...6)
    format.bitDepthChromaMinus8 = try reader.ue("bit_depth_chroma_minus8", in: 0...6)
    format.bypassesTransform = try reader.flag("qpprime_y_zero_transform_bypass_flag")
    if try reader.flag("seq_scaling_matrix_present_flag") {
      let count = 6 + format.scalingListCount8x8
      scalingLists = try ScalingLists(&reader, count: count).resolved(count: count)
    }
  }
}

/// The syntax of picture order counts, H.264 (8.2.1).
package enum PictureOrderCountSyntax: Hashable, Sendable {
  /// `pic_order_cnt_type` 0: each slice has the LSBs.
  case sent(log2MaxLSB: Int)
  /// `pic_order_cnt_type` 1: expected differences, which slices correct.
  case cycle(Cycle)
  /// `pic_order_cnt_type` 2: the order of output is that of decoding.
  case decodingOrder

  /// The fields of `pic_order_cnt_type` 1.
  package struct Cycle: Hashable, Sendable {
    /// `delta_pic_order_always_zero_flag`
    package var deltaIsZero: Bool
    /// `offset_for_non_ref_pic`
    package var offsetForNonReference: Int
    /// `offset_for_top_to_bottom_field`
    package var offsetTopToBottom: Int
    /// `offset_for_ref_frame`, at most 255.
    package var offsets: [Int]
  }

  init(_ reader: inout BitReader) throws(SyntaxError) {
    switch try reader.ue("pic_order_cnt_type", in: 0...2) {
    case 0:
      let bits = try reader.ue("log2_max_pic_order_cnt_lsb_minus4", in: 0...12) + 4
      self = .sent(log2MaxLSB: bits)
    case 1:
      var cycle = Cycle(
        deltaIsZero: try reader.flag("delta_pic_order_always_zero_flag"),
        offsetForNonReference: try reader.se("offset_for_non_ref_pic"),
        offsetTopToBottom: try reader.se("offset_for_top_to_bottom_field"), offsets: [])
      let count = try reader.ue("num_ref_frames_in_pic_order_cnt_cycle", in: 0...255)
      for _ in 0..<count { cycle.offsets.append(try reader.se("offset_for_ref_frame")) }
      self = .cycle(cycle)
    default: self = .decodingOrder
    }
  }
}
