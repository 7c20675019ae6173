// SPDX-License-Identifier: MPL-2.0

public import HEVC
public import StereoVideo

/// What a `StereoEncoder` makes, and how.
public struct StereoEncoderConfiguration: Sendable {
  /// Of one eye's picture, in samples: even, from 16, and width times height at most 35,651,584
  /// (H.265 level 6.2, which allows 8192x4320).
  public var width: Int
  /// Of one eye's picture; see `width`.
  public var height: Int
  /// 8 or 10, of luma and chroma.
  public var bitDepth: Int
  /// In pictures of one eye a second. Nil where the rate varies: rate control then takes 30, and
  /// no timing is written into the stream.
  public var frameRate: Ratio?
  /// Width to height of one sample; nil where it is not known.
  public var pixelAspectRatio: Ratio?
  public var signal: VideoSignal
  public var rateControl: RateControl
  /// One of two passes over the same pictures; nil for the only one.
  public var pass: EncodingPass?
  /// What the first of two passes found out, in the second; nil otherwise.
  var measurement: PassMeasurement?
  public var preset: Preset
  public var tune: Tune?
  /// The distance between two keyframes, in pictures, at most, from 1.
  public var keyframeDistance: Int
  /// The distance at which a scene cut becomes a keyframe at the earliest, in pictures, from 1 to
  /// `keyframeDistance`; where it is equal to that, all groups of pictures have this length. Nil
  /// for a tenth of `keyframeDistance`, but 2 to 25.
  public var minimumKeyframeDistance: Int?
  /// Added to the dependent eye's QPs, -24 to 24: with 6 it takes about half as much as the base eye.
  public var dependentEyeQualityOffset: Double
  /// Whether keyframes of the dependent eye may be predicted from those of the base eye. With a bitrate, a
  /// limited peak or two passes, libx265 3.5 alone can do it.
  public var interViewPrediction: InterViewPrediction
  /// Added to the mean QP of the base eye's keyframe for the dependent eye's that is predicted from
  /// it, -20 to 20; `dependentEyeQualityOffset` comes on top.
  public var interViewQPOffset: Int
  /// Further options of x265, `name=value:name=value`, or a name alone for a switch. They come
  /// after everything else here, so they win.
  public var optionString: String
  /// Whether a cut to another scene, seen in the base eye, starts with a keyframe.
  public var detectsSceneCuts: Bool
  /// The eye in the base layer, which a player that knows no stereo shows.
  public var baseEye: Eye

  /// A quality of 22, x265's preset medium, a keyframe every 60 pictures, the left eye as base.
  public init(width: Int, height: Int, bitDepth: Int = 8, frameRate: Ratio? = nil) {
    self.width = width
    self.height = height
    self.bitDepth = bitDepth
    self.frameRate = frameRate
    pixelAspectRatio = nil
    signal = VideoSignal()
    rateControl = .quality(22)
    pass = nil
    preset = .medium
    tune = nil
    keyframeDistance = 60
    minimumKeyframeDistance = nil
    dependentEyeQualityOffset = 0
    interViewPrediction = .automatic
    interViewQPOffset = 2
    optionString = ""
    detectsSceneCuts = true
    baseEye = .left
  }

  /// How far the dependent eye is predicted from the base eye.
  public enum InterViewPrediction: String, Sendable, CaseIterable {
    /// As `keyframes`; as `none` with tune `zerolatency`, since it would delay pictures, with the presets from
    /// `slower` on, whose pictures refer to keyframes for longer than sixteen access units, and where this
    /// libx265 cannot do it.
    case automatic
    /// Not at all: the eyes are two streams.
    case none
    /// The first picture of each group is, where that costs less. A third encoder codes it.
    case keyframes
  }

  /// A ratio of two positive numbers.
  public struct Ratio: Equatable, Sendable {
    public let numerator: Int
    public let denominator: Int

