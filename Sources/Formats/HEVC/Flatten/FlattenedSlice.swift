// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension SliceSegmentHeader {
  /// The beginning of the slice segment's NAL unit as one of `picture`: all in front of the slice
  /// data.
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

  /// From `slice_pic_order_cnt_lsb` to `slice_temporal_mvp_enabled_flag`.
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

  /// From `num_ref_idx_active_override_flag` to the end of `ref_pic_lists_modification()`, so that
  /// the lists are those of the layered picture.
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
      // A picture that the set does not have cannot be wanted by a conforming slice.
      let order = wanted.map { poc in poc.flatMap { initial.firstIndex(of: $0) } ?? 0 }
      let isModified = order != (0..<count).map { $0 % initial.count }
      writer.flag(isModified)
      if isModified {
        for entry in order { writer.u(entry, bits) }
      }
    }
  }
}
