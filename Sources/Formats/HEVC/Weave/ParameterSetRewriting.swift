// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension SequenceParameterSet {
  /// Returns this base layer SPS as a NAL unit of layer 1 with the id `id`, in the short form
  /// (F.7.3.2.2.1), which leaves profile, size, format and DPB requirements to the VPS.
  func dependentLayerNALUnit(id: Int, videoParameterSetID: Int) -> [UInt8] {
    var writer = BitWriter()
    writer.u(videoParameterSetID, 4)
    writer.u(7, 3)
    writer.ue(id)
    writer.flag(false)
    writer.ue(log2MaxPOCLSB - 4)
    writer.copy(layout.codingTools..<layout.scalingListInference, of: rbsp)
    if tools.scalingList != .disabled { writer.flag(false) }
    copy(
      layout.scalingListData..<layout.extensions, clearing: vui?.flagsForBaseLayerOnly ?? [],
      to: &writer)
    writer.flag(true)
    writer.flag(!layout.rangeExtension.isEmpty)
    writer.flag(true)
    writer.u(0, 6)
    writer.copy(layout.rangeExtension, of: rbsp)
    writer.flag(false)
    writer.trailingBits()
    return writer.nalUnit(NALUnitHeader(type: .sequenceParameterSet, layerID: 1))
  }
}

extension VideoUsabilityInformation {
  /// Bits of the flags (and the fields they enable) that the SPS of a layer above the base must not
  /// set: the base layer signals the colours (F.7.4.3.2.1), and HRD parameters of a separate stream
  /// do not apply to the layer.
  fileprivate var flagsForBaseLayerOnly: [Range<Int>] {
    [signalTypeBits] + (timing.map { [$0.hrdBits] } ?? [])
  }
}

extension PictureParameterSet {
  /// Returns this base layer PPS as a NAL unit of layer 1 with the id `id`, referring to the SPS
  /// `sequenceParameterSetID`.
  ///
  /// Extra slice header bits and header extensions have a different meaning above the base layer
  /// (F.7.3.6.1), so they are disabled.
  func dependentLayerNALUnit(id: Int, sequenceParameterSetID: Int) -> [UInt8] {
    var writer = BitWriter()
    writer.ue(id)
    writer.ue(sequenceParameterSetID)
    writer.flag(dependentSliceSegmentsEnabled)
    writer.flag(outputFlagPresent)
    writer.u(0, 3)
    writer.copy(layout.signDataHiding..<layout.sliceHeaderExtensionPresent, of: rbsp)
    writer.flag(false)
    writeRangeExtension(to: &writer)
    writer.trailingBits()
    return writer.nalUnit(NALUnitHeader(type: .pictureParameterSet, layerID: 1))
  }

  /// Writes `pps_extension_present_flag` and only the range extension.
  func writeRangeExtension(to writer: inout BitWriter) {
    writer.flag(!layout.rangeExtension.isEmpty)
    guard !layout.rangeExtension.isEmpty else { return }
    writer.u(0x80, 8)
    writer.copy(layout.rangeExtension, of: rbsp)
  }
}

extension SliceSegmentHeader {
  /// Returns this base layer slice segment's NAL unit up to the slice data, rewritten for layer 1
  /// with the PPS `pictureParameterSetID` and without inter-layer prediction.
  func dependentLayerBeginning(pictureParameterSetID: Int, log2MaxPOCLSB: Int) -> [UInt8] {
    var writer = BitWriter()
    writer.copy(16..<layout.pictureParameterSetID.lowerBound, of: rbsp)
    return dependentLayerBeginning(
      of: header, writer, pictureParameterSetID: pictureParameterSetID
    ) {
      // IDR pictures have this field only above the base layer (F.7.3.6.1).
      if layout.pocLSB.isEmpty { $0.u(0, log2MaxPOCLSB) }
      $0.copy(layout.pocLSB.lowerBound..<layout.interLayer.lowerBound, of: rbsp)
      $0.flag(false)
      $0.copy(layout.interLayer.upperBound..<layout.end, of: rbsp)
    }
  }

  /// Returns the part before the slice data of a NAL unit of layer 1 with this slice segment's
  /// data.
  ///
  /// - Parameters:
  ///   - header: header of the NAL unit, except for its layer.
  ///   - start: the bits before `slice_pic_parameter_set_id`.
  ///   - write: writes the fields from `slice_pic_order_cnt_lsb` on; not called for dependent slice
  ///     segments.
  func dependentLayerBeginning(
    of header: NALUnitHeader, _ start: BitWriter, pictureParameterSetID: Int,
    _ write: (inout BitWriter) -> Void
  ) -> [UInt8] {
    var writer = start
    writer.ue(pictureParameterSetID)
    writer.copy(layout.pictureParameterSetID.upperBound..<layout.extraBits.lowerBound, of: rbsp)
    if isDependent {
      writer.copy(layout.extraBits.upperBound..<layout.end, of: rbsp)
    } else {
      writer.copy(layout.extraBits.upperBound..<layout.pocLSB.lowerBound, of: rbsp)
      write(&writer)
    }
    writer.trailingBits()
    var header = header
    header.layerID = 1
    return writer.nalUnit(header)
  }
}

/// Ids for one type of the dependent layer's parameter sets that differ from the base layer's ids,
/// because decoders keep both in one table.
struct DependentParameterSetIDs: Sendable {
  /// There are more sets than ids.
  struct Exhausted: Error {}

  private var numbers: [Int?]

  /// Creates a numbering with the ids 0 to `count` - 1.
  init(count: Int) { numbers = Array(repeating: nil, count: count) }

