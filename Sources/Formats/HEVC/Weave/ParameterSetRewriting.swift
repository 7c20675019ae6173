// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension SequenceParameterSet {
  /// The NAL unit of this base-layer SPS as the SPS `id` of layer 1, in the short form
  /// (F.7.3.2.2.1): profile, size, format and DPB needs are left to the VPS.
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
      layout.scalingListData..<layout.extensions, clearing: vui?.ofBaseLayerOnly ?? [], to: &writer)
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
  /// The flags, with what they bring, that the SPS of a layer above the base must not have set: the
  /// base layer says what the colours are (F.7.4.3.2.1), and the buffer model of a layer of its own
  /// is not that of the layer in the pair.
  fileprivate var ofBaseLayerOnly: [Range<Int>] {
    [signalTypeBits] + (timing.map { [$0.hrdBits] } ?? [])
  }
}

extension PictureParameterSet {
  /// The NAL unit of this base-layer PPS as the PPS `id` of layer 1, referring to the SPS
  /// `sequenceParameterSetID`.
  ///
  /// Extra slice header bits and header extensions mean something else above the base layer
  /// (F.7.3.6.1), so they are switched off.
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

  /// Writes `pps_extension_present_flag` and, of the extensions, the range extension alone.
  func writeRangeExtension(to writer: inout BitWriter) {
    writer.flag(!layout.rangeExtension.isEmpty)
    guard !layout.rangeExtension.isEmpty else { return }
    writer.u(0x80, 8)
    writer.copy(layout.rangeExtension, of: rbsp)
  }
}

extension SliceSegmentHeader {
  /// The beginning of this base-layer slice segment's NAL unit as one of layer 1, with PPS
  /// `pictureParameterSetID` and no inter-layer prediction: all in front of the slice data.
  func dependentLayerBeginning(pictureParameterSetID: Int, log2MaxPOCLSB: Int) -> [UInt8] {
    var writer = BitWriter()
    writer.copy(16..<layout.pictureParameterSetID.lowerBound, of: rbsp)
    return dependentLayerBeginning(
      of: header, writer, pictureParameterSetID: pictureParameterSetID
    ) {
      // IDR pictures have it above the base layer only (F.7.3.6.1).
      if layout.pocLSB.isEmpty { $0.u(0, log2MaxPOCLSB) }
      $0.copy(layout.pocLSB.lowerBound..<layout.interLayer.lowerBound, of: rbsp)
      $0.flag(false)
      $0.copy(layout.interLayer.upperBound..<layout.end, of: rbsp)
    }
  }

  /// The beginning of a NAL unit of layer 1 with this slice segment's data.
  ///
  /// - Parameters:
  ///   - header: that of the NAL unit, but for its layer.
  ///   - start: what stands in front of `slice_pic_parameter_set_id`.
  ///   - write: writes what stands from `slice_pic_order_cnt_lsb` on; not called where the slice
  ///     segment takes that from the one before.
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
