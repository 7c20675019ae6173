// SPDX-License-Identifier: MPL-2.0

extension Weaver {
  /// Checks that two pictures can share an access unit.
  func check(left: EyeStream.Picture, right: EyeStream.Picture) throws(WeaveError) {
    let (leftFormat, rightFormat) = (left.sps.format, right.sps.format)
    let (leftSample, rightSample) = (leftFormat.sampleFormat, rightFormat.sampleFormat)
    if let leftSample, let rightSample, leftSample != rightSample {
      guard leftSample.chromaFormatIDC == rightSample.chromaFormatIDC else {
        throw .differentChromaFormats(
          left: leftSample.chromaFormatIDC, right: rightSample.chromaFormatIDC)
      }
      throw .differentBitDepths(left: leftSample.bitDepthLuma, right: rightSample.bitDepthLuma)
    }
    guard leftFormat == rightFormat else {
      throw .differentSizes(left: leftFormat, right: rightFormat)
    }
    guard left.sps.log2MaxPOCLSB == right.sps.log2MaxPOCLSB else {
      throw .differentPictureOrderCountSizes(
        left: left.sps.log2MaxPOCLSB, right: right.sps.log2MaxPOCLSB)
    }
    guard left.sps.maxSubLayersMinus1 == right.sps.maxSubLayersMinus1 else {
      throw .differentTemporalSubLayers(
        left: left.sps.maxSubLayersMinus1 + 1, right: right.sps.maxSubLayersMinus1 + 1)
    }
    try checkPictures(left, right)
  }

  private func checkPictures(
    _ left: EyeStream.Picture, _ right: EyeStream.Picture
  ) throws(WeaveError) {
    let (leftSlice, rightSlice) = (left.firstSlice, right.firstSlice)
    let (leftType, rightType) = (leftSlice.header.type, rightSlice.header.type)
    guard leftType.isIRAP == rightType.isIRAP else {
      throw .unpairedRandomAccess(left: leftType, right: rightType)
    }
    guard left.pictureOrderCount == right.pictureOrderCount else {
      throw .differentPictureOrderCounts(
        left: left.pictureOrderCount, right: right.pictureOrderCount)
    }
    // A coded video sequence begins in both layers or in none, and what is skipped behind a random
    // access is skipped in both (F.7.4.2.2). Else the types may differ.
    guard leftType.beginsWithItself == rightType.beginsWithItself,
      leftType.isRASL == rightType.isRASL, leftType.isRADL == rightType.isRADL
    else { throw .differentFrameTypes(left: leftType, right: rightType) }
    guard leftSlice.header.temporalID == rightSlice.header.temporalID else {
      throw .differentTemporalSubLayers(
        left: Int(leftSlice.header.temporalID), right: Int(rightSlice.header.temporalID))
    }
  }
}

extension NALUnitType {
  /// IDR and BLA pictures, which refer to nothing before them.
  fileprivate var beginsWithItself: Bool { isIDR || isBLA }
}
