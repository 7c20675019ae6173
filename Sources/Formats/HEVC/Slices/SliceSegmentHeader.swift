// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// `slice_segment_header()`, H.265 (7.3.6.1, and F.7.3.6.1 for layers above the base).
///
/// The whole header is read and checked; only the fields needed for weaving and flattening are
/// kept.
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
    /// DeltaPocMsbCycleLt; nil if only the LSBs are sent.
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
  /// `dependent_slice_segment_flag`: the fields below are those of the preceding slice segment.
  public internal(set) var isDependent = false
  /// `slice_segment_address`
  public internal(set) var address = 0
  /// `slice_type`
  public internal(set) var sliceType = SliceType.i
  /// `pic_output_flag`
  public internal(set) var isOutput = true
  /// `slice_pic_order_cnt_lsb`; 0 if not sent.
  public internal(set) var pocLSB = 0
  /// `poc_msb_cycle_val`: POC MSBs in units of MaxPicOrderCntLsb; nil if not sent.
  public internal(set) var pocMSBCycle: Int?
  /// The short-term reference picture set.
  public internal(set) var shortTermSet = ShortTermReferencePictureSet()
  /// The long-term reference pictures.
  public internal(set) var longTermEntries: [LongTermEntry] = []
  /// `slice_temporal_mvp_enabled_flag`
  public internal(set) var temporalMVP = false
  /// Whether the base layer picture is a reference (NumActiveRefLayerPics is 1).
  public internal(set) var usesInterLayerPrediction = false
  /// `num_ref_idx_l0_active_minus1` + 1; 0 in I slices.
  public internal(set) var activeCountL0 = 0
  /// `num_ref_idx_l1_active_minus1` + 1; 0 in P and I slices.
  public internal(set) var activeCountL1 = 0
  /// `list_entry_l0`; nil if list 0 is not modified.
  public internal(set) var listEntriesL0: [Int]?
  /// `list_entry_l1`; nil if list 1 is not modified.
  public internal(set) var listEntriesL1: [Int]?
  /// SliceQpY (7-54): the QP of the slice's first block; 26 in a dependent slice segment, which
  /// does not say it.
  public internal(set) var qp = 26

  /// NumPicTotalCurr (7-55, F-56)
  public var totalReferenceCount: Int {
    shortTermSet.usedCount + longTermEntries.count { $0.isUsedByCurrentPicture }
      + (usesInterLayerPrediction ? 1 : 0)
  }

  /// Bit positions of header fields in ``rbsp``, for copying the unchanged parts when rewriting.
  struct Layout: Hashable, Sendable {
    var pictureParameterSetID = 0..<0
    /// `num_extra_slice_header_bits` bits.
    var extraBits = 0..<0
    /// `pic_output_flag`; empty if not sent.
    var outputFlag = 0..<0
    /// `slice_pic_order_cnt_lsb`; empty if not sent.
    var pocLSB = 0..<0
    /// From the short-term reference picture set up to `slice_temporal_mvp_enabled_flag`,
    /// exclusive.
    var referenceSets = 0..<0
    /// `inter_layer_pred_enabled_flag`; empty if not sent.
    var interLayer = 0..<0
    /// From `num_ref_idx_active_override_flag` to the end of `ref_pic_lists_modification()`.
    var referenceLists = 0..<0
    /// Position of `slice_segment_header_extension_length`, or of `byte_alignment()` if it is not
    /// sent.
    var end = 0
  }

  var layout = Layout()
  /// Beginning of the NAL unit, with emulation prevention removed.
  var rbsp: [UInt8] = []
  /// Offset in the NAL unit of the slice data, the first byte after the header.
  public internal(set) var dataOffset = 0

  /// Reads the header of a slice segment NAL unit.
  ///
  /// - Parameters:
  ///   - nalUnit: the NAL unit, including its header.
  ///   - sets: the parameter sets received so far.
  ///   - pair: the VPS syntax that slices of layer 1 depend on; not needed for other layers.
  /// - Throws: `SyntaxError` if the header is invalid or refers to a missing parameter set.
  public init(
    nalUnit: RawSpan, sets: ParameterSetStore, pair: InterLayerSyntax = InterLayerSyntax()
  ) throws(SyntaxError) {
    guard let header = NALUnitHeader(nalUnit) else {
      throw SyntaxError(
        structure: "nal_unit_header", element: "nuh_temporal_id_plus1", bitOffset: 0,
        reason: .endOfData)
    }
    // A header is far shorter than its slice data, so read only a prefix first, and a longer one if
    // that is not enough.
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

/// VPS values that the slice header syntax of a dependent layer depends on.
public struct InterLayerSyntax: Hashable, Sendable {
  /// Whether the layer has a direct reference layer.
  public var hasReferenceLayer: Bool
  /// `default_ref_layers_active_flag`
  public var defaultReferenceLayersActive: Bool
  /// `poc_lsb_not_present_flag`
  public var pocLSBNotPresent: Bool
  /// `vps_poc_lsb_aligned_flag`
  public var pocLSBAligned: Bool
  /// Lowest TemporalId at which base layer pictures are not used for inter-layer reference.
  public var temporalIDLimit: Int

  /// Values for a layer without reference layers.
  public init() {
    hasReferenceLayer = false
    defaultReferenceLayersActive = false
    pocLSBNotPresent = false
    pocLSBAligned = false
    temporalIDLimit = 7
  }

  /// Values for the second layer of `vps`; nil if the VPS has no extension for two layers.
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
