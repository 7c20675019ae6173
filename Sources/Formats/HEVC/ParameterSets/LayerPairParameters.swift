// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The part of `vps_extension()` after the dependencies (H.265 F.7.3.2.1.1, from
/// `vps_sub_layers_max_minus1_present_flag` to `direct_dependency_type`), for two layers in two
/// layer sets, as MV-HEVC streams for two eyes have.
public struct LayerPairParameters: Hashable, Sendable {
  /// `dpb_size()` of one temporal sub-layer of the output layer set with both layers.
  public struct SubLayerDPBSize: Hashable, Sendable {
    /// `max_vps_dec_pic_buffering_minus1` of each necessary layer.
    public var maxDecPicBufferingMinus1: [Int]
    /// `max_vps_num_reorder_pics`
    public var maxNumReorderPics: Int
    /// `max_vps_latency_increase_plus1`
    public var maxLatencyIncreasePlus1: Int
  }

  /// `sub_layers_vps_max_minus1` of the base layer.
  public var baseMaxSubLayersMinus1 = 0
  /// `max_tid_il_ref_pics_plus1`: base layer pictures with this TemporalId or a higher one are not
  /// used as references.
  public var maxTIDInterLayerReferencePlus1 = 7
  /// `default_ref_layers_active_flag`: whether all pictures may refer to the base layer without
  /// signalling it per slice.
  public var defaultReferenceLayersActive = false
  /// The structures after the base layer's own, from index 2 on. A nil profile repeats the
  /// preceding one.
  public var profileTierLevels: [ProfileTierLevel] = []
  /// `profile_tier_level_idx` of each layer in the output layer set with both layers; -1 for a
  /// layer that is not needed.
  public var profileTierLevelIndexes: [Int] = []
  /// `vps_rep_formats`
  public var representationFormats: [RepresentationFormat] = []
  /// `vps_rep_format_idx` of each layer.
  public var representationFormatIndexes: [Int] = [0, 0]
  /// `max_one_active_ref_layer_flag`
  public var maxOneActiveReferenceLayer = true
  /// `vps_poc_lsb_aligned_flag`
  public var pocLSBAligned = true
  /// `poc_lsb_not_present_flag` of the dependent layer.
  public var pocLSBNotPresent = false
  /// `dpb_size()` of the output layer set with both layers: one entry for all sub-layers, or one
  /// per sub-layer.
  public var dpbSize: [SubLayerDPBSize] = []
  /// `direct_dependency_type`: 0 samples, 1 motion, 2 both.
  public var directDependencyType = 2

  /// Creates parameters with default values.
  public init() {}

  init(
    _ reader: inout BitReader, _ vps: VideoParameterSet,
    _ layers: [VideoParameterSetExtension.Layer]
  ) throws(SyntaxError) {
    let isDependent = layers[1].directReferenceLayers != 0
    if !isDependent {
      // Two independent layers: NumIndependentLayers is 2, one layer in the second tree.
      _ = try reader.ue("num_add_layer_sets", in: 0...0)
    }
    var subLayersMinus1 = vps.maxSubLayersMinus1
    baseMaxSubLayersMinus1 = subLayersMinus1
    if try reader.flag("vps_sub_layers_max_minus1_present_flag") {
      baseMaxSubLayersMinus1 = try reader.u(3, "sub_layers_vps_max_minus1", in: 0...6)
      let dependent = try reader.u(3, "sub_layers_vps_max_minus1", in: 0...6)
      subLayersMinus1 = max(baseMaxSubLayersMinus1, dependent)
    }
    if try reader.flag("max_tid_ref_present_flag"), isDependent {
      maxTIDInterLayerReferencePlus1 = try reader.u(3, "max_tid_il_ref_pics_plus1")
    }
    defaultReferenceLayersActive = try reader.flag("default_ref_layers_active_flag")
    let highest = try reader.ue("vps_num_profile_tier_level_minus1", in: 0...63)
    for _ in 2..<max(highest + 1, 2) {
      let present = try reader.flag("vps_profile_present_flag")
      profileTierLevels.append(
        try ProfileTierLevel(
          &reader, profilePresent: present, maxSubLayersMinus1: vps.maxSubLayersMinus1))
    }
    let necessary = try readOutputLayerSets(&reader, vps, isDependent, highest)
    try readRepresentationFormats(&reader)
    maxOneActiveReferenceLayer = try reader.flag("max_one_active_ref_layer_flag")
    pocLSBAligned = try reader.flag("vps_poc_lsb_aligned_flag")
    if !isDependent { pocLSBNotPresent = try reader.flag("poc_lsb_not_present_flag") }
    try readDPBSize(&reader, subLayersMinus1, necessary)
    guard isDependent else { return }
    let length = try reader.ue("direct_dep_type_len_minus2", in: 0...30) + 2
    _ = try reader.flag("direct_dependency_all_layers_flag")
    directDependencyType = try reader.u(length, "direct_dependency_type")
  }

