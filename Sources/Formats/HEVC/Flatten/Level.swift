// SPDX-License-Identifier: MPL-2.0

/// Levels of H.265 (A.4.1) by what they allow.
enum Level {
  private struct Row {
    var idc: Int
    /// MaxLumaPs
    var pictureSize: Int
    /// MaxLumaSr, luma samples a second.
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

  /// The lowest `general_level_idc` from `atLeast` on that allows `pictures` pictures of
  /// `pictureSize` luma samples in the decoded picture buffer, and `sampleRate` luma samples a
  /// second (0 where that is not known); level 8.5, which has no limits, where none does.
  static func idc(pictureSize: Int, pictures: Int, sampleRate: Double, atLeast: Int) -> Int {
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
