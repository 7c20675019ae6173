// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// `video_parameter_set_rbsp()`, H.265 (7.3.2.1), with the extension of Annex F.
public struct VideoParameterSet: Hashable, Sendable {
  /// `vps_timing_info`
  public struct TimingInformation: Hashable, Sendable {
    /// `vps_num_units_in_tick`
    public var numUnitsInTick: Int
    /// `vps_time_scale`, units per second.
    public var timeScale: Int
    /// `vps_num_ticks_poc_diff_one_minus1`; nil if POC is not proportional to time.
    public var numTicksPOCDiffOneMinus1: Int?
    /// HRD parameters of the layer sets that have them.
    public var hrd: [LayerSetHRD]

    /// Creates timing information from its fields.
    public init(
      numUnitsInTick: Int, timeScale: Int, numTicksPOCDiffOneMinus1: Int? = nil,
      hrd: [LayerSetHRD] = []
    ) {
      self.numUnitsInTick = numUnitsInTick
      self.timeScale = timeScale
      self.numTicksPOCDiffOneMinus1 = numTicksPOCDiffOneMinus1
      self.hrd = hrd
    }

    /// Pictures per second; 0 if unknown.
    var frameRate: Double { numUnitsInTick > 0 ? Double(timeScale) / Double(numUnitsInTick) : 0 }
  }

  /// `hrd_parameters()` of one layer set.
  public struct LayerSetHRD: Hashable, Sendable {
    /// `hrd_layer_set_idx`
    public var layerSetIndex: Int
    /// `hrd_parameters()`
    public var parameters: HypotheticalReferenceDecoderParameters
  }

  /// DPB requirements of one temporal sub-layer.
  public struct SubLayerOrdering: Hashable, Sendable {
    /// `max_dec_pic_buffering_minus1`
    public var maxDecPicBufferingMinus1: Int
    /// `max_num_reorder_pics`
    public var maxNumReorderPics: Int
    /// `max_latency_increase_plus1`
    public var maxLatencyIncreasePlus1: Int

    /// Creates DPB requirements from their fields.
    public init(
      maxDecPicBufferingMinus1: Int, maxNumReorderPics: Int, maxLatencyIncreasePlus1: Int
    ) {
      self.maxDecPicBufferingMinus1 = maxDecPicBufferingMinus1
      self.maxNumReorderPics = maxNumReorderPics
      self.maxLatencyIncreasePlus1 = maxLatencyIncreasePlus1
    }
  }

  /// `vps_video_parameter_set_id`, 0 to 15.
  public var id: Int
  /// `vps_base_layer_internal_flag`
  public var baseLayerInternal: Bool
  /// `vps_base_layer_available_flag`
  public var baseLayerAvailable: Bool
  /// `vps_max_layers_minus1`, 0 to 62.
  public var maxLayersMinus1: Int
  /// `vps_max_sub_layers_minus1`, 0 to 6.
  public var maxSubLayersMinus1: Int
  /// `vps_temporal_id_nesting_flag`
  public var temporalIDNesting: Bool
  /// Profile, tier and level of the base layer.
  public var profileTierLevel: ProfileTierLevel
  /// `vps_max_dec_pic_buffering_minus1` and the fields after it: one entry for all sub-layers, or
  /// one per sub-layer.
  public var subLayerOrdering: [SubLayerOrdering]
  /// `vps_max_layer_id`, 0 to 62.
  public var maxLayerID: Int
  /// `layer_id_included_flag` of the layer sets after the first; bit i stands for nuh_layer_id i.
  public var layerSets: [UInt64]
  /// `vps_timing_info`; nil if not present.
  public var timing: TimingInformation?
  /// `vps_extension()`; nil if not present or unreadable.
  public var multilayer: VideoParameterSetExtension?
  /// Why the extension is unreadable; nil if it is readable. The base layer is decodable without
  /// it.
  public private(set) var multilayerError: SyntaxError?

  /// Reads a VPS NAL unit, including its header.
  ///
  /// The extension is ignored if it describes only the base layer, or if the base layer is provided
  /// externally (`vps_base_layer_internal_flag` 0).
  public init(nalUnit: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(
      RBSP(nalUnit).bytes, structure: "video_parameter_set_rbsp", position: 16)
    try self.init(&reader)
  }

  private init(_ reader: inout BitReader) throws(SyntaxError) {
    id = try reader.u(4, "vps_video_parameter_set_id")
    baseLayerInternal = try reader.flag("vps_base_layer_internal_flag")
    baseLayerAvailable = try reader.flag("vps_base_layer_available_flag")
    maxLayersMinus1 = try reader.u(6, "vps_max_layers_minus1", in: 0...62)
    maxSubLayersMinus1 = try reader.u(3, "vps_max_sub_layers_minus1", in: 0...6)
    temporalIDNesting = try reader.flag("vps_temporal_id_nesting_flag")
    _ = try reader.u(16, "vps_reserved_0xffff_16bits")
    profileTierLevel = try ProfileTierLevel(
      &reader, profilePresent: true, maxSubLayersMinus1: maxSubLayersMinus1)
    subLayerOrdering = try SubLayerOrdering.read(&reader, maxSubLayersMinus1: maxSubLayersMinus1)
    maxLayerID = try reader.u(6, "vps_max_layer_id", in: 0...62)
    layerSets = []
    for _ in 0..<(try reader.ue("vps_num_layer_sets_minus1", in: 0...1023)) {
      var set: UInt64 = 0
      for layer in 0...maxLayerID where try reader.flag("layer_id_included_flag") {
        set |= 1 << UInt64(layer)
      }
      layerSets.append(set)
    }
    if try reader.flag("vps_timing_info_present_flag") {
      timing = try TimingInformation(&reader, self)
    }
    if try reader.flag("vps_extension_flag"), maxLayersMinus1 > 0, baseLayerInternal {
      try reader.skip((8 - reader.position & 7) & 7, "vps_extension_alignment_bit_equal_to_one")
      do {
        multilayer = try VideoParameterSetExtension(&reader, self)
      } catch {
        multilayerError = error
      }
    }
  }

