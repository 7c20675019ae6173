// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// `slice_segment_header()`, H.265 (7.3.6.1, and F.7.3.6.1 for layers above the base).
///
/// All of it is read and checked; kept is what weaving and flattening need.
public struct SliceSegmentHeader: Sendable {
  /// `slice_type`
  public enum SliceType: Int, Sendable {
    case b = 0
    case p = 1
    case i = 2
  }

  /// A long-term reference picture.
  public struct LongTermEntry: Hashable, Sendable {
    /// Its POC modulo MaxPicOrderCntLsb.
    public var pocLSB: Int
    /// `used_by_curr_pic_lt_flag`
    public var isUsedByCurrentPicture: Bool
    /// DeltaPocMsbCycleLt; nil where only the LSBs are given.
    public var deltaPOCMSBCycle: Int?
  }

  /// The NAL unit header.
  public internal(set) var header: NALUnitHeader
  /// `first_slice_segment_in_pic_flag`
  public internal(set) var isFirstInPicture = false
  /// `no_output_of_prior_pics_flag`
  public internal(set) var noOutputOfPriorPictures = false
  /// `slice_pic_parameter_set_id`
  public internal(set) var pictureParameterSetID = 0
  /// `dependent_slice_segment_flag`: all below is that of the slice segment before.
  public internal(set) var isDependent = false
  /// `slice_segment_address`
  public internal(set) var address = 0
  /// `slice_type`
  public internal(set) var sliceType = SliceType.i
  /// `pic_output_flag`
  public internal(set) var isOutput = true
  /// `slice_pic_order_cnt_lsb`; 0 where not sent.
  public internal(set) var pocLSB = 0
  /// `poc_msb_cycle_val`: the MSBs of the POC, in cycles of the LSBs; nil where not sent.
  public internal(set) var pocMSBCycle: Int?
  /// The short-term reference picture set.
  public internal(set) var shortTermSet = ShortTermReferencePictureSet()
  /// The long-term reference pictures.
  public internal(set) var longTermEntries: [LongTermEntry] = []
  /// `slice_temporal_mvp_enabled_flag`
  public internal(set) var temporalMVP = false
  /// Whether the picture of the base layer is a reference (NumActiveRefLayerPics is 1).
  public internal(set) var usesInterLayerPrediction = false
  /// `num_ref_idx_l0_active_minus1` + 1; 0 in I slices.
  public internal(set) var activeCountL0 = 0
  /// `num_ref_idx_l1_active_minus1` + 1; 0 in P and I slices.
  public internal(set) var activeCountL1 = 0
  /// `list_entry_l0`; nil where list 0 is not modified.
  public internal(set) var listEntriesL0: [Int]?
  /// `list_entry_l1`; nil where list 1 is not modified.
  public internal(set) var listEntriesL1: [Int]?

  /// NumPicTotalCurr (7-55, F-56)
  public var totalReferenceCount: Int {
    shortTermSet.usedCount + longTermEntries.count { $0.isUsedByCurrentPicture }
      + (usesInterLayerPrediction ? 1 : 0)
  }

  /// Where the parts begin, in bits of ``rbsp``: what rewriting copies is named by these.
  struct Layout: Hashable, Sendable {
    var pictureParameterSetID = 0..<0
    /// `num_extra_slice_header_bits` bits.
    var extraBits = 0..<0
    /// `pic_output_flag`, empty where not sent.
    var outputFlag = 0..<0
    /// `slice_pic_order_cnt_lsb`, empty where not sent.
    var pocLSB = 0..<0
    /// From the short-term set to in front of `slice_temporal_mvp_enabled_flag`.
    var referenceSets = 0..<0
    /// `inter_layer_pred_enabled_flag`, empty where not sent.
    var interLayer = 0..<0
    /// From `num_ref_idx_active_override_flag` to the end of `ref_pic_lists_modification()`.
    var referenceLists = 0..<0
    /// `slice_segment_header_extension_length`, or the alignment where there is none.
    var end = 0
  }

  var layout = Layout()
  /// The beginning of the NAL unit without emulation prevention.
  var rbsp: [UInt8] = []
  /// Offset in the NAL unit of the slice data: the first byte behind the header.
  public internal(set) var dataOffset = 0

  /// Reads the header of the slice segment NAL unit `nalUnit`.
  ///
  /// - Parameters:
  ///   - nalUnit: its header included.
  ///   - sets: the parameter sets sent so far.
  ///   - pair: what the VPS says of two layers; needed for slices of layer 1 only.
  public init(
    nalUnit: RawSpan, sets: ParameterSetStore, pair: InterLayerSyntax = InterLayerSyntax()
  ) throws(SyntaxError) {
    guard let header = NALUnitHeader(nalUnit) else {
      throw SyntaxError(
        structure: "nal_unit_header", element: "nuh_temporal_id_plus1", bitOffset: 0,
        reason: .endOfData)
    }
    // A header is far shorter than its slice data; read a beginning, and more where that is not
    // enough.
    var limit = 96
    while true {
      let rbsp = RBSP(nalUnit, limit: limit)
      do {
        self.init(header)
        try read(rbsp, sets, pair)
        return
      } catch {
        guard case .endOfData = error.reason, !rbsp.isComplete else { throw error }
        limit *= 8
      }
    }
  }

  private init(_ header: NALUnitHeader) { self.header = header }
}

/// What the syntax of a dependent layer's slices depends on, taken from the VPS.
public struct InterLayerSyntax: Hashable, Sendable {
  /// The layer has a direct reference layer.
  public var hasReferenceLayer: Bool
  /// `default_ref_layers_active_flag`
  public var defaultReferenceLayersActive: Bool
  /// `poc_lsb_not_present_flag`
  public var pocLSBNotPresent: Bool
  /// `vps_poc_lsb_aligned_flag`
  public var pocLSBAligned: Bool
  /// The lowest TemporalId whose base pictures are no reference.
  public var temporalIDLimit: Int

  /// That of a layer that refers to no other.
  public init() {
    hasReferenceLayer = false
    defaultReferenceLayersActive = false
    pocLSBNotPresent = false
    pocLSBAligned = false
    temporalIDLimit = 7
  }

  /// That of the second layer of `vps`; nil where the VPS has no extension for two layers.
  public init?(_ vps: VideoParameterSet) {
    guard let multilayer = vps.multilayer, let pair = multilayer.pair else { return nil }
    hasReferenceLayer = multilayer.layers[1].directReferenceLayers != 0
    defaultReferenceLayersActive = pair.defaultReferenceLayersActive
    pocLSBNotPresent = pair.pocLSBNotPresent
    pocLSBAligned = pair.pocLSBAligned
    temporalIDLimit = min(
      pair.baseMaxSubLayersMinus1 + 1, max(pair.maxTIDInterLayerReferencePlus1, 1))
  }
}
