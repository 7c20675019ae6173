// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension SliceSegmentHeader {
  /// Returns the slice segment's NAL unit up to the slice data, rewritten for `picture`.
  func flattenedBeginning(
    _ slice: FlattenedPicture.Slice, _ picture: FlattenedPicture, _ references: ReferencePictures
  ) -> [UInt8] {
    var writer = BitWriter()
    writer.flag(isFirstInPicture)
    if picture.header.type.isIRAP { writer.flag(noOutputOfPriorPictures) }
    writer.ue(slice.pictureParameterSetID)
    writer.copy(layout.pictureParameterSetID.upperBound..<layout.extraBits.lowerBound, of: rbsp)
    if isDependent {
      writer.copy(layout.extraBits.upperBound..<layout.end, of: rbsp)
    } else {
      writer.copy(layout.extraBits.upperBound..<layout.outputFlag.lowerBound, of: rbsp)
      writer.flag(picture.isOutput)
      writer.copy(layout.outputFlag.upperBound..<layout.pocLSB.lowerBound, of: rbsp)
      if !picture.header.type.isIDR { writeReferences(picture, references, to: &writer) }
      writer.copy(layout.interLayer.upperBound..<layout.referenceLists.lowerBound, of: rbsp)
      if sliceType != .i { writeReferenceLists(picture, references, to: &writer) }
      writer.copy(layout.referenceLists.upperBound..<layout.end, of: rbsp)
    }
    writer.trailingBits()
    return writer.nalUnit(picture.header)
  }

  /// Writes the fields from `slice_pic_order_cnt_lsb` to `slice_temporal_mvp_enabled_flag`.
  private func writeReferences(
    _ picture: FlattenedPicture, _ references: ReferencePictures, to writer: inout BitWriter
  ) {
    writer.u(picture.poc, 16)
    writer.flag(false)
    let set = ShortTermReferencePictureSet(
      references.shortTerm.map {
        .init(deltaPOC: $0.poc &- picture.poc, isUsedByCurrentPicture: $0.isUsed)
      })
    set.write(to: &writer, hasCandidates: false)
    writer.ue(references.longTerm.count)
    for entry in references.longTerm {
      writer.u(entry.poc, 16)
      writer.flag(entry.isUsed)
      writer.flag(false)
    }
    if picture.temporalMVPEnabled { writer.flag(temporalMVP) }
  }

  /// Writes the fields from `num_ref_idx_active_override_flag` to the end of
  /// `ref_pic_lists_modification()`, so that the reference lists equal those of the layered
  /// picture.
  private func writeReferenceLists(
    _ picture: FlattenedPicture, _ references: ReferencePictures, to writer: inout BitWriter
  ) {
    writer.flag(true)
    writer.ue(activeCountL0 - 1)
    if sliceType == .b { writer.ue(activeCountL1 - 1) }
    let (initial0, initial1) = references.initialLists(poc: picture.poc)
    guard initial0.count > 1 else { return }
    let bits = Int.bitWidth - (initial0.count - 1).leadingZeroBitCount
    let lists = [
      (initial0, picture.layeredLists.0, activeCountL0, listEntriesL0),
      (initial1, picture.layeredLists.1, activeCountL1, listEntriesL1),
    ]
    for (initial, layered, count, entries) in lists where count > 0 {
      let wanted = (0..<count).map { index in
        let position = entries.map { $0[index] } ?? index % max(layered.count, 1)
        return position < layered.count ? layered[position] : nil
      }
      // A conforming slice only refers to pictures in its reference picture set.
      let order = wanted.map { poc in poc.flatMap { initial.firstIndex(of: $0) } ?? 0 }
      let isModified = order != (0..<count).map { $0 % initial.count }
      writer.flag(isModified)
      if isModified {
        for entry in order { writer.u(entry, bits) }
      }
    }
  }
}

extension SequenceParameterSet {
  /// Returns this SPS as a NAL unit of the base layer.
  ///
  /// - Parameters:
  ///   - profileTierLevel: used if this SPS is in the short form, which has none.
  ///   - ordering: DPB requirements, used in the same case.
  ///   - base: the SPS of the base layer, which signals the colours for both layers.
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
  /// Copies the fields from `start` to the end of the VUI, adding the `video_signal_type` of `base`
  /// if this SPS has none.
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
    // aspect_ratio_info_present_flag and overscan_info_present_flag are 0; after the signal type,
    // so are chroma_loc_info, neutral_chroma_indication, field_seq, frame_field_info,
    // default_display_window, timing_info and bitstream_restriction.
    writer.u(0, 2)
    writer.copy(colour, of: base.rbsp)
    writer.u(0, 7)
  }
}

