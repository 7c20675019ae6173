// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Builds the parameter sets of a flattened stream.
struct FlattenedParameterSets {
  private let ordering: VideoParameterSet.SubLayerOrdering
  private let levelIDC: Int
  /// Conformance window of the eye that is output.
  private let window: PictureWindow?

  /// Maximum number of pictures in a reference picture set.
  var capacity: Int { ordering.maxDecPicBufferingMinus1 }
  /// `sps_max_num_reorder_pics`
  var reordering: Int { ordering.maxNumReorderPics }

  /// Creates the builder for a stream with the active SPSs `base` and `dependent` and the VPS
  /// `vps`.
  ///
  /// - Parameter needsDelayBuffers: whether base pictures stay in the buffer until their dependent
  ///   pictures are decoded.
  init(
    _ vps: VideoParameterSet, base: SequenceParameterSet, dependent: SequenceParameterSet?,
    output: Flattener.Output, needsDelayBuffers: Bool
  ) {
    let baseDPB = base.dpb
    let pairDPB = vps.multilayer?.pair?.dpbSize.last
    let dependentPictures =
      dependent?.dpb?.maxDecPicBufferingMinus1 ?? pairDPB?.maxDecPicBufferingMinus1.last
    var pictures = 16
    if let baseDPB, let dependentPictures, !needsDelayBuffers {
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

  /// Returns the sets of a stream whose active SPS is derived from `base`, with the PPS ids
  /// `numbers` for the dependent layer.
  func make(
    _ vps: VideoParameterSet, base: SequenceParameterSet, from store: ParameterSetStore,
    numbers: DependentParameterSetIDs
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

  /// Returns the VPS without its extension, with buffer space for the pictures of both layers.
  private func videoParameterSet(_ vps: VideoParameterSet) -> [UInt8] {
    var vps = vps.baseLayerOnly()
    vps.profileTierLevel.levelIDC = levelIDC
    vps.profileTierLevel.profile?.clearScanTypeFlags()
    vps.temporalIDNesting = vps.maxSubLayersMinus1 == 0
    vps.subLayerOrdering = [ordering]
    // The HRD parameters described the base layer, and POCs alternate between the layers.
    vps.timing?.hrd = []
    vps.timing?.numTicksPOCDiffOneMinus1 = nil
    return vps.nalUnit()
  }

  /// Returns the base layer's SPS with 16-bit POC LSBs and buffer space for the pictures of both
  /// layers.
  private func sequenceParameterSet(_ sps: SequenceParameterSet) -> [UInt8] {
    let layout = sps.layout
    var writer = BitWriter()
    writer.u(sps.videoParameterSetID, 4)
    writer.u(sps.maxSubLayersMinus1, 3)
    // Both layers are in one temporal sub-layer and refer to each other, so nesting cannot be
    // claimed.
    writer.flag(sps.maxSubLayersMinus1 == 0)
    var level = sps.profileTierLevel ?? ProfileTierLevel(profile: .init(), levelIDC: 0)
    level.levelIDC = levelIDC
    level.profile?.clearScanTypeFlags()
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
      layout.temporalMVP..<layout.extensions, clearing: sps.vui?.flagsInvalidAfterFlattening ?? [],
      to: &writer)
    sps.writeRangeExtension(to: &writer)
    writer.trailingBits()
    return writer.nalUnit(NALUnitHeader(type: .sequenceParameterSet))
  }

  /// Returns the PPS `pps` of either layer with the id `id`, referring to the SPS
  /// `sequenceParameterSetID`.
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
  /// Bits of the flags (and the fields they enable) that do not hold if pictures of two layers
  /// alternate: pictures then have no picture timing SEI, no time of their own and no HRD
  /// parameters.
  fileprivate var flagsInvalidAfterFlattening: [Range<Int>] {
    var flags = [frameFieldInfoBits]
    if let timing { flags += [timing.pocProportionalBits, timing.hrdBits] }
    return flags
  }
}

extension ProfileTierLevel.Profile {
  /// Clears the source flags if both are set, which would mean that picture timing SEI signals the
  /// scan type.
  fileprivate mutating func clearScanTypeFlags() {
    let both: UInt64 = 0b11 << 46
    if constraintFlags & both == both { constraintFlags &= ~both }
  }
}

extension SequenceParameterSet {
  /// Copies the bits `range`, with a 0 in place of each of `flags` and the fields it enables.
  ///
  /// - Parameter flags: bit ranges inside `range`, in ascending order.
  func copy(_ range: Range<Int>, clearing flags: [Range<Int>], to writer: inout BitWriter) {
    var position = range.lowerBound
    for flag in flags {
      writer.copy(position..<flag.lowerBound, of: rbsp)
      writer.flag(false)
      position = flag.upperBound
    }
    writer.copy(position..<range.upperBound, of: rbsp)
  }

  /// Writes `sps_extension_present_flag` and only the range extension.
  func writeRangeExtension(to writer: inout BitWriter) {
    writer.flag(!layout.rangeExtension.isEmpty)
    guard !layout.rangeExtension.isEmpty else { return }
    writer.u(0x80, 8)
    writer.copy(layout.rangeExtension, of: rbsp)
  }
}

/// Level limits of H.265 (A.4.1).
enum Level {
  private struct Row {
    var idc: Int
    /// MaxLumaPs
    var pictureSize: Int
    /// MaxLumaSr, in luma samples per second.
    var sampleRate: Int
  }

  private static let table: [Row] = [
    Row(idc: 30, pictureSize: 36_864, sampleRate: 552_960),
    Row(idc: 60, pictureSize: 122_880, sampleRate: 3_686_400),
    Row(idc: 63, pictureSize: 245_760, sampleRate: 7_372_800),
    Row(idc: 90, pictureSize: 552_960, sampleRate: 16_588_800),
    Row(idc: 93, pictureSize: 983_040, sampleRate: 33_177_600),
    Row(idc: 120, pictureSize: 2_228_224, sampleRate: 66_846_720),
    Row(idc: 123, pictureSize: 2_228_224, sampleRate: 133_693_440),
    Row(idc: 150, pictureSize: 8_912_896, sampleRate: 267_386_880),
    Row(idc: 153, pictureSize: 8_912_896, sampleRate: 534_773_760),
    Row(idc: 156, pictureSize: 8_912_896, sampleRate: 1_069_547_520),
    Row(idc: 180, pictureSize: 35_651_584, sampleRate: 1_069_547_520),
    Row(idc: 183, pictureSize: 35_651_584, sampleRate: 2_139_095_040),
    Row(idc: 186, pictureSize: 35_651_584, sampleRate: 4_278_190_080),
  ]

  /// Returns the lowest `general_level_idc`, at least `atLeast`, that allows `pictures` pictures of
  /// `pictureSize` luma samples in the decoded picture buffer and `sampleRate` luma samples per
  /// second (0 if unknown). If no level does, returns level 8.5, which has no limits.
  fileprivate static func idc(pictureSize: Int, pictures: Int, sampleRate: Double, atLeast: Int)
    -> Int
  {
    let fit = table.first {
      maxPictures($0.pictureSize, pictureSize) >= pictures && Double($0.sampleRate) >= sampleRate
    }
    return max(fit?.idc ?? 255, atLeast)
  }

  /// MaxDpbSize.
  private static func maxPictures(_ maxLumaPictureSize: Int, _ pictureSize: Int) -> Int {
    if pictureSize <= maxLumaPictureSize >> 2 { return 16 }
    if pictureSize <= maxLumaPictureSize >> 1 { return 12 }
    if pictureSize <= (3 * maxLumaPictureSize) >> 2 { return 8 }
    return pictureSize <= maxLumaPictureSize ? 6 : 0
  }
}

/// Parameter sets derived from other parameter sets, and rebuilt only when those change.
struct DerivedParameterSets<Sets: Hashable & Sendable>: Sendable {
  /// The latest sets; nil before the first.
  private(set) var last: Sets?
  private var sources: [Int] = []

  /// Returns the sets derived from `sources`, numbers that change whenever the original sets do;
  /// nil if the sets have to be rebuilt.
  func current(from sources: [Int]) -> Sets? { sources == self.sources ? last : nil }

  /// Stores `sets`, which were derived from `sources`.
  ///
  /// - Returns: Whether they differ from the previous ones; true for the first.
  mutating func update(_ sets: Sets, from sources: [Int]) -> Bool {
    self.sources = sources
    guard sets != last else { return false }
    last = sets
    return true
  }
}