    public init(_ numerator: Int, _ denominator: Int) {
      self.numerator = numerator
      self.denominator = denominator
    }

    /// The same ratio in its smallest numbers. Both must be positive.
    var reduced: Ratio {
      var (divisor, rest) = (numerator, denominator)
      while rest > 0 { (divisor, rest) = (rest, divisor % rest) }
      return Ratio(numerator / divisor, denominator / divisor)
    }
  }

  /// x265's presets, from the fastest to the one that compresses most.
  public enum Preset: String, Sendable, CaseIterable {
    case ultrafast, superfast, veryfast, faster, fast, medium, slow, slower, veryslow, placebo

    /// Whether pictures refer to a keyframe for so long that the dependent eye, flattened, would come more than
    /// sixteen access units late.
    fileprivate var keepsReferencesLong: Bool { [.slower, .veryslow, .placebo].contains(self) }
  }

  /// x265's tunings.
  public enum Tune: String, Sendable, CaseIterable {
    case psnr, ssim, grain, fastdecode, zerolatency, animation
  }
}

extension StereoEncoderConfiguration {
  /// The distance of a keyframe that was not asked for to the one before, at least.
  var leastKeyframeDistance: Int {
    minimumKeyframeDistance ?? min(max(keyframeDistance / 10, 2), 25, keyframeDistance)
  }

  /// Whether keyframes are predicted, by what is asked for and what this libx265 can do. Throws where it cannot do
  /// what is asked for.
  ///
  /// - Parameter build: of libx265.
  /// - Returns: `none` or `keyframes`.
  func effectivePrediction(build: Int32) throws(StereoEncoderError) -> InterViewPrediction {
    // From 3.6 on, x265 places P and B pictures by another rule if it has a video buffer. Then the
    // base eye's encoder has one, and the dependent eye's has none: the keyframes that are thrown
    // away would run it dry.
    let isPossible = build <= 199 || !(rateControl.isShared || pass != nil)
    switch interViewPrediction {
    case .none: return .none
    case .automatic:
      return isPossible && tune != .zerolatency && !preset.keepsReferencesLong ? .keyframes : .none
    case .keyframes:
      guard isPossible else {
        throw .setting(
          name: "inter-view prediction",
          reason:
            "with a bitrate, a limited peak or two passes it takes libx265 3.5 (build 199); build "
            + "\(build) then chooses other frame types for each eye")
      }
      return .keyframes
    }
  }

  func validate() throws(StereoEncoderError) {
    guard bitDepth == 8 || bitDepth == 10 else {
      throw .setting(name: "bit depth", reason: "\(bitDepth) is neither 8 nor 10")
    }
    try validateSize()
    try Self.check("frame rate", frameRate, most: Int(Int32.max))
    // `sar_width` and `sar_height` have 16 bits.
    try Self.check("pixel aspect ratio", pixelAspectRatio, most: Int(UInt16.max))
    try signal.validate()
    try rateControl.validate()
    guard (1...1_000_000).contains(keyframeDistance) else {
      throw .setting(
        name: "keyframe distance", reason: "\(keyframeDistance) is outside 1...1000000")
    }
    if let minimumKeyframeDistance {
      guard (1...keyframeDistance).contains(minimumKeyframeDistance) else {
        throw .setting(
          name: "minimum keyframe distance",
          reason: "\(minimumKeyframeDistance) is outside 1...\(keyframeDistance), "
            + "the maximum")
      }
    }
    guard (-20...20).contains(interViewQPOffset) else {
      throw .setting(
        name: "inter-view QP offset", reason: "\(interViewQPOffset) is outside -20...20")
    }
    try pass?.check(rateControl)
    guard (-24...24).contains(dependentEyeQualityOffset) else {
      throw .setting(
        name: "dependent eye's quality offset",
        reason: "\(dependentEyeQualityOffset) is outside -24...24")
    }
  }

