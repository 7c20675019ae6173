internal import Bits

/// Makes the parameter sets of a flattened stream.
struct FlattenedParameterSets {
  /// Pictures in the buffer: those of both layers.
  private let ordering: VideoParameterSet.SubLayerOrdering
  private let levelIDC: Int

  /// Sets for a stream with the active SPSs `base` and `dependent` and the VPS `vps`.
  init(
    _ vps: VideoParameterSet, base: SequenceParameterSet, dependent: SequenceParameterSet?
  ) {
    let baseDPB = base.dpb
    let pairDPB = vps.multilayer?.pair?.dpbSize.last
    let dependentPictures =
      dependent?.dpb?.maxDecPicBufferingMinus1 ?? pairDPB?.maxDecPicBufferingMinus1.last
    var pictures = 16
    if let baseDPB, let dependentPictures {
      pictures = min(baseDPB.maxDecPicBufferingMinus1 + dependentPictures + 2, 16)
    }
    let reorder = max(
      baseDPB?.maxNumReorderPics ?? 0, dependent?.dpb?.maxNumReorderPics ?? 0,
      pairDPB?.maxNumReorderPics ?? 0)
    ordering = VideoParameterSet.SubLayerOrdering(
      maxDecPicBufferingMinus1: pictures - 1, maxNumReorderPics: min(reorder, pictures - 1),
      maxLatencyIncreasePlus1: 0)
    levelIDC = Level.idc(
      pictureSize: base.format.width * base.format.height, pictures: pictures,
      atLeast: base.profileTierLevel?.levelIDC ?? 0)
  }

  /// The VPS `vps` without its extension, with room for the pictures of both layers.
  func videoParameterSet(_ vps: VideoParameterSet) -> [UInt8] {
    var vps = vps.baseLayerOnly()
    vps.profileTierLevel.levelIDC = levelIDC
    vps.subLayerOrdering = [ordering]
    // The buffer model was that of the base layer.
    vps.timing?.hrd = []
    return vps.nalUnit()
  }

  /// The base layer's SPS `sps` with 16 bits of POC and room for the pictures of both layers.
  func sequenceParameterSet(_ sps: SequenceParameterSet) -> [UInt8] {
    let rbsp = sps.rbsp
    let layout = sps.layout
    var writer = BitWriter()
    writer.u(sps.videoParameterSetID, 4)
    writer.u(sps.maxSubLayersMinus1, 3)
    writer.flag(sps.temporalIDNesting)
    var level = sps.profileTierLevel ?? ProfileTierLevel(profile: .init(), levelIDC: 0)
    level.levelIDC = levelIDC
    level.write(to: &writer)
    writer.copy(layout.id..<layout.pocLSB, of: rbsp)
    writer.ue(16 - 4)
    VideoParameterSet.SubLayerOrdering.write(
      [ordering], to: &writer, maxSubLayersMinus1: sps.maxSubLayersMinus1)
    writer.copy(layout.codingTools..<layout.shortTermSets, of: rbsp)
    writer.ue(0)
    writer.flag(true)
    writer.ue(0)
    if let timing = sps.vui?.timing, timing.hrd != nil {
      writer.copy(layout.temporalMVP..<timing.hrdBits.lowerBound, of: rbsp)
      writer.flag(false)
      writer.copy(timing.hrdBits.upperBound..<layout.extensions, of: rbsp)
    } else {
      writer.copy(layout.temporalMVP..<layout.extensions, of: rbsp)
    }
    sps.writeRangeExtension(to: &writer)
    writer.trailingBits()
    return writer.nalUnit(NALUnitHeader(type: .sequenceParameterSet))
  }

  /// The PPS `pps` of either layer as the PPS `id` on the SPS `sequenceParameterSetID`.
  func pictureParameterSet(
    _ pps: PictureParameterSet, id: Int, sequenceParameterSetID: Int
  ) -> [UInt8] {
    let layout = pps.layout
    var writer = BitWriter()
    writer.ue(id)
    writer.ue(sequenceParameterSetID)
    writer.flag(pps.dependentSliceSegmentsEnabled)
    writer.flag(true)
    writer.u(0, 3)
    writer.copy(layout.signDataHiding..<layout.listsModification, of: pps.rbsp)
    writer.flag(true)
    writer.copy(
      layout.listsModification + 1..<layout.sliceHeaderExtensionPresent, of: pps.rbsp)
    writer.flag(false)
    pps.writeRangeExtension(to: &writer)
    writer.trailingBits()
    return writer.nalUnit(NALUnitHeader(type: .pictureParameterSet))
  }
}

extension SequenceParameterSet {
  /// Writes `sps_extension_present_flag` and, of the extensions, the range extension alone.
  func writeRangeExtension(to writer: inout BitWriter) {
    writer.flag(!layout.rangeExtension.isEmpty)
    guard !layout.rangeExtension.isEmpty else { return }
    writer.u(0x80, 8)
    writer.copy(layout.rangeExtension, of: rbsp)
  }
}
