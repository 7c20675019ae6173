/// Levels of H.265 (A.4.1) by what they allow.
enum Level {
  /// `general_level_idc` and MaxLumaPs.
  private static let table: [(idc: Int, maxLumaPictureSize: Int)] = [
    (30, 36_864), (60, 122_880), (63, 245_760), (90, 552_960), (93, 983_040),
    (120, 2_228_224), (150, 8_912_896), (180, 35_651_584),
  ]

  /// The lowest `general_level_idc` from `atLeast` on that allows `pictures` pictures of
  /// `pictureSize` luma samples in the decoded picture buffer; level 8.5, which has no limits,
  /// where none does.
  static func idc(pictureSize: Int, pictures: Int, atLeast: Int) -> Int {
    let fit = table.first { maxPictures($0.maxLumaPictureSize, pictureSize) >= pictures }
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
