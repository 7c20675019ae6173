internal import Bits

extension SequenceParameterSet {
  /// The NAL unit of this SPS as one of the base layer.
  ///
  /// - Parameters:
  ///   - profileTierLevel: what to say where the SPS, being of the short form, says nothing.
  ///   - ordering: the same of DPB needs.
  func singleLayerNALUnit(
    profileTierLevel: ProfileTierLevel?, ordering: [VideoParameterSet.SubLayerOrdering]
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
      writer.copy(layout.scalingListData..<layout.extensions, of: rbsp)
    } else {
      writer.copy(16..<layout.extensions, of: rbsp)
    }
    writeRangeExtension(to: &writer)
    writer.trailingBits()
    return writer.nalUnit(NALUnitHeader(type: .sequenceParameterSet))
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
