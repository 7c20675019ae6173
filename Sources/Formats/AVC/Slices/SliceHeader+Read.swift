// SPDX-License-Identifier: MPL-2.0

internal import HEVC
internal import StereoVideo

extension SliceHeader {
  /// Reads the header of a slice NAL unit.
  ///
  /// - Parameters:
  ///   - nalUnit: a NAL unit of type 1, 5 or 20.
  ///   - store: the parameter sets received so far.
  /// - Throws: ``MVCError`` if it is damaged or refers to a missing parameter set.
  package init(nalUnit: RawSpan, store: inout ParameterSetStore) throws(MVCError) {
    guard let header = NALUnitHeader(nalUnit) else {
      throw .syntax(
        SyntaxError(
          structure: "nal_unit", element: "nal_unit_header", bitOffset: 0, reason: .endOfData))
    }
    guard header.type != .dataPartitionA else { throw .dataPartitioning }
    guard !header.isScalable else { throw .scalableVideoCoding }
    // A header is far shorter than its slice data, so read only a prefix first, and a longer one if
    // that is not enough.
    var limit = 96
    while true {
      let rbsp = RBSP(nalUnit, limit: limit)
      do throws(MVCError) {
        self = try Self.read(header, rbsp, &store)
        return
      } catch {
        guard case .syntax(let problem) = error, case .endOfData = problem.reason, !rbsp.isComplete
        else { throw error }
        limit *= 8
      }
    }
  }

  private static func read(
    _ header: NALUnitHeader, _ rbsp: RBSP, _ store: inout ParameterSetStore
  ) throws(MVCError) -> SliceHeader {
    var reader = BitReader(
      rbsp.bytes, structure: "slice_header", position: header.byteCount << 3)
    let (firstMB, sliceType, id) = try readingSyntax { () throws(SyntaxError) in
      (
        try reader.ue("first_mb_in_slice", in: 0...0xFFFFF),
        try reader.ue("slice_type", in: 0...9),
        try reader.ue("pic_parameter_set_id", in: 0...255)
      )
    }
    let view = header.type == .sliceExtension ? MVCView.dependent : .base
    var slice = SliceHeader(header, rbsp, try store.activate(pps: id, for: view))
    slice.firstMB = firstMB
    slice.sliceType = sliceType
    slice.kind = Kind(rawValue: sliceType % 5) ?? .i
    try readingSyntax { () throws(SyntaxError) in try slice.read(&reader) }
    return slice
  }

  private mutating func read(_ reader: inout BitReader) throws(SyntaxError) {
    identity = try PictureIdentity(&reader, header, sets)
    if sets.pps.sendsRedundantCount, try reader.ue("redundant_pic_cnt", in: 0...127) > 0 {
      isRedundant = true
      return
    }
    if kind == .b { usesSpatialDirect = try reader.flag("direct_spatial_mv_pred_flag") }
    if !kind.isIntra { try readLists(&reader) }
    let weights = reader.position
    if isWeighted { try skipWeights(&reader) }
    layout.weights = weights..<reader.position
    if isReference { try readMarking(&reader) }
    let tail = reader.position
    if sets.pps.isCABAC, !kind.isIntra { _ = try reader.ue("cabac_init_idc", in: 0...2) }
    _ = try reader.se("slice_qp_delta", in: -87...87)
    if kind == .sp { _ = try reader.flag("sp_for_switch_flag") }
    if kind == .sp || kind == .si { _ = try reader.se("slice_qs_delta", in: -51...51) }
    if sets.pps.controlsDeblocking { try readDeblocking(&reader) }
    layout.tail = tail..<reader.position
  }

  /// Whether the slice has `pred_weight_table()`.
  private var isWeighted: Bool {
    switch kind {
    case .p, .sp: sets.pps.weightsPSlices
    case .b: sets.pps.biPrediction == .explicit
    case .i, .si: false
    }
  }

  private mutating func readLists(_ reader: inout BitReader) throws(SyntaxError) {
    activeCounts = Array(sets.pps.defaultReferenceCounts.prefix(kind.listCount))
    let limit = structure.isField ? 32 : 16
    if try reader.flag("num_ref_idx_active_override_flag") {
      for list in activeCounts.indices {
        activeCounts[list] = try reader.ue("num_ref_idx_active_minus1", in: 0...limit - 1) + 1
      }
    }
    for count in activeCounts where count > limit {
      throw reader.failure(
        "num_ref_idx_default_active_minus1",
        .outOfRange(value: count - 1, allowed: 0...limit - 1))
    }
    for count in activeCounts {
      modifications.append(try readModifications(&reader, maximumCount: count))
    }
  }

