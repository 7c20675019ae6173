// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// `vui_parameters()`, H.265 (E.2.1).
public struct VideoUsabilityInformation: Hashable, Sendable {
  /// `video_signal_type_present_flag` and the fields it enables.
  public struct SignalType: Hashable, Sendable {
    /// `video_format`: 5 is unspecified.
    public var videoFormat: Int
    /// `video_full_range_flag`
    public var fullRange: Bool
    /// Colour description; nil if not sent.
    public var colour: ColourDescription?
  }

  /// Colour description with the code points of H.273.
  public struct ColourDescription: Hashable, Sendable {
    /// `colour_primaries`
    public var primaries: Int
    /// `transfer_characteristics`
    public var transfer: Int
    /// `matrix_coeffs`
    public var matrix: Int
  }

  /// `vui_timing_info`
  public struct Timing: Hashable, Sendable {
    /// `vui_num_units_in_tick`
    public var numUnitsInTick: Int
    /// `vui_time_scale`, units per second.
    public var timeScale: Int
    /// `vui_num_ticks_poc_diff_one_minus1`; nil if POC is not proportional to time.
    public var numTicksPOCDiffOneMinus1: Int?
    /// `hrd_parameters()`; nil if not sent.
    public var hrd: HypotheticalReferenceDecoderParameters?
    /// Bits of `vui_poc_proportional_to_timing_flag` and the field it enables.
    var pocProportionalBits: Range<Int>
    /// The bits from `vui_hrd_parameters_present_flag` to the end of `hrd_parameters()`.
    var hrdBits: Range<Int>

    /// Pictures per second; 0 if unknown.
    var frameRate: Double { numUnitsInTick > 0 ? Double(timeScale) / Double(numUnitsInTick) : 0 }
  }

