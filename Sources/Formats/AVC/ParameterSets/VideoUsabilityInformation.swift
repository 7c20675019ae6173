// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// `vui_parameters()`, H.264 (E.1.1), as far as rewriting an SPS needs it.
package struct VideoUsabilityInformation: Hashable, Sendable {
  /// Range of the sample aspect ratio, overscan, video signal type and chroma location in the SPS,
  /// with their flags, in bits.
  package private(set) var description = 0..<0
  /// The clock; nil if `timing_info_present_flag` is 0.
  package private(set) var timing: Timing?
  /// The limits of the decoded picture buffer; nil if `bitstream_restriction_flag` is 0.
  package private(set) var restriction: Restriction?

  /// `num_units_in_tick` and the two elements after it.
  package struct Timing: Hashable, Sendable {
    /// `num_units_in_tick`
    package var unitsInTick: Int
    /// `time_scale`: ticks a second.
    package var timeScale: Int
    /// `fixed_frame_rate_flag`
    package var isFixed: Bool
  }

  /// The last two elements of the bitstream restriction.
  package struct Restriction: Hashable, Sendable {
    /// `max_num_reorder_frames`
    package var reorderFrames: Int
    /// `max_dec_frame_buffering`
    package var frameBuffering: Int
  }

  /// The value of `aspect_ratio_idc` after which width and height are sent.
  private static let extendedAspectRatio = 255

  init(_ reader: inout BitReader) throws(SyntaxError) {
    let start = reader.position
    try Self.skipDescription(&reader)
    description = start..<reader.position
    if try reader.flag("timing_info_present_flag") {
      timing = Timing(
        unitsInTick: try reader.u(32, "num_units_in_tick"),
        timeScale: try reader.u(32, "time_scale"),
        isFixed: try reader.flag("fixed_frame_rate_flag"))
    }
    let hasNALHRD = try Self.skipHRD(&reader, "nal_hrd_parameters_present_flag")
    let hasVCLHRD = try Self.skipHRD(&reader, "vcl_hrd_parameters_present_flag")
    if hasNALHRD || hasVCLHRD { _ = try reader.flag("low_delay_hrd_flag") }
    _ = try reader.flag("pic_struct_present_flag")
    guard try reader.flag("bitstream_restriction_flag") else { return }
    _ = try reader.flag("motion_vectors_over_pic_boundaries_flag")
    for _ in 0..<4 { _ = try reader.ue("max_bytes_per_pic_denom") }
    restriction = Restriction(
      reorderFrames: try reader.ue("max_num_reorder_frames", in: 0...16),
      frameBuffering: try reader.ue("max_dec_frame_buffering", in: 0...16))
  }

  private static func skipDescription(_ reader: inout BitReader) throws(SyntaxError) {
    if try reader.flag("aspect_ratio_info_present_flag"),
      try reader.u(8, "aspect_ratio_idc") == extendedAspectRatio
    {
      try reader.skip(32, "sar_width")
    }
    if try reader.flag("overscan_info_present_flag") {
      try reader.skip(1, "overscan_appropriate_flag")
    }
    if try reader.flag("video_signal_type_present_flag") {
      try reader.skip(4, "video_format")
      if try reader.flag("colour_description_present_flag") {
        try reader.skip(24, "colour_primaries")
      }
    }
    if try reader.flag("chroma_loc_info_present_flag") {
      for _ in 0..<2 { _ = try reader.ue("chroma_sample_loc_type", in: 0...5) }
    }
  }

  /// Skips `hrd_parameters()` (E.1.2) if `flag` says that they are present, and returns the flag.
  private static func skipHRD(
    _ reader: inout BitReader, _ flag: StaticString
  ) throws(SyntaxError) -> Bool {
    guard try reader.flag(flag) else { return false }
    let count = try reader.ue("cpb_cnt_minus1", in: 0...31) + 1
    try reader.skip(8, "bit_rate_scale")
    for _ in 0..<count {
      _ = try reader.ue("bit_rate_value_minus1")
      _ = try reader.ue("cpb_size_value_minus1")
      _ = try reader.flag("cbr_flag")
    }
    try reader.skip(20, "initial_cpb_removal_delay_length_minus1")
    return true
  }
}