  private func readModifications(
    _ reader: inout BitReader, maximumCount: Int
  ) throws(SyntaxError) -> [Modification] {
    var result: [Modification] = []
    guard try reader.flag("ref_pic_list_modification_flag") else { return result }
    let last = header.mvc == nil ? 3 : 5
    while true {
      let operation = try reader.ue("modification_of_pic_nums_idc", in: 0...last)
      if operation == 3 { return result }
      guard result.count < maximumCount else {
        throw reader.failure(
          "modification_of_pic_nums_idc", .outOfRange(value: operation, allowed: 3...3))
      }
      switch operation {
      case 0, 1:
        let difference = try reader.ue("abs_diff_pic_num_minus1", in: 0...0x1FFFF) + 1
        result.append(.shortTerm(difference: operation == 0 ? -difference : difference))
      case 2: result.append(.longTerm(number: try reader.ue("long_term_pic_num", in: 0...31)))
      default:
        _ = try reader.ue("abs_diff_view_idx_minus1", in: 0...1023)
        result.append(.interView)
      }
    }
  }

  private func skipWeights(_ reader: inout BitReader) throws(SyntaxError) {
    let hasChroma = sets.sps.format.chromaFormat > 0
    _ = try reader.ue("luma_log2_weight_denom", in: 0...7)
    if hasChroma { _ = try reader.ue("chroma_log2_weight_denom", in: 0...7) }
    for count in activeCounts {
      for _ in 0..<count {
        if try reader.flag("luma_weight_flag") {
          for _ in 0..<2 { _ = try reader.se("luma_weight", in: -128...128) }
        }
        if hasChroma, try reader.flag("chroma_weight_flag") {
          for _ in 0..<4 { _ = try reader.se("chroma_weight", in: -128...128) }
        }
      }
    }
  }

  private mutating func readMarking(_ reader: inout BitReader) throws(SyntaxError) {
    if isIDR {
      discardsPriorPictures = try reader.flag("no_output_of_prior_pics_flag")
      isLongTermIDR = try reader.flag("long_term_reference_flag")
      return
    }
    guard try reader.flag("adaptive_ref_pic_marking_mode_flag") else { return }
    var commands: [MarkingCommand] = []
    while true {
      let operation = try reader.ue("memory_management_control_operation", in: 0...6)
      if operation == 0 { break }
      // Each field of 16 frames can be named twice, besides operations 4, 5 and 6.
      guard commands.count < 67 else {
        throw reader.failure(
          "memory_management_control_operation", .outOfRange(value: operation, allowed: 0...0))
      }
      commands.append(try Self.command(operation, &reader))
    }
    markingCommands = commands
  }

  private static func command(
    _ operation: Int, _ reader: inout BitReader
  ) throws(SyntaxError) -> MarkingCommand {
    switch operation {
    case 1:
      .removeShortTerm(
        differenceMinus1: try reader.ue("difference_of_pic_nums_minus1", in: 0...0x1FFFF))
    case 2: .removeLongTerm(number: try reader.ue("long_term_pic_num", in: 0...31))
    case 3:
      .makeLongTerm(
        differenceMinus1: try reader.ue("difference_of_pic_nums_minus1", in: 0...0x1FFFF),
        index: try reader.ue("long_term_frame_idx", in: 0...15))
    case 4:
      .limitLongTerm(indexPlus1: try reader.ue("max_long_term_frame_idx_plus1", in: 0...16))
    case 5: .removeAll
    default: .makeCurrentLongTerm(index: try reader.ue("long_term_frame_idx", in: 0...15))
    }
  }

  private mutating func readDeblocking(_ reader: inout BitReader) throws(SyntaxError) {
    let start = reader.position
    let idc = try reader.ue("disable_deblocking_filter_idc", in: 0...2)
    if idc != 1 {
      _ = try reader.se("slice_alpha_c0_offset_div2", in: -6...6)
      _ = try reader.se("slice_beta_offset_div2", in: -6...6)
    }
    layout.endsWithPlainDeblocking = idc == 0 && reader.position == start + 3
  }
}

extension PictureIdentity {
  /// Reads the fields from `frame_num` to `delta_pic_order_cnt[1]`.
  fileprivate init(
    _ reader: inout BitReader, _ header: NALUnitHeader, _ sets: ActiveParameterSets
  ) throws(SyntaxError) {
    isReference = header.refIDC > 0
    frameNum = try reader.u(sets.sps.log2MaxFrameNum, "frame_num")
    if !sets.sps.format.isFrameOnly, try reader.flag("field_pic_flag") {
      structure = .field(try reader.flag("bottom_field_flag") ? .bottom : .top)
    }
    if header.isIDR { idrPicID = try reader.ue("idr_pic_id", in: 0...65535) }
    let hasBottom = sets.pps.sendsBottomFieldOrder && !structure.isField
    switch sets.sps.orderCount {
    case .sent(let bits):
      orderCountLSB = try reader.u(bits, "pic_order_cnt_lsb")
      if hasBottom { deltaBottom = try reader.se("delta_pic_order_cnt_bottom") }
    case .cycle(let cycle) where !cycle.deltaIsZero:
      delta0 = try reader.se("delta_pic_order_cnt[0]")
      if hasBottom { delta1 = try reader.se("delta_pic_order_cnt[1]") }
    case .cycle, .decodingOrder: break
    }
  }
}
