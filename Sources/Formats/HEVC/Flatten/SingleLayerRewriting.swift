// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension SequenceParameterSet {
  /// The NAL unit of this SPS as one of the base layer.
  ///
  /// - Parameters:
  ///   - profileTierLevel: what to say where the SPS, being of the short form, says nothing.
  ///   - ordering: the same of DPB needs.
  ///   - base: the SPS of the base layer, which says for both layers what the colours are.
  func singleLayerNALUnit(
    profileTierLevel: ProfileTierLevel?, ordering: [VideoParameterSet.SubLayerOrdering],
    base: SequenceParameterSet
  ) -> [UInt8] {
    var writer = BitWriter()
    if isMultilayerForm {
      writer.u(videoParameterSetID, 4)
      writer.u(maxSubLayersMinus1, 3)
      writer.flag(temporalIDNesting)
      (profileTierLevel ?? ProfileTierLevel(profile: .init(), levelIDC: 0)).write(to: &writer)
      writer.ue(id)
      format.writeToSPS(&writer)
      writer.ue(log2MaxPOCLSB - 4)
      VideoParameterSet.SubLayerOrdering.write(
        ordering, to: &writer, maxSubLayersMinus1: maxSubLayersMinus1)
      writer.copy(layout.codingTools..<layout.scalingListInference, of: rbsp)
      copyToExtensions(from: layout.scalingListData, colourOf: base, to: &writer)
    } else {
      writer.copy(16..<layout.extensions, of: rbsp)
    }
    writeRangeExtension(to: &writer)
    writer.trailingBits()
    return writer.nalUnit(NALUnitHeader(type: .sequenceParameterSet))
  }
}

extension SequenceParameterSet {
  /// Copies from `start` to the end of the VUI, with `video_signal_type` of `base` where this SPS
  /// has none.
  private func copyToExtensions(
    from start: Int, colourOf base: SequenceParameterSet, to writer: inout BitWriter
  ) {
    guard let colour = base.vui?.signalTypeBits, base.vui?.signalType != nil,
      vui?.signalType == nil
    else {
      writer.copy(start..<layout.extensions, of: rbsp)
      return
    }
    if let place = vui?.signalTypeBits {
      writer.copy(start..<place.lowerBound, of: rbsp)
      writer.copy(colour, of: base.rbsp)
      writer.copy(place.upperBound..<layout.extensions, of: rbsp)
      return
    }
    // vui_parameters_present_flag is the last bit.
    writer.copy(start..<layout.extensions - 1, of: rbsp)
    writer.flag(true)
    // aspect_ratio_info_present_flag and overscan_info_present_flag; behind it chroma_loc_info,
    // neutral_chroma_indication, field_seq, frame_field_info, default_display_window, timing_info
    // and bitstream_restriction.
    writer.u(0, 2)
    writer.copy(colour, of: base.rbsp)
    writer.u(0, 7)
  }
}

extension RepresentationFormat {
  /// Writes it as in an SPS: from `chroma_format_idc` to `bit_depth_chroma_minus8`.
  func writeToSPS(_ writer: inout BitWriter) {
    let chroma = sampleFormat?.chromaFormatIDC ?? 1
    writer.ue(chroma)
    if chroma == 3 { writer.flag(sampleFormat?.separateColourPlanes ?? false) }
    writer.ue(width)
    writer.ue(height)
    writer.flag(conformanceWindow != nil)
    conformanceWindow?.write(to: &writer)
    writer.ue((sampleFormat?.bitDepthLuma ?? 8) - 8)
    writer.ue((sampleFormat?.bitDepthChroma ?? 8) - 8)
  }
}

extension PictureParameterSet {
  /// The NAL unit of this PPS as one of the base layer, without extra slice header bits and header
  /// extensions.
  func singleLayerNALUnit() -> [UInt8] {
    var writer = BitWriter()
    writer.copy(16..<layout.outputFlagPresent + 1, of: rbsp)
    writer.u(0, 3)
    writer.copy(layout.signDataHiding..<layout.sliceHeaderExtensionPresent, of: rbsp)
    writer.flag(false)
    writeRangeExtension(to: &writer)
    writer.trailingBits()
    return writer.nalUnit(NALUnitHeader(type: .pictureParameterSet))
  }
}

extension SliceSegmentHeader {
  /// The beginning of this slice segment's NAL unit as one with header `header` of the base layer:
  /// all in front of the slice data.
  func singleLayerBeginning(_ header: NALUnitHeader) -> [UInt8] {
    var writer = BitWriter()
    writer.copy(16..<layout.extraBits.lowerBound, of: rbsp)
    if isDependent {
      writer.copy(layout.extraBits.upperBound..<layout.end, of: rbsp)
    } else {
      let behindLSB = header.type.isIDR ? layout.pocLSB.upperBound : layout.pocLSB.lowerBound
      writer.copy(layout.extraBits.upperBound..<layout.pocLSB.lowerBound, of: rbsp)
      writer.copy(behindLSB..<layout.interLayer.lowerBound, of: rbsp)
      writer.copy(layout.interLayer.upperBound..<layout.end, of: rbsp)
    }
    writer.trailingBits()
    return writer.nalUnit(header)
  }
}