  /// H.265 (A.4.1): a level bounds the luma samples of a picture, and each side by the root of
  /// eight times that.
  private func validateSize() throws(StereoEncoderError) {
    let largestPicture = 35_651_584
    let longestSide = 16_888
    let size = "\(width)x\(height)"
    guard width >= 16, height >= 16 else {
      throw .setting(name: "picture size", reason: "\(size) is below 16x16")
    }
    guard width.isMultiple(of: 2), height.isMultiple(of: 2) else {
      throw .setting(
        name: "picture size",
        reason: "\(size) is odd, and 4:2:0 pictures have even sizes; crop or scale by one sample")
    }
    guard width <= longestSide, height <= longestSide, width * height <= largestPicture else {
      throw .setting(
        name: "picture size",
        reason: "\(size) is above the limit of H.265 level 6.2: \(largestPicture) samples, "
          + "\(longestSide) a side")
    }
  }

  /// Throws where the ratio, in its smallest numbers, has one outside `1...most`.
  private static func check(
    _ name: String, _ ratio: Ratio?, most: Int
  ) throws(StereoEncoderError) {
    guard let ratio else { return }
    guard ratio.numerator > 0, ratio.denominator > 0, ratio.reduced.numerator <= most,
      ratio.reduced.denominator <= most
    else {
      throw .setting(
        name: name,
        reason: "\(ratio.numerator)/\(ratio.denominator) has a part outside 1...\(most)")
    }
  }
}

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

/// Why a stereo encoder could not be made, or could not go on.
public enum StereoEncoderError: Error, Equatable, Sendable {
  /// libx265 is not there, has no encoder for this bit depth, or is not the version this was compiled for.
  case library(String)
  /// A setting has a value outside what is possible; `reason` says what is.
  case setting(name: String, reason: String)
  /// x265 knows no option of this name.
  case unknownOption(name: String)
  /// x265 cannot use this value for this option.
  case optionValue(name: String, value: String)
  /// The option cannot be used for two encoders in step; `reason` says why.
  case refusedOption(name: String, reason: String)
  /// x265 opened no encoder with these settings.
  case notOpened(eye: Eye)
  /// A picture cannot be read as the configuration says.
  case picture(eye: Eye, reason: String)
  /// Timestamps must rise from one call to the next.
  case timestamp(previous: Int64, given: Int64)
  /// x265 failed on a picture, or lost one.
  case encoding(eye: Eye, frame: Int64, reason: String)
  /// The two encoders did not make the same kind of picture at the same place.
  case outOfStep(String)
  /// What the two encoders made does not fit into one stream.
  case weaving(WeaveError)
  /// The encoder has finished or failed, and takes no more pictures.
  case closed
}

extension StereoEncoderError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .library(let reason):
      return reason
    case .setting(let name, let reason):
      return "\(name): \(reason)"
    case .unknownOption(let name):
      return "x265 has no option named “\(name)”"
    case .optionValue(let name, let value):
      return "x265 takes no “\(value)” for its option “\(name)” with these settings"
    case .refusedOption(let name, let reason):
      return "x265 option “\(name)” cannot be used here: \(reason)"
    case .notOpened(let eye):
      return "x265 opened no encoder for the \(eye.rawValue) eye with these settings; "
        + "with log-level=error in the option string it prints the reason on stderr"
    case .picture(let eye, let reason):
      return "the picture of the \(eye.rawValue) eye: \(reason)"
    case .timestamp(let previous, let given):
      return "timestamp \(given) does not come after the one before it, \(previous)"
    case .encoding(let eye, let frame, let reason):
      return "the x265 encoder of the \(eye.rawValue) eye, frame \(frame): \(reason)"
    case .outOfStep(let reason):
      return "the encoders of the two eyes are no longer in step: \(reason)"
    case .weaving(let error):
      return "what the encoders of the two eyes made cannot be woven: \(error)"
    case .closed:
      return "the encoder is closed and takes no more pictures"
    }
  }
}
