// SPDX-License-Identifier: MPL-2.0

package import HEVC

/// `slice_header()`, H.264 (7.3.3), of NAL unit types 1, 5 and 20.
///
/// The whole header is read and checked; kept are the fields that rewriting needs, and the bit
/// positions of the others.
package struct SliceHeader: Sendable {
  /// `slice_type` modulo 5.
  package enum Kind: Int, Sendable {
    case p = 0
    case b = 1
    case i = 2
    case sp = 3
    case si = 4

    /// Whether it has no references.
    package var isIntra: Bool { self == .i || self == .si }
    /// Number of reference lists.
    package var listCount: Int { isIntra ? 0 : self == .b ? 2 : 1 }
  }

  /// A command of `ref_pic_list_mvc_modification()`, H.264 (7.3.3.1, H.7.3.3.1.1).
  package enum Modification: Hashable, Sendable {
    /// `modification_of_pic_nums_idc` 0 and 1: the difference to the predicted picture number.
    case shortTerm(difference: Int)
    /// 2: LongTermPicNum
    case longTerm(number: Int)
    /// 4 and 5: the inter-view reference; with two views there is one.
    case interView
  }

  /// `memory_management_control_operation`, H.264 (7.3.3.3, table 7-9).
  package enum MarkingCommand: Hashable, Sendable {
    /// 1, with `difference_of_pic_nums_minus1`.
    case removeShortTerm(differenceMinus1: Int)
    /// 2, with `long_term_pic_num`.
    case removeLongTerm(number: Int)
    /// 3
    case makeLongTerm(differenceMinus1: Int, index: Int)
    /// 4
    case limitLongTerm(indexPlus1: Int)
    /// 5
    case removeAll
    /// 6
    case makeCurrentLongTerm(index: Int)
  }

  /// The NAL unit header.
  package let header: NALUnitHeader
  /// The parameter sets it refers to.
  package let sets: ActiveParameterSets
  /// The elements that tell pictures of a view apart.
  package var identity = PictureIdentity()
  /// `first_mb_in_slice`
  package var firstMB = 0
  /// `slice_type`, 0 to 9.
  package var sliceType = 0
  package var kind = Kind.i
  /// `direct_spatial_mv_pred_flag`
  package var usesSpatialDirect = true
  /// `num_ref_idx_active_minus1` + 1 of each list.
  package var activeCounts: [Int] = []
  /// The modifications of each list; empty for none.
  package var modifications: [[Modification]] = []
  /// `no_output_of_prior_pics_flag`
  package var discardsPriorPictures = false
  /// `long_term_reference_flag`
  package var isLongTermIDR = false
  /// The commands of `dec_ref_pic_marking()`; nil for the sliding window.
  package var markingCommands: [MarkingCommand]?
  /// Whether it is part of a redundant coded picture, whose other fields are not read.
  package var isRedundant = false
  /// Bit positions in ``rbsp``.
  package var layout = Layout()
  /// The beginning of the NAL unit, with emulation prevention removed.
  package var rbsp: RBSP

  /// Bit positions for copying the parts that do not change.
  package struct Layout: Hashable, Sendable {
    /// `pred_weight_table()`; empty if there is none.
    package var weights = 0..<0
    /// From `cabac_init_idc` to the end of the header.
    package var tail = 0..<0
    /// Whether the tail ends with the three bits "no change" of the deblocking filter: idc 0 and
    /// offsets 0.
    package var endsWithPlainDeblocking = false
  }

  /// Whether it belongs to an IDR picture.
  package var isIDR: Bool { header.isIDR }
  package var structure: PictureStructure { identity.structure }
  /// `frame_num`
  package var frameNum: Int { identity.frameNum }
  /// Whether the picture is a reference of its own view.
  package var isReference: Bool { header.refIDC > 0 }

  init(_ header: NALUnitHeader, _ rbsp: RBSP, _ sets: ActiveParameterSets) {
    self.header = header
    self.rbsp = rbsp
    self.sets = sets
  }
}

/// The elements of a slice header by which the first slice of a picture differs from the last one
/// of the picture before, H.264 (7.4.1.2.4).
package struct PictureIdentity: Hashable, Sendable {
  package var isReference = false
  /// `idr_pic_id`; nil if it is no IDR picture.
  package var idrPicID: Int?
  /// `frame_num`
  package var frameNum = 0
  package var structure = PictureStructure.frame
  /// `pic_order_cnt_lsb`
  package var orderCountLSB = 0
  /// `delta_pic_order_cnt_bottom`
  package var deltaBottom = 0
  /// `delta_pic_order_cnt[0]`
  package var delta0 = 0
  /// `delta_pic_order_cnt[1]`
  package var delta1 = 0
}

extension NALUnitHeader {
  /// Whether this is the header of a slice of an IDR picture, IdrPicFlag.
  package var isIDR: Bool { mvc.map { !$0.isNonIDR } ?? (type == .idrSlice) }
}