  /// The id assigned to the dependent layer's set `id`; nil if it has none.
  subscript(id: Int) -> Int? { numbers.indices.contains(id) ? numbers[id] : nil }

  /// Assigns ids to sets of the dependent layer that have none, and new ones to those whose ids the
  /// base layer has since used.
  ///
  /// - Parameters:
  ///   - base: for each id, whether the base layer has a set with it.
  ///   - dependent: for each id, whether the dependent layer has a set with it.
  mutating func update(base: [Bool], dependent: [Bool]) throws(Exhausted) {
    var taken = base
    for id in numbers.indices {
      guard let number = numbers[id] else { continue }
      if taken[number] { numbers[id] = nil } else { taken[number] = true }
    }
    for id in numbers.indices where dependent[id] && numbers[id] == nil {
      // Keep the set's own id if it is free.
      guard let number = taken[id] ? taken.firstIndex(of: false) : id else { throw Exhausted() }
      numbers[id] = number
      taken[number] = true
    }
  }
}

// A keyframe of the dependent eye can be predicted from the base eye: a P picture of a third
// stream, whose only reference stands for the base picture, becomes the dependent layer's IDR
// picture.
//
// Its slice data has the same meaning in both streams: no motion vectors are scaled, as all refer
// to the same picture; there are no temporal candidates in either; and everything else that slice
// data depends on is compared.

extension SequenceParameterSet {
  /// Returns the name of the first field that slice data depends on and that has a different value
  /// in `other`; nil if there is none.
  func differingField(from other: SequenceParameterSet) -> String? {
    let (own, their) = (tools, other.tools)
    let (format, theirFormat) = (format, other.format)
    let comparisons: [(field: String, isEqual: Bool)] = [
      ("pic_width_in_luma_samples", format.width == theirFormat.width),
      ("pic_height_in_luma_samples", format.height == theirFormat.height),
      (
        "chroma_format_idc",
        format.sampleFormat?.chromaFormatIDC == theirFormat.sampleFormat?.chromaFormatIDC
      ),
      (
        "bit_depth_luma_minus8",
        format.sampleFormat?.bitDepthLuma == theirFormat.sampleFormat?.bitDepthLuma
      ),
      (
        "bit_depth_chroma_minus8",
        format.sampleFormat?.bitDepthChroma == theirFormat.sampleFormat?.bitDepthChroma
      ),
      (
        "log2_min_luma_coding_block_size_minus3",
        own.log2MinCodingBlockSizeMinus3 == their.log2MinCodingBlockSizeMinus3
      ),
      (
        "log2_diff_max_min_luma_coding_block_size",
        own.log2DiffMaxMinCodingBlockSize == their.log2DiffMaxMinCodingBlockSize
      ),
      (
        "log2_min_luma_transform_block_size_minus2",
        own.log2MinTransformBlockSizeMinus2 == their.log2MinTransformBlockSizeMinus2
      ),
      (
        "log2_diff_max_min_luma_transform_block_size",
        own.log2DiffMaxMinTransformBlockSize == their.log2DiffMaxMinTransformBlockSize
      ),
      (
        "max_transform_hierarchy_depth_inter",
        own.maxTransformHierarchyDepthInter == their.maxTransformHierarchyDepthInter
      ),
      (
        "max_transform_hierarchy_depth_intra",
        own.maxTransformHierarchyDepthIntra == their.maxTransformHierarchyDepthIntra
      ),
      ("scaling_list_data", own.scalingList == their.scalingList),
      ("amp_enabled_flag", own.asymmetricMotionPartitions == their.asymmetricMotionPartitions),
      (
        "sample_adaptive_offset_enabled_flag",
        own.sampleAdaptiveOffset == their.sampleAdaptiveOffset
      ),
      ("pcm_enabled_flag", own.pcm == their.pcm),
      (
        "strong_intra_smoothing_enabled_flag",
        own.strongIntraSmoothing == their.strongIntraSmoothing
      ),
      ("sps_range_extension", own.rangeExtension == their.rangeExtension),
    ]
    return comparisons.first { !$0.isEqual }?.field
  }
}

extension SliceSegmentHeader {
  /// Whether the slice refers to a single picture, once.
  ///
  /// The reference picture set may contain others, for later pictures.
  var hasOneReference: Bool { isDependent || sliceType == .p && activeCountL0 == 1 }

  /// Returns the NAL unit of this base layer P slice segment up to the slice data, rewritten as an
  /// IDR picture of layer 1 whose only reference is the base picture.
  ///
  /// - Parameters:
  ///   - base: the first slice segment header of the base picture.
  ///   - log2MaxPOCLSB: value of the dependent layer's SPS.
  func predictedKeyframeBeginning(
    base: SliceSegmentHeader, pictureParameterSetID: Int, log2MaxPOCLSB: Int
  ) -> [UInt8] {
    var writer = BitWriter()
    writer.flag(isFirstInPicture)
    writer.flag(base.noOutputOfPriorPictures)
    return dependentLayerBeginning(
      of: base.header, writer, pictureParameterSetID: pictureParameterSetID
    ) {
      $0.u(0, log2MaxPOCLSB)
      // An IDR picture has no reference picture set and no slice_temporal_mvp_enabled_flag. Next is
      // inter_layer_pred_enabled_flag.
      $0.flag(true)
      $0.copy(layout.interLayer.upperBound..<layout.referenceLists.lowerBound, of: rbsp)
      // num_ref_idx_active_override_flag, for a single active reference.
      $0.flag(true)
      $0.ue(0)
      $0.copy(layout.referenceLists.upperBound..<layout.end, of: rbsp)
    }
  }
}