  /// Reads the output layer sets and returns which layers the set with both layers needs.
  private mutating func readOutputLayerSets(
    _ reader: inout BitReader, _ vps: VideoParameterSet, _ isDependent: Bool, _ highest: Int
  ) throws(SyntaxError) -> [Bool] {
    _ = try reader.ue("num_add_olss", in: 0...0)
    let kind = try reader.u(2, "default_output_layer_idc", in: 0...2)
    var output = [kind == 0, true]
    if kind == 2 {
      output = [try reader.flag("output_layer_flag"), try reader.flag("output_layer_flag")]
    }
    // A layer is necessary if it is output or an output layer refers to it.
    let necessary = [output[0] || output[1] && isDependent, output[1]]
    if highest > 0 {
      for layer in 0...1 {
        guard necessary[layer] else {
          profileTierLevelIndexes.append(-1)
          continue
        }
        let bits = Int.bitWidth - highest.leadingZeroBitCount
        profileTierLevelIndexes.append(
          try reader.u(bits, "profile_tier_level_idx", in: 0...highest))
      }
    }
    if output == [false, true], isDependent { _ = try reader.flag("alt_output_layer_flag") }
    return necessary
  }

  private mutating func readRepresentationFormats(_ reader: inout BitReader) throws(SyntaxError) {
    let highest = try reader.ue("vps_num_rep_formats_minus1", in: 0...255)
    for _ in 0...highest { representationFormats.append(try RepresentationFormat(&reader)) }
    representationFormatIndexes = [0, min(1, highest)]
    if highest > 0, try reader.flag("rep_format_idx_present_flag") {
      let bits = Int.bitWidth - highest.leadingZeroBitCount
      representationFormatIndexes[1] = try reader.u(bits, "vps_rep_format_idx", in: 0...highest)
    }
  }

  private mutating func readDPBSize(
    _ reader: inout BitReader, _ subLayersMinus1: Int, _ necessary: [Bool]
  ) throws(SyntaxError) {
    let each = try reader.flag("sub_layer_flag_info_present_flag")
    for subLayer in 0...(each ? subLayersMinus1 : 0) {
      var present = subLayer == 0
      if subLayer > 0 { present = try reader.flag("sub_layer_dpb_info_present_flag") }
      if !present, let last = dpbSize.last {
        dpbSize.append(last)
        continue
      }
      var buffering: [Int] = []
      for isNecessary in necessary where isNecessary {
        buffering.append(try reader.ue("max_vps_dec_pic_buffering_minus1", in: 0...15))
      }
      dpbSize.append(
        SubLayerDPBSize(
          maxDecPicBufferingMinus1: buffering,
          maxNumReorderPics: try reader.ue("max_vps_num_reorder_pics", in: 0...15),
          maxLatencyIncreasePlus1: try reader.ue("max_vps_latency_increase_plus1")))
    }
  }

  func write(
    to writer: inout BitWriter, _ vps: VideoParameterSet,
    _ layers: [VideoParameterSetExtension.Layer]
  ) {
    writer.flag(false)
    writer.flag(false)
    writer.flag(defaultReferenceLayersActive)
    let highest = profileTierLevels.count + 1
    writer.ue(highest)
    for entry in profileTierLevels {
      writer.flag(entry.profile != nil)
      entry.write(to: &writer)
    }
    writer.ue(0)
    writer.u(0, 2)
    let bits = Int.bitWidth - highest.leadingZeroBitCount
    for index in profileTierLevelIndexes { writer.u(index, bits) }
    writer.ue(representationFormats.count - 1)
    for format in representationFormats { format.write(to: &writer) }
    writer.flag(maxOneActiveReferenceLayer)
    writer.flag(pocLSBAligned)
    writer.flag(dpbSize.count > 1)
    for (index, size) in dpbSize.enumerated() {
      if index > 0 { writer.flag(true) }
      for value in size.maxDecPicBufferingMinus1 { writer.ue(value) }
      writer.ue(size.maxNumReorderPics)
      writer.ue(size.maxLatencyIncreasePlus1)
    }
    writer.ue(0)
    writer.flag(true)
    writer.u(directDependencyType, 2)
    writer.ue(0)
    writer.flag(false)
  }
}
