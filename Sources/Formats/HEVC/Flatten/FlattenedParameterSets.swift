// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Makes the parameter sets of a flattened stream.
struct FlattenedParameterSets {
  private let ordering: VideoParameterSet.SubLayerOrdering
  private let levelIDC: Int
  /// The window of the eye that is shown.
  private let window: PictureWindow?

  /// As many pictures as a picture's reference picture set may name.
  var capacity: Int { ordering.maxDecPicBufferingMinus1 }
  /// `sps_max_num_reorder_pics`
  var reordering: Int { ordering.maxNumReorderPics }

  /// Sets for a stream with the active SPSs `base` and `dependent` and the VPS `vps`.
  ///
  /// - Parameter hasRoomToWait: base pictures wait in the buffer for their dependent pictures.
  init(
    _ vps: VideoParameterSet, base: SequenceParameterSet, dependent: SequenceParameterSet?,
    output: Flattener.Output, hasRoomToWait: Bool
  ) {
    let baseDPB = base.dpb
    let pairDPB = vps.multilayer?.pair?.dpbSize.last
    let dependentPictures =
      dependent?.dpb?.maxDecPicBufferingMinus1 ?? pairDPB?.maxDecPicBufferingMinus1.last
    var pictures = 16
    if let baseDPB, let dependentPictures, !hasRoomToWait {
      pictures = min(baseDPB.maxDecPicBufferingMinus1 + dependentPictures + 2, 16)
    }
    let reorder = max(
      baseDPB?.maxNumReorderPics ?? 0, dependent?.dpb?.maxNumReorderPics ?? 0,
      pairDPB?.maxNumReorderPics ?? 0)
    ordering = VideoParameterSet.SubLayerOrdering(
      maxDecPicBufferingMinus1: pictures - 1, maxNumReorderPics: min(reorder, pictures - 1),
      maxLatencyIncreasePlus1: 0)
    let size = base.format.width * base.format.height
    let frameRate = base.vui?.timing?.frameRate ?? vps.timing?.frameRate ?? 0
    levelIDC = Level.idc(
      pictureSize: size, pictures: pictures, sampleRate: 2 * frameRate * Double(size),
      atLeast: base.profileTierLevel?.levelIDC ?? 0)
    let shown = output == .dependentEye ? dependent ?? base : base
    window = shown.format.conformanceWindow
  }

  /// The sets of a stream whose active SPS is made of `base`, and whose PPSs of the dependent layer
  /// have the numbers `numbers`.
  func make(
    _ vps: VideoParameterSet, base: SequenceParameterSet, from store: ParameterSetStore,
    numbers: DependentNumbering
  ) -> SingleLayerParameterSets {
    var sets = SingleLayerParameterSets()
    sets.videoParameterSet = videoParameterSet(vps)
    sets.sequenceParameterSets = [sequenceParameterSet(base)]
    for case let stored? in store.pps[0] where stored.set.sequenceParameterSetID == base.id {
      sets.pictureParameterSets.append(
        pictureParameterSet(stored.set, id: stored.set.id, sequenceParameterSetID: base.id))
    }
    for case let stored? in store.pps[1] {
      guard let number = numbers[stored.set.id] else { continue }
      sets.pictureParameterSets.append(
        pictureParameterSet(stored.set, id: number, sequenceParameterSetID: base.id))
    }
    return sets
  }

  /// The VPS `vps` without its extension, with room for the pictures of both layers.
  private func videoParameterSet(_ vps: VideoParameterSet) -> [UInt8] {
    var vps = vps.baseLayerOnly()
    vps.profileTierLevel.levelIDC = levelIDC
    vps.profileTierLevel.profile?.withdrawScanType()
    vps.temporalIDNesting = vps.maxSubLayersMinus1 == 0
    vps.subLayerOrdering = [ordering]
    // The buffer model was that of the base layer, and POCs go back and forth between the layers.
    vps.timing?.hrd = []
    vps.timing?.numTicksPOCDiffOneMinus1 = nil
    return vps.nalUnit()
  }

  /// The base layer's SPS `sps` with 16 bits of POC and room for the pictures of both layers.
  private func sequenceParameterSet(_ sps: SequenceParameterSet) -> [UInt8] {
    let layout = sps.layout
    var writer = BitWriter()
    writer.u(sps.videoParameterSetID, 4)
    writer.u(sps.maxSubLayersMinus1, 3)
    // The two layers are in one sub-layer, and refer to each other out of order.
    writer.flag(sps.maxSubLayersMinus1 == 0)
    var level = sps.profileTierLevel ?? ProfileTierLevel(profile: .init(), levelIDC: 0)
    level.levelIDC = levelIDC
    level.profile?.withdrawScanType()
    level.write(to: &writer)
    writer.ue(sps.id)
    var format = sps.format
    format.conformanceWindow = window
    format.writeToSPS(&writer)
    writer.ue(16 - 4)
    VideoParameterSet.SubLayerOrdering.write(
      [ordering], to: &writer, maxSubLayersMinus1: sps.maxSubLayersMinus1)
    writer.copy(layout.codingTools..<layout.shortTermSets, of: sps.rbsp)
    writer.ue(0)
    writer.flag(true)
    writer.ue(0)
    sps.copy(
      layout.temporalMVP..<layout.extensions, clearing: sps.vui?.ofCodingOrder ?? [], to: &writer)
    sps.writeRangeExtension(to: &writer)
    writer.trailingBits()
    return writer.nalUnit(NALUnitHeader(type: .sequenceParameterSet))
  }

  /// The PPS `pps` of either layer as the PPS `id` on the SPS `sequenceParameterSetID`.
  private func pictureParameterSet(
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

extension VideoUsabilityInformation {
  /// The flags, with what they bring, that are not true of a stream in which pictures of two layers
  /// alternate: each picture has no picture timing SEI, no time of its own and no buffer model.
  fileprivate var ofCodingOrder: [Range<Int>] {
    var flags = [frameFieldInfoBits]
    if let timing { flags += [timing.pocProportionalBits, timing.hrdBits] }
    return flags
  }
}

extension ProfileTierLevel.Profile {
  /// Takes back that each picture's SEI says whether it is interlaced: both source flags set.
  fileprivate mutating func withdrawScanType() {
    let both: UInt64 = 0b11 << 46
    if constraintFlags & both == both { constraintFlags &= ~both }
  }
}

extension SequenceParameterSet {
  /// Copies the bits `range`, with a zero in the place of each of `flags` and what that brings.
  ///
  /// - Parameter flags: inside `range`, in their order.
  func copy(_ range: Range<Int>, clearing flags: [Range<Int>], to writer: inout BitWriter) {
    var position = range.lowerBound
    for flag in flags {
      writer.copy(position..<flag.lowerBound, of: rbsp)
      writer.flag(false)
      position = flag.upperBound
    }
    writer.copy(position..<range.upperBound, of: rbsp)
  }

  /// Writes `sps_extension_present_flag` and, of the extensions, the range extension alone.
  func writeRangeExtension(to writer: inout BitWriter) {
    writer.flag(!layout.rangeExtension.isEmpty)
    guard !layout.rangeExtension.isEmpty else { return }
    writer.u(0x80, 8)
    writer.copy(layout.rangeExtension, of: rbsp)
  }
}
