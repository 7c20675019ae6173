// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// What the samples of a picture mean, in the numbers of ITU-T H.273, which are those of H.265's
/// VUI (E.3.1). A nil field is not written.
public struct VideoSignal: Equatable, Sendable {
  /// `colour_primaries`; x265 can write 1 to 12, except 3.
  public var colourPrimaries: Int?
  /// `transfer_characteristics`; x265 can write 1 to 18, except 3.
  public var transferCharacteristics: Int?
  /// `matrix_coeffs`; x265 can write 0 to 14, except 3.
  public var matrixCoefficients: Int?
  /// `video_full_range_flag`.
  public var isFullRange: Bool?
  /// `chroma_sample_loc_type`, from 0 (left) to 5.
  public var chromaLocation: Int?
  public var masteringDisplay: MasteringDisplayColourVolume?
  public var contentLightLevel: ContentLightLevel?

  public init(
    colourPrimaries: Int? = nil, transferCharacteristics: Int? = nil,
    matrixCoefficients: Int? = nil, isFullRange: Bool? = nil, chromaLocation: Int? = nil,
    masteringDisplay: MasteringDisplayColourVolume? = nil,
    contentLightLevel: ContentLightLevel? = nil
  ) {
    self.colourPrimaries = colourPrimaries
    self.transferCharacteristics = transferCharacteristics
    self.matrixCoefficients = matrixCoefficients
    self.isFullRange = isFullRange
    self.chromaLocation = chromaLocation
    self.masteringDisplay = masteringDisplay
    self.contentLightLevel = contentLightLevel
  }
}

extension VideoSignal {
  func validate() throws(StereoEncoderError) {
    try Self.check("colour primaries", colourPrimaries, in: 1...12, except: 3)
    try Self.check("transfer characteristics", transferCharacteristics, in: 1...18, except: 3)
    try Self.check("matrix coefficients", matrixCoefficients, in: 0...14, except: 3)
    try Self.check("chroma location", chromaLocation, in: 0...5, except: nil)
  }

  private static func check(
    _ name: String, _ value: Int?, in range: ClosedRange<Int>, except hole: Int?
  ) throws(StereoEncoderError) {
    guard let value else { return }
    guard range.contains(value), value != hole else {
      let exception = hole.map { ", except \($0)" } ?? ""
      throw .setting(
        name: name,
        reason: "\(value) is outside what x265 can write, "
          + "\(range.lowerBound)...\(range.upperBound)\(exception)")
    }
  }

  /// x265's options for these values.
  var options: [(name: String, value: String)] {
    var options: [(name: String, value: String)] = []
    if let isFullRange { options.append(("range", isFullRange ? "full" : "limited")) }
    if let colourPrimaries { options.append(("colorprim", "\(colourPrimaries)")) }
    if let transferCharacteristics { options.append(("transfer", "\(transferCharacteristics)")) }
    if let matrixCoefficients { options.append(("colormatrix", "\(matrixCoefficients)")) }
    if let chromaLocation { options.append(("chromaloc", "\(chromaLocation)")) }
    if let display = masteringDisplay {
      func point(_ name: String, _ c: MasteringDisplayColourVolume.Chromaticity) -> String {
        "\(name)(\(c.x),\(c.y))"
      }
      options.append(
        (
          "master-display",
          point("G", display.green) + point("B", display.blue) + point("R", display.red)
            + point("WP", display.whitePoint)
            + "L(\(display.maximumLuminance),\(display.minimumLuminance))"
        ))
    }
    if let light = contentLightLevel {
      options.append(("max-cll", "\(light.maximum),\(light.maximumFrameAverage)"))
    }
    return options
  }
}
