// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension SliceSegmentHeader {
  mutating func read(
    _ rbsp: RBSP, _ sets: ParameterSetStore, _ pair: InterLayerSyntax
  ) throws(SyntaxError) {
    var reader = BitReader(rbsp.bytes, structure: "slice_segment_header", position: 16)
    isFirstInPicture = try reader.flag("first_slice_segment_in_pic_flag")
    if header.type.isIRAP {
      noOutputOfPriorPictures = try reader.flag("no_output_of_prior_pics_flag")
    }
    let start = reader.position
    pictureParameterSetID = try reader.ue("slice_pic_parameter_set_id", in: 0...63)
    layout.pictureParameterSetID = start..<reader.position
    let active: ParameterSetStore.ActiveSets
    do {
      active = try sets.activeSets(pps: pictureParameterSetID, layer: Int(header.layerID))
    } catch {
      throw reader.failure("slice_pic_parameter_set_id", .missing(error.name), at: start)
    }
    try read(&reader, active.sps.set, active.pps.set, pair)
    try reader.byteAlignment()
    self.rbsp = rbsp.bytes
    dataOffset = rbsp.offsetInNALUnit(of: reader.position >> 3)
  }

  /// Reads everything after `slice_pic_parameter_set_id`.
  private mutating func read(
    _ reader: inout BitReader, _ sps: SequenceParameterSet, _ pps: PictureParameterSet,
    _ pair: InterLayerSyntax
  ) throws(SyntaxError) {
    if !isFirstInPicture {
      if pps.dependentSliceSegmentsEnabled {
        isDependent = try reader.flag("dependent_slice_segment_flag")
      }
      let last = sps.sizeInCTBs - 1
      address = try reader.u(
        Int.bitWidth - last.leadingZeroBitCount, "slice_segment_address", in: 0...max(last, 0))
    }
    layout.extraBits = reader.position..<reader.position
    layout.interLayer = layout.extraBits
    if !isDependent { try readSliceHeader(&reader, sps, pps, pair) }
    if pps.tilesEnabled || pps.entropyCodingSyncEnabled { try readEntryPoints(&reader, sps) }
    layout.end = reader.position
    if pps.sliceSegmentHeaderExtensionPresent { try readExtension(&reader, sps, pps, pair) }
  }

  /// Reads `slice_segment_header_extension`, which holds the POC MSBs of pictures above the base
  /// layer (F.7.3.6.1).
  private mutating func readExtension(
    _ reader: inout BitReader, _ sps: SequenceParameterSet, _ pps: PictureParameterSet,
    _ pair: InterLayerSyntax
  ) throws(SyntaxError) {
    let length = try reader.ue("slice_segment_header_extension_length", in: 0...256)
    let end = reader.position + length << 3
    if length > 0, header.layerID > 0, !pps.pocResetInfoPresent {
      // PocMsbValRequiredFlag
      let isRequired =
        header.type.isIRAP && !header.type.isIDR
        && !(pair.pocLSBAligned && pair.hasReferenceLayer)
      var isPresent = isRequired
      if !isRequired, pair.pocLSBAligned {
        isPresent = try reader.flag("poc_msb_cycle_val_present_flag")
      }
      if isPresent {
        let most = 1 << (32 - sps.log2MaxPOCLSB)
        pocMSBCycle = try reader.ue("poc_msb_cycle_val", in: 0...most)
      }
    }
    guard reader.position <= end else {
      throw reader.failure(
        "slice_segment_header_extension_length", .outOfRange(value: length, allowed: 1...256),
        at: end)
    }
    try reader.skip(end - reader.position, "slice_segment_header_extension_data_bit")
  }

  /// Reads the part of the header that dependent slice segments omit.
  private mutating func readSliceHeader(
    _ reader: inout BitReader, _ sps: SequenceParameterSet, _ pps: PictureParameterSet,
    _ pair: InterLayerSyntax
  ) throws(SyntaxError) {
    try readPictureIdentity(&reader, sps, pps, pair)
    if !header.type.isIDR {
      let start = reader.position
      try readShortTermSet(&reader, sps)
      if sps.longTermPicturesPresent { try readLongTermEntries(&reader, sps) }
      layout.referenceSets = start..<reader.position
      if sps.tools.temporalMotionVectorPrediction {
        temporalMVP = try reader.flag("slice_temporal_mvp_enabled_flag")
      }
    }
    try readInterLayerPrediction(&reader, pair)
    var filtersAcross = false
    if sps.tools.sampleAdaptiveOffset {
      filtersAcross = try reader.flag("slice_sao_luma_flag")
      if sps.chromaArrayType != 0, try reader.flag("slice_sao_chroma_flag") {
        filtersAcross = true
      }
    }
    layout.referenceLists = reader.position..<reader.position
    if sliceType != .i { try readPrediction(&reader, sps, pps) }
    qp = pps.initialQP + (try reader.se("slice_qp_delta", in: -100...100))
    if pps.sliceChromaQPOffsetsPresent {
      _ = try reader.se("slice_cb_qp_offset", in: -12...12)
      _ = try reader.se("slice_cr_qp_offset", in: -12...12)
    }
    if pps.chromaQPOffsetListEnabled { _ = try reader.flag("cu_chroma_qp_offset_enabled_flag") }
    let isDeblocked = try readDeblocking(&reader, pps)
    if pps.loopFilterAcrossSlicesEnabled, filtersAcross || isDeblocked {
      _ = try reader.flag("slice_loop_filter_across_slices_enabled_flag")
    }
  }

  private mutating func readPictureIdentity(
    _ reader: inout BitReader, _ sps: SequenceParameterSet, _ pps: PictureParameterSet,
    _ pair: InterLayerSyntax
  ) throws(SyntaxError) {
    var start = reader.position
    try reader.skip(pps.numExtraSliceHeaderBits, "slice_reserved_flag")
    layout.extraBits = start..<reader.position
    start = reader.position
    let type = try reader.ue("slice_type", in: 0...2)
    sliceType = SliceType(rawValue: type) ?? .i
    start = reader.position
    if pps.outputFlagPresent { isOutput = try reader.flag("pic_output_flag") }
    layout.outputFlag = start..<reader.position
    if sps.format.sampleFormat?.separateColourPlanes == true {
      _ = try reader.u(2, "colour_plane_id", in: 0...2)
    }
    start = reader.position
    let hasLSB = !header.type.isIDR || header.layerID > 0 && !pair.pocLSBNotPresent
    if hasLSB { pocLSB = try reader.u(sps.log2MaxPOCLSB, "slice_pic_order_cnt_lsb") }
    layout.pocLSB = start..<reader.position
    layout.referenceSets = reader.position..<reader.position
  }

  private mutating func readShortTermSet(
    _ reader: inout BitReader, _ sps: SequenceParameterSet
  ) throws(SyntaxError) {
    let start = reader.position
    guard try reader.flag("short_term_ref_pic_set_sps_flag") else {
      shortTermSet = try ShortTermReferencePictureSet(
        &reader, candidates: sps.shortTermSets, isInSlice: true)
      return
    }
    let count = sps.shortTermSets.count
    guard count > 0 else {
      throw reader.failure(
        "short_term_ref_pic_set_sps_flag", .outOfRange(value: 1, allowed: 0...0), at: start)
    }
    let bits = Int.bitWidth - (count - 1).leadingZeroBitCount
    let index = try reader.u(bits, "short_term_ref_pic_set_idx", in: 0...count - 1)
    shortTermSet = sps.shortTermSets[index]
  }

  private mutating func readLongTermEntries(
    _ reader: inout BitReader, _ sps: SequenceParameterSet
  ) throws(SyntaxError) {
    let candidates = sps.longTermCandidates
    var fromSPS = 0
    if !candidates.isEmpty {
      fromSPS = try reader.ue("num_long_term_sps", in: 0...candidates.count)
    }
    let own = try reader.ue("num_long_term_pics", in: 0...16)
    var cycle = 0
    for index in 0..<fromSPS + own {
      // DeltaPocMsbCycleLt accumulates (7-52), separately for each of the two groups.
      if index == fromSPS { cycle = 0 }
      var entry: LongTermEntry
      if index < fromSPS {
        let bits = Int.bitWidth - (candidates.count - 1).leadingZeroBitCount
        let chosen = candidates[try reader.u(bits, "lt_idx_sps", in: 0...candidates.count - 1)]
        entry = LongTermEntry(
          pocLSB: chosen.pocLSB, isUsedByCurrentPicture: chosen.isUsedByCurrentPicture)
      } else {
        entry = LongTermEntry(
          pocLSB: try reader.u(sps.log2MaxPOCLSB, "poc_lsb_lt"),
          isUsedByCurrentPicture: try reader.flag("used_by_curr_pic_lt_flag"))
      }
      if try reader.flag("delta_poc_msb_present_flag") {
        cycle += try reader.ue("delta_poc_msb_cycle_lt")
        entry.deltaPOCMSBCycle = cycle
      }
      longTermEntries.append(entry)
    }
  }

  private mutating func readInterLayerPrediction(
    _ reader: inout BitReader, _ pair: InterLayerSyntax
  ) throws(SyntaxError) {
    let start = reader.position
    layout.interLayer = start..<start
    guard header.layerID > 0, pair.hasReferenceLayer else { return }
    if pair.defaultReferenceLayersActive {
      usesInterLayerPrediction = header.temporalID < pair.temporalIDLimit
    } else {
      usesInterLayerPrediction = try reader.flag("inter_layer_pred_enabled_flag")
      layout.interLayer = start..<reader.position
    }
  }

  private mutating func readPrediction(
    _ reader: inout BitReader, _ sps: SequenceParameterSet, _ pps: PictureParameterSet
  ) throws(SyntaxError) {
    let start = reader.position
    activeCountL0 = pps.numRefIndexL0DefaultActiveMinus1 + 1
    activeCountL1 = sliceType == .b ? pps.numRefIndexL1DefaultActiveMinus1 + 1 : 0
    if try reader.flag("num_ref_idx_active_override_flag") {
      activeCountL0 = try reader.ue("num_ref_idx_l0_active_minus1", in: 0...14) + 1
      if sliceType == .b {
        activeCountL1 = try reader.ue("num_ref_idx_l1_active_minus1", in: 0...14) + 1
      }
    }
    let total = totalReferenceCount
    if pps.listsModificationPresent, total > 1 {
      listEntriesL0 = try readListEntries(&reader, activeCountL0, total)
      if sliceType == .b { listEntriesL1 = try readListEntries(&reader, activeCountL1, total) }
    }
    layout.referenceLists = start..<reader.position
    if sliceType == .b { _ = try reader.flag("mvd_l1_zero_flag") }
    if pps.cabacInitPresent { _ = try reader.flag("cabac_init_flag") }
    if temporalMVP {
      var fromL0 = true
      if sliceType == .b { fromL0 = try reader.flag("collocated_from_l0_flag") }
      let count = fromL0 ? activeCountL0 : activeCountL1
      if count > 1 { _ = try reader.ue("collocated_ref_idx", in: 0...count - 1) }
    }
    if sliceType == .p ? pps.weightedPrediction : pps.weightedBiprediction {
      try readPredictionWeights(&reader, sps)
    }
    _ = try reader.ue("five_minus_max_num_merge_cand", in: 0...4)
  }

  /// `ref_pic_lists_modification()` of one list (7.3.6.2); nil if the list is not modified.
  private func readListEntries(
    _ reader: inout BitReader, _ count: Int, _ total: Int
  ) throws(SyntaxError) -> [Int]? {
    guard try reader.flag("ref_pic_list_modification_flag") else { return nil }
    let bits = Int.bitWidth - (total - 1).leadingZeroBitCount
    var entries: [Int] = []
    for _ in 0..<count { entries.append(try reader.u(bits, "list_entry", in: 0...total - 1)) }
    return entries
  }

  /// `pred_weight_table()` (7.3.6.3)
  private func readPredictionWeights(
    _ reader: inout BitReader, _ sps: SequenceParameterSet
  ) throws(SyntaxError) {
    let hasChroma = sps.chromaArrayType != 0
    let offset = sps.tools.highPrecisionOffsets ? 1 << 15 : 128
    _ = try reader.ue("luma_log2_weight_denom", in: 0...7)
    if hasChroma { _ = try reader.se("delta_chroma_log2_weight_denom", in: -7...7) }
    for count in [activeCountL0, activeCountL1] where count > 0 {
      let luma = try reader.u(count, "luma_weight_flag")
      let chroma = hasChroma ? try reader.u(count, "chroma_weight_flag") : 0
      for index in (0..<count).reversed() {
        if luma >> index & 1 == 1 {
          _ = try reader.se("delta_luma_weight", in: -128...127)
          _ = try reader.se("luma_offset", in: -offset...offset - 1)
        }
        guard chroma >> index & 1 == 1 else { continue }
        for _ in 0..<2 {
          _ = try reader.se("delta_chroma_weight", in: -128...127)
          _ = try reader.se("delta_chroma_offset", in: -4 * offset...4 * offset - 1)
        }
      }
    }
  }

  /// Reads the deblocking controls and returns whether the slice is deblocked.
  private func readDeblocking(
    _ reader: inout BitReader, _ pps: PictureParameterSet
  ) throws(SyntaxError) -> Bool {
    guard pps.deblockingFilterOverrideEnabled,
      try reader.flag("deblocking_filter_override_flag")
    else { return !pps.deblockingFilterDisabled }
    if try reader.flag("slice_deblocking_filter_disabled_flag") { return false }
    _ = try reader.se("slice_beta_offset_div2", in: -6...6)
    _ = try reader.se("slice_tc_offset_div2", in: -6...6)
    return true
  }

  private func readEntryPoints(
    _ reader: inout BitReader, _ sps: SequenceParameterSet
  ) throws(SyntaxError) {
    let count = try reader.ue("num_entry_point_offsets", in: 0...sps.sizeInCTBs)
    guard count > 0 else { return }
    let bits = try reader.ue("offset_len_minus1", in: 0...31) + 1
    try reader.skip(count * bits, "entry_point_offset_minus1")
  }
}