  /// Sample aspect ratio as width to height, from `aspect_ratio_idc` or the explicit fields; nil if
  /// unspecified.
  public var sampleAspectRatio: (width: Int, height: Int)? {
    let known = [
      (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33),
      (18, 11), (15, 11), (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
    ]
    if aspectRatioIDC == 255 { return sarWidth > 0 && sarHeight > 0 ? (sarWidth, sarHeight) : nil }
    return 1...16 ~= aspectRatioIDC ? known[aspectRatioIDC - 1] : nil
  }

  /// `aspect_ratio_idc`: 0 is unspecified, 255 explicit.
  public var aspectRatioIDC = 0
  /// `sar_width`
  public var sarWidth = 0
  /// `sar_height`
  public var sarHeight = 0
  /// `overscan_appropriate_flag`; nil if not sent.
  public var overscanAppropriate: Bool?
  /// `video_signal_type`; nil if not sent.
  public var signalType: SignalType?
  /// `chroma_sample_loc_type_top_field` and `_bottom_field`, 0 to 5; nil if not sent.
  public var chromaLocation: (top: Int, bottom: Int)? {
    chromaLocations.map { ($0[0], $0[1]) }
  }
  private var chromaLocations: [Int]?
  /// `neutral_chroma_indication_flag`
  public var neutralChromaIndication = false
  /// `field_seq_flag`
  public var fieldSequence = false
  /// `frame_field_info_present_flag`
  public var frameFieldInfoPresent = false
  /// Bits of `video_signal_type_present_flag` and the fields it enables.
  private(set) var signalTypeBits = 0..<0
  /// Bit of `frame_field_info_present_flag`.
  private(set) var frameFieldInfoBits = 0..<0
  /// `default_display_window`; nil if not sent.
  public var defaultDisplayWindow: PictureWindow?
  /// `vui_timing_info`; nil if not sent.
  public var timing: Timing?
  /// `bitstream_restriction`; nil if not sent.
  public var bitstreamRestriction: BitstreamRestriction?

  /// `bitstream_restriction`
  public struct BitstreamRestriction: Hashable, Sendable {
    /// `tiles_fixed_structure_flag`
    public var tilesFixedStructure: Bool
    /// `motion_vectors_over_pic_boundaries_flag`
    public var motionVectorsOverPictureBoundaries: Bool
    /// `restricted_ref_pic_lists_flag`
    public var restrictedReferencePictureLists: Bool
    /// `min_spatial_segmentation_idc`, 0 to 4095.
    public var minSpatialSegmentationIDC: Int
  }

  init(_ reader: inout BitReader, maxSubLayersMinus1: Int) throws(SyntaxError) {
    if try reader.flag("aspect_ratio_info_present_flag") {
      aspectRatioIDC = try reader.u(8, "aspect_ratio_idc")
      if aspectRatioIDC == 255 {
        sarWidth = try reader.u(16, "sar_width")
        sarHeight = try reader.u(16, "sar_height")
      }
    }
    if try reader.flag("overscan_info_present_flag") {
      overscanAppropriate = try reader.flag("overscan_appropriate_flag")
    }
    var start = reader.position
    if try reader.flag("video_signal_type_present_flag") { signalType = try SignalType(&reader) }
    signalTypeBits = start..<reader.position
    if try reader.flag("chroma_loc_info_present_flag") {
      chromaLocations = [
        try reader.ue("chroma_sample_loc_type_top_field", in: 0...5),
        try reader.ue("chroma_sample_loc_type_bottom_field", in: 0...5),
      ]
    }
    neutralChromaIndication = try reader.flag("neutral_chroma_indication_flag")
    fieldSequence = try reader.flag("field_seq_flag")
    start = reader.position
    frameFieldInfoPresent = try reader.flag("frame_field_info_present_flag")
    frameFieldInfoBits = start..<reader.position
    if try reader.flag("default_display_window_flag") {
      defaultDisplayWindow = try PictureWindow(&reader)
    }
    if try reader.flag("vui_timing_info_present_flag") {
      timing = try Timing(&reader, maxSubLayersMinus1: maxSubLayersMinus1)
    }
    if try reader.flag("bitstream_restriction_flag") {
      bitstreamRestriction = try BitstreamRestriction(&reader)
    }
  }
}

extension VideoUsabilityInformation.SignalType {
  init(_ reader: inout BitReader) throws(SyntaxError) {
    videoFormat = try reader.u(3, "video_format")
    fullRange = try reader.flag("video_full_range_flag")
    guard try reader.flag("colour_description_present_flag") else { return }
    colour = .init(
      primaries: try reader.u(8, "colour_primaries"),
      transfer: try reader.u(8, "transfer_characteristics"),
      matrix: try reader.u(8, "matrix_coeffs"))
  }
}

extension VideoUsabilityInformation.Timing {
  init(_ reader: inout BitReader, maxSubLayersMinus1: Int) throws(SyntaxError) {
    numUnitsInTick = try reader.u(32, "vui_num_units_in_tick")
    timeScale = try reader.u(32, "vui_time_scale")
    var start = reader.position
    if try reader.flag("vui_poc_proportional_to_timing_flag") {
      numTicksPOCDiffOneMinus1 = try reader.ue("vui_num_ticks_poc_diff_one_minus1")
    }
    pocProportionalBits = start..<reader.position
    start = reader.position
    if try reader.flag("vui_hrd_parameters_present_flag") {
      hrd = try HypotheticalReferenceDecoderParameters(
        &reader, commonPresent: true, maxSubLayersMinus1: maxSubLayersMinus1)
    }
    hrdBits = start..<reader.position
  }
}

extension VideoUsabilityInformation.BitstreamRestriction {
  init(_ reader: inout BitReader) throws(SyntaxError) {
    tilesFixedStructure = try reader.flag("tiles_fixed_structure_flag")
    motionVectorsOverPictureBoundaries = try reader.flag("motion_vectors_over_pic_boundaries_flag")
    restrictedReferencePictureLists = try reader.flag("restricted_ref_pic_lists_flag")
    minSpatialSegmentationIDC = try reader.ue("min_spatial_segmentation_idc", in: 0...4095)
    _ = try reader.ue("max_bytes_per_pic_denom", in: 0...16)
    _ = try reader.ue("max_bits_per_min_cu_denom", in: 0...16)
    _ = try reader.ue("log2_max_mv_length_horizontal", in: 0...16)
    _ = try reader.ue("log2_max_mv_length_vertical", in: 0...15)
  }
}