  /// Returns the VPS as a NAL unit.
  public func nalUnit() -> [UInt8] {
    var writer = BitWriter()
    writer.u(id, 4)
    writer.flag(baseLayerInternal)
    writer.flag(baseLayerAvailable)
    writer.u(maxLayersMinus1, 6)
    writer.u(maxSubLayersMinus1, 3)
    writer.flag(temporalIDNesting)
    writer.u(0xFFFF, 16)
    profileTierLevel.write(to: &writer)
    SubLayerOrdering.write(subLayerOrdering, to: &writer, maxSubLayersMinus1: maxSubLayersMinus1)
    writer.u(maxLayerID, 6)
    writer.ue(layerSets.count)
    for set in layerSets {
      for layer in 0...maxLayerID { writer.flag(set >> UInt64(layer) & 1 == 1) }
    }
    writer.flag(timing != nil)
    timing?.write(to: &writer)
    writer.flag(multilayer != nil)
    if let multilayer {
      writer.alignWithOnes()
      multilayer.write(to: &writer, self)
      writer.flag(false)
    }
    writer.trailingBits()
    return writer.nalUnit(NALUnitHeader(type: .videoParameterSet))
  }
}

extension VideoParameterSet.SubLayerOrdering {
  /// Reads `sub_layer_ordering_info_present_flag` and the fields it controls.
  static func read(
    _ reader: inout BitReader, maxSubLayersMinus1: Int
  ) throws(SyntaxError) -> [Self] {
    let each = try reader.flag("sub_layer_ordering_info_present_flag")
    var result: [Self] = []
    for _ in 0...(each ? maxSubLayersMinus1 : 0) {
      result.append(
        Self(
          maxDecPicBufferingMinus1: try reader.ue("max_dec_pic_buffering_minus1", in: 0...15),
          maxNumReorderPics: try reader.ue("max_num_reorder_pics", in: 0...15),
          maxLatencyIncreasePlus1: try reader.ue("max_latency_increase_plus1")))
    }
    return result
  }

  /// Writes `sub_layer_ordering_info_present_flag` and the fields it controls.
  static func write(_ all: [Self], to writer: inout BitWriter, maxSubLayersMinus1: Int) {
    // The flag is meaningless with a single sub-layer; encoders write it as 1.
    writer.flag(all.count > maxSubLayersMinus1)
    for ordering in all {
      writer.ue(ordering.maxDecPicBufferingMinus1)
      writer.ue(ordering.maxNumReorderPics)
      writer.ue(ordering.maxLatencyIncreasePlus1)
    }
  }
}

extension VideoParameterSet.TimingInformation {
  init(_ reader: inout BitReader, _ vps: VideoParameterSet) throws(SyntaxError) {
    numUnitsInTick = try reader.u(32, "vps_num_units_in_tick")
    timeScale = try reader.u(32, "vps_time_scale")
    if try reader.flag("vps_poc_proportional_to_timing_flag") {
      numTicksPOCDiffOneMinus1 = try reader.ue("vps_num_ticks_poc_diff_one_minus1")
    }
    hrd = []
    for index in 0..<(try reader.ue("vps_num_hrd_parameters", in: 0...1024)) {
      let layerSet = try reader.ue("hrd_layer_set_idx", in: 0...1023)
      let common = index == 0 ? true : try reader.flag("cprms_present_flag")
      hrd.append(
        VideoParameterSet.LayerSetHRD(
          layerSetIndex: layerSet,
          parameters: try HypotheticalReferenceDecoderParameters(
            &reader, commonPresent: common, maxSubLayersMinus1: vps.maxSubLayersMinus1,
            inherited: hrd.last { $0.parameters.common != nil }?.parameters.common)))
    }
  }

  func write(to writer: inout BitWriter) {
    writer.u(numUnitsInTick, 32)
    writer.u(timeScale, 32)
    writer.flag(numTicksPOCDiffOneMinus1 != nil)
    if let numTicksPOCDiffOneMinus1 { writer.ue(numTicksPOCDiffOneMinus1) }
    writer.ue(hrd.count)
    var inherited: HypotheticalReferenceDecoderParameters.Common?
    for (index, entry) in hrd.enumerated() {
      writer.ue(entry.layerSetIndex)
      if index > 0 { writer.flag(entry.parameters.common != nil) }
      entry.parameters.write(to: &writer, inherited: inherited)
      inherited = entry.parameters.common ?? inherited
    }
  }
}
