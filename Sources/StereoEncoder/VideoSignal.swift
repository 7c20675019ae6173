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
  public var masteringDisplay: MasteringDisplay?
  public var contentLight: ContentLight?

  public init(
    colourPrimaries: Int? = nil, transferCharacteristics: Int? = nil,
    matrixCoefficients: Int? = nil, isFullRange: Bool? = nil, chromaLocation: Int? = nil,
    masteringDisplay: MasteringDisplay? = nil, contentLight: ContentLight? = nil
  ) {
    self.colourPrimaries = colourPrimaries
    self.transferCharacteristics = transferCharacteristics
    self.matrixCoefficients = matrixCoefficients
    self.isFullRange = isFullRange
    self.chromaLocation = chromaLocation
    self.masteringDisplay = masteringDisplay
    self.contentLight = contentLight
  }
}

/// The display a video was graded on: SMPTE ST 2086, H.265 (D.2.28).
public struct MasteringDisplay: Equatable, Sendable {
  /// CIE 1931 coordinates, in units of 0.00002.
  public struct Chromaticity: Equatable, Sendable {
    public var x: UInt16
    public var y: UInt16

    public init(x: UInt16, y: UInt16) {
      self.x = x
      self.y = y
    }
  }

  public var red: Chromaticity
  public var green: Chromaticity
  public var blue: Chromaticity
  public var whitePoint: Chromaticity
  /// In units of 0.0001 candela per square metre.
  public var maximumLuminance: UInt32
  /// In units of 0.0001 candela per square metre.
  public var minimumLuminance: UInt32

  public init(
    red: Chromaticity, green: Chromaticity, blue: Chromaticity, whitePoint: Chromaticity,
    maximumLuminance: UInt32, minimumLuminance: UInt32
  ) {
    self.red = red
    self.green = green
    self.blue = blue
    self.whitePoint = whitePoint
    self.maximumLuminance = maximumLuminance
    self.minimumLuminance = minimumLuminance
  }
}

/// How bright the content gets, in candela per square metre: CTA-861.3, H.265 (D.2.35).
public struct ContentLight: Equatable, Sendable {
  /// `max_content_light_level`.
  public var maximum: UInt16
  /// `max_pic_average_light_level`.
  public var maximumFrameAverage: UInt16

  public init(maximum: UInt16, maximumFrameAverage: UInt16) {
    self.maximum = maximum
    self.maximumFrameAverage = maximumFrameAverage
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
      let point = { (name: String, c: MasteringDisplay.Chromaticity) in "\(name)(\(c.x),\(c.y))" }
      options.append(
        (
          "master-display",
          point("G", display.green) + point("B", display.blue) + point("R", display.red)
            + point("WP", display.whitePoint)
            + "L(\(display.maximumLuminance),\(display.minimumLuminance))"
        ))
    }
    if let light = contentLight {
      options.append(("max-cll", "\(light.maximum),\(light.maximumFrameAverage)"))
    }
    return options
  }
}
