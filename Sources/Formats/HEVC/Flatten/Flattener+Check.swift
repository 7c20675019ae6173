// SPDX-License-Identifier: MPL-2.0

extension Flattener {
  /// Checks that the pictures of an access unit can be decoded with the same SPS.
  func check(
    _ base: LayeredStream.Picture, _ dependent: LayeredStream.Picture
  ) throws(FlattenError) {
    var (baseFormat, dependentFormat) = (base.sps.format, dependent.sps.format)
    if output == .dependentEye {
      // Only the dependent layer's window is used.
      baseFormat.conformanceWindow = nil
      dependentFormat.conformanceWindow = nil
    }
    guard baseFormat == dependentFormat else {
      throw .differentFormats(base: base.sps.format, dependent: dependent.sps.format)
    }
    var tools = dependent.sps.tools
    if tools.scalingList == .inferred { tools.scalingList = base.sps.tools.scalingList }
    guard base.sps.tools == tools else {
      throw .differentCodingTools(base: base.sps.tools, dependent: tools)
    }
    for picture in [base, dependent] {
      let pps = try stream.activeSets(picture.first).pps.set
      if pps.pocResetInfoPresent { throw .pictureOrderCountReset }
      if pps.infersScalingList { throw .inferredScalingList }
      if pps.resamplesReferenceLayer { throw .resampledReferenceLayer }
    }
    guard !base.beginsSequence || dependent.first.header.type.isIRAP else {
      throw .unalignedRandomAccess(
        base: base.first.header.type, dependent: dependent.first.header.type)
    }
    guard base.pictureOrderCount == dependent.pictureOrderCount else {
      throw .differentPictureOrderCounts(
        base: base.pictureOrderCount, dependent: dependent.pictureOrderCount)
    }
    let isInterLayer = dependent.first.usesInterLayerPrediction
    for (slice, _) in dependent.slices where !slice.isDependent {
      guard slice.usesInterLayerPrediction == isInterLayer else {
        throw .mixedInterLayerPrediction
      }
    }
  }
}
