// SPDX-License-Identifier: MPL-2.0

/// Variables that H.265 (7.4.3.2.1) derives from the syntax elements of an SPS.
extension SequenceParameterSet {
  /// ChromaArrayType: 0 where planes are coded separately.
  public var chromaArrayType: Int {
    guard let sample = format.sampleFormat, !sample.separateColourPlanes else { return 0 }
    return sample.chromaFormatIDC
  }

  /// PicWidthInCtbsY
  public var widthInCTBs: Int { ceilingShift(format.width, tools.ctbLog2Size) }
  /// PicHeightInCtbsY
  public var heightInCTBs: Int { ceilingShift(format.height, tools.ctbLog2Size) }
  /// PicSizeInCtbsY
  public var sizeInCTBs: Int { widthInCTBs * heightInCTBs }

  /// Size of the picture inside the conformance window, in luma samples. Zero where the window
  /// leaves nothing.
  public var visibleSize: (width: Int, height: Int) {
    guard let window = format.conformanceWindow else { return (format.width, format.height) }
    let chroma = format.sampleFormat?.chromaFormatIDC ?? 1
    let subWidth = chroma == 1 || chroma == 2 ? 2 : 1
    let subHeight = chroma == 1 ? 2 : 1
    return (
      max(format.width - subWidth * (window.left + window.right), 0),
      max(format.height - subHeight * (window.top + window.bottom), 0)
    )
  }

  /// DPB needs of all sub-layers; nil in the short form, where the VPS has them.
  public var dpb: VideoParameterSet.SubLayerOrdering? { subLayerOrdering.last }

  private func ceilingShift(_ value: Int, _ bits: Int) -> Int { (value + (1 << bits) - 1) >> bits }
}