extension RepresentationFormat {
  /// Writes the fields of an SPS from `chroma_format_idc` to `bit_depth_chroma_minus8`.
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
  /// Returns this PPS as a NAL unit of the base layer, without extra slice header bits and slice
  /// header extensions.
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
  /// Returns this slice segment's NAL unit up to the slice data, as one of the base layer with the
  /// header `header`.
  func singleLayerBeginning(_ header: NALUnitHeader) -> [UInt8] {
    var writer = BitWriter()
    writer.copy(16..<layout.extraBits.lowerBound, of: rbsp)
    if isDependent {
      writer.copy(layout.extraBits.upperBound..<layout.end, of: rbsp)
    } else {
      let afterLSB = header.type.isIDR ? layout.pocLSB.upperBound : layout.pocLSB.lowerBound
      writer.copy(layout.extraBits.upperBound..<layout.pocLSB.lowerBound, of: rbsp)
      writer.copy(afterLSB..<layout.interLayer.lowerBound, of: rbsp)
      writer.copy(layout.interLayer.upperBound..<layout.end, of: rbsp)
    }
    writer.trailingBits()
    return writer.nalUnit(header)
  }
}

/// The reference picture set of a picture (H.265 8.3.2), as POCs.
struct ReferencePictures: Hashable, Sendable {
  /// A reference picture.
  struct Entry: Hashable, Sendable {
    var poc: Int
    var isUsed: Bool
  }

  /// StCurrBefore, StCurrAfter and StFoll; pictures before the current one first, nearest first.
  var shortTerm: [Entry] = []
  /// LtCurr and LtFoll, in slice segment header order.
  var longTerm: [Entry] = []

  /// Creates an empty set.
  init() {}

  /// Creates the set of the picture with POC `poc` and the slice segment `slice`.
  ///
  /// - Parameter known: pictures that may be in the buffer, used to resolve long-term references
  ///   that are sent as POC LSBs only.
  init(_ slice: SliceSegmentHeader, poc: Int, log2MaxLSB: Int, known: Self) {
    shortTerm = (slice.shortTermSet.negative + slice.shortTermSet.positive).map {
      Entry(poc: poc &+ $0.deltaPOC, isUsed: $0.isUsedByCurrentPicture)
    }
    let size = 1 << log2MaxLSB
    let candidates = known.longTerm + known.shortTerm
    longTerm = slice.longTermEntries.map { entry in
      var full = entry.pocLSB
      if let cycle = entry.deltaPOCMSBCycle {
        full = poc &- (cycle &* size) &- (poc & (size - 1)) &+ entry.pocLSB
      } else if let match = candidates.first(where: { $0.poc & (size - 1) == entry.pocLSB }) {
        full = match.poc
      }
      return Entry(poc: full, isUsed: entry.isUsedByCurrentPicture)
    }
  }

  /// Returns the set with `offset` added to all POCs.
  func moved(by offset: Int) -> Self {
    var set = self
    set.shortTerm = shortTerm.map { Entry(poc: $0.poc &+ offset, isUsed: $0.isUsed) }
    set.longTerm = longTerm.map { Entry(poc: $0.poc &+ offset, isUsed: $0.isUsed) }
    return set
  }

  /// Returns the pictures of the set that are also in `others`.
  func present(in others: Self) -> Self {
    var set = self
    set.shortTerm.removeAll { !others.contains($0.poc) }
    set.longTerm.removeAll { !others.contains($0.poc) }
    return set
  }

  /// Returns the set without pictures that are only kept for later and are not in `others`. Listing
  /// a lost picture would make decoders generate one.
  func keepingPresent(in others: Self) -> Self {
    var set = self
    set.shortTerm.removeAll { !$0.isUsed && !others.contains($0.poc) }
    set.longTerm.removeAll { !$0.isUsed && !others.contains($0.poc) }
    return set
  }

  /// Adds the pictures of `other` that are not yet in the set, as kept for later.
  mutating func keep(_ other: Self) {
    for entry in other.shortTerm where !contains(entry.poc) {
      shortTerm.append(Entry(poc: entry.poc, isUsed: false))
    }
    for entry in other.longTerm where !contains(entry.poc) {
      longTerm.append(Entry(poc: entry.poc, isUsed: false))
    }
  }

  /// Adds a picture as kept for later, unless it is already in the set.
  mutating func keep(_ poc: Int, isLongTerm: Bool = false) {
    guard !contains(poc) else { return }
    if isLongTerm {
      longTerm.append(Entry(poc: poc, isUsed: false))
    } else {
      shortTerm.append(Entry(poc: poc, isUsed: false))
    }
  }

  /// Whether the picture with this POC is in the set.
  func contains(_ poc: Int) -> Bool {
    shortTerm.contains { $0.poc == poc } || longTerm.contains { $0.poc == poc }
  }

  /// Number of pictures in the set.
  var count: Int { shortTerm.count + longTerm.count }

  /// Returns RefPicListTemp0 and RefPicListTemp1 of a single-layer picture with POC `poc`.
  func initialLists(poc: Int) -> ([Int], [Int]) {
    let used = shortTerm.filter(\.isUsed).map(\.poc)
    let before = used.filter { $0 < poc }.sorted(by: >)
    let after = used.filter { $0 > poc }.sorted()
    let long = longTerm.filter(\.isUsed).map(\.poc)
    return (before + after + long, after + before + long)
  }
}
