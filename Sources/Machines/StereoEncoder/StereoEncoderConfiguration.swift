// SPDX-License-Identifier: MPL-2.0

public import HEVC
public import StereoVideo

/// The configuration of a `StereoEncoder`.
public struct StereoEncoderConfiguration: Sendable {
  /// The width of one eye's picture, in samples: even, at least 16, and width times height at most
  /// 35,651,584 (H.265 level 6.2, which allows 8192x4320).
  public var width: Int
  /// The height of one eye's picture, in samples; see `width`.
  public var height: Int
  /// The bit depth of luma and chroma: 8 or 10.
  public var bitDepth: Int
  /// Pictures of one eye per second. Nil if the rate varies: rate control then assumes 30, and no
  /// timing is written into the stream.
  public var frameRate: Ratio?
  /// Width to height of one sample; nil if unknown.
  public var pixelAspectRatio: Ratio?
  /// Colour description and HDR metadata to be written into the stream.
  public var signal: VideoSignal
  /// The quality or the bitrate of both eyes together.
  public var rateControl: RateControl
  /// One of two passes over the same pictures; nil for a single pass.
  public var pass: EncodingPass?
  /// The results of the first of two passes, in the second; nil otherwise.
  var measurement: PassMeasurement?
  /// x265's preset, a compromise between speed and compression.
  public var preset: Preset
  /// x265's tuning; nil for none.
  public var tune: Tune?
  /// The maximum distance between two keyframes, in pictures, from 1 to 1,000,000.
  public var keyframeDistance: Int
  /// The minimum distance from one keyframe to the next at a scene cut or a change of the rate
  /// control, in pictures, from 1 to `keyframeDistance`; if it is equal to that, all groups of
  /// pictures have this length. Nil for a tenth of `keyframeDistance`, but 2 to 25.
  public var minimumKeyframeDistance: Int?
  /// Added to the dependent eye's QPs, -24 to 24. With 6, the dependent eye takes about half as
  /// many bits as the base eye.
  public var dependentEyeQualityOffset: Double
  /// Whether keyframes of the dependent eye may be predicted from those of the base eye. With a
  /// bitrate, a limited peak or two passes, only libx265 3.5 can do this.
  public var interViewPrediction: InterViewPrediction
  /// Added to the mean QP of the base eye's keyframe to obtain the QP of the dependent eye's
  /// keyframe that is predicted from it, -20 to 20; `dependentEyeQualityOffset` is added as well.
  public var interViewQPOffset: Int
  /// Further x265 options, `name=value:name=value`, or a name alone for a switch. They are applied
  /// after everything else here and so override it.
  public var optionString: String
  /// Whether a scene cut, detected in the base eye, starts with a keyframe.
  public var detectsSceneCuts: Bool
  /// The eye in the base layer, which players without stereo support show.
  public var baseEye: Eye

  /// Creates a configuration with a quality of 22, x265's preset medium, a keyframe every 60
  /// pictures and the left eye as base.
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

  /// Prediction of the dependent eye from the base eye.
  public enum InterViewPrediction: String, Sendable, CaseIterable {
    /// Like `keyframes` if this is possible and sensible, else like `none`: with tune
    /// `zerolatency`, because it would delay pictures; with the presets from `slower` on, whose
    /// pictures refer to keyframes for longer than sixteen access units; and if this libx265 cannot
    /// do it.
    case automatic
    /// No prediction: each eye is a stream of its own.
    case none
    /// The first picture of each group is predicted if that costs less. A third encoder encodes it.
    case keyframes
  }

  /// A ratio of two positive numbers.
  public struct Ratio: Equatable, Sendable {
    /// A positive number.
    public let numerator: Int
    /// A positive number.
    public let denominator: Int

    /// Creates the ratio of two numbers, unreduced. Both must be positive.
    public init(_ numerator: Int, _ denominator: Int) {
      self.numerator = numerator
      self.denominator = denominator
    }

    /// The same ratio in lowest terms. Both numbers must be positive.
    var reduced: Ratio {
      var (divisor, rest) = (numerator, denominator)
      while rest > 0 { (divisor, rest) = (rest, divisor % rest) }
      return Ratio(numerator / divisor, denominator / divisor)
    }
  }

  /// x265's presets, from the fastest to the one that compresses best.
  public enum Preset: String, Sendable, CaseIterable {
    case ultrafast, superfast, veryfast, faster, fast, medium, slow, slower, veryslow, placebo

    /// Whether pictures refer to a keyframe for so long that the flattened dependent eye would come
    /// more than sixteen access units late.
    fileprivate var hasLongReferences: Bool { [.slower, .veryslow, .placebo].contains(self) }
  }

  /// x265's tunings.
  public enum Tune: String, Sendable, CaseIterable {
    case psnr, ssim, grain, fastdecode, zerolatency, animation
  }
}

extension StereoEncoderConfiguration {
  /// The minimum distance from a keyframe to the next one that was not requested, in pictures.
  var minimumRequiredKeyframeDistance: Int {
    minimumKeyframeDistance ?? min(max(keyframeDistance / 10, 2), 25, keyframeDistance)
  }

  /// Returns whether keyframes are predicted, given the request and the abilities of this libx265.
  ///
  /// - Parameter build: `X265_BUILD` of libx265.
  /// - Returns: `none` or `keyframes`.
  /// - Throws: `setting` if this libx265 cannot do what is requested.
  func effectivePrediction(build: Int32) throws(StereoEncoderError) -> InterViewPrediction {
    // From 3.6 on, x265 places P and B pictures by another rule if it has a video buffer. Here,
    // only the base eye's encoder would have one: the discarded keyframes would make the dependent
    // eye's underflow.
    let isPossible = build <= 199 || !(rateControl.isShared || pass != nil)
    switch interViewPrediction {
    case .none: return .none
    case .automatic:
      return isPossible && tune != .zerolatency && !preset.hasLongReferences ? .keyframes : .none
    case .keyframes:
      guard isPossible else {
        throw .setting(
          name: "inter-view prediction",
          reason:
            "with a bitrate, a limited peak or two passes it needs libx265 3.5 (build 199); build "
            + "\(build) then chooses different frame types for each eye")
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

  /// H.265 (A.4.1): a level limits the luma samples of a picture, and each side to the square root
  /// of eight times that.
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
        reason: "\(size) has an odd side, but 4:2:0 needs even ones; crop or scale by one sample")
    }
    guard width <= longestSide, height <= longestSide, width * height <= largestPicture else {
      throw .setting(
        name: "picture size",
        reason: "\(size) is above the limit of H.265 level 6.2: \(largestPicture) samples, "
          + "\(longestSide) a side")
    }
  }

  /// Throws if the ratio, in lowest terms, has a number outside `1...most`.
  private static func check(
    _ name: String, _ ratio: Ratio?, most: Int
  ) throws(StereoEncoderError) {
    guard let ratio else { return }
    guard ratio.numerator > 0, ratio.denominator > 0, ratio.reduced.numerator <= most,
      ratio.reduced.denominator <= most
    else {
      throw .setting(
        name: name,
        reason: "\(ratio.numerator)/\(ratio.denominator) has a number outside 1...\(most)")
    }
  }
}

/// Colour description and HDR metadata. The numbers are those of ITU-T H.273, which H.265's VUI
/// also uses (E.3.1). A nil field is not written.
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
  /// The mastering display colour volume, written as an SEI message.
  public var masteringDisplay: MasteringDisplayColourVolume?
  /// The content light level, written as an SEI message.
  public var contentLightLevel: ContentLightLevel?

  /// Creates a description; a field that is left out is not written.
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
        reason: "x265 cannot write \(value), only "
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

/// A reason why a stereo encoder could not be created or cannot continue.
public enum StereoEncoderError: Error, Equatable, Sendable {
  /// libx265 is missing, has no encoder for this bit depth, or does not match the header that its
  /// adapter was compiled with.
  case library(String)
  /// The value of a setting is not possible; `reason` says which values are.
  case setting(name: String, reason: String)
  /// x265 has no option with this name.
  case unknownOption(name: String)
  /// x265 does not accept this value for this option.
  case optionValue(name: String, value: String)
  /// The option cannot be used with two encoders in step; `reason` says why.
  case refusedOption(name: String, reason: String)
  /// x265 opened no encoder with these settings.
  case notOpened(eye: Eye)
  /// The rows of a picture do not have the layout that the configuration requires.
  case picture(eye: Eye, reason: String)
  /// Timestamps must increase from one call to the next.
  case timestamp(previous: Int64, given: Int64)
  /// x265 failed to encode a picture, or lost one.
  case encoding(eye: Eye, frame: Int64, reason: String)
  /// The two encoders returned different kinds of pictures at the same position.
  case outOfStep(String)
  /// The output of the two encoders cannot be woven into one stream.
  case weaving(WeaveError)
  /// The encoder has finished or failed, and takes no more pictures.
  case closed
}

extension StereoEncoderError: CustomStringConvertible {
  /// A message for the user, with the eye, the frame or the option concerned.
  public var description: String {
    switch self {
    case .library(let reason):
      return reason
    case .setting(let name, let reason):
      return "\(name): \(reason)"
    case .unknownOption(let name):
      return "x265 has no option named “\(name)”"
    case .optionValue(let name, let value):
      return "x265 does not accept “\(value)” for its option “\(name)” with these settings"
    case .refusedOption(let name, let reason):
      return "x265 option “\(name)” cannot be used here: \(reason)"
    case .notOpened(let eye):
      return "x265 cannot open an encoder for the \(eye.rawValue) eye with these settings; "
        + "add log-level=error to the option string to have it print the reason on stderr"
    case .picture(let eye, let reason):
      return "the picture of the \(eye.rawValue) eye: \(reason)"
    case .timestamp(let previous, let given):
      return "timestamp \(given) is not after the previous one, \(previous)"
    case .encoding(let eye, let frame, let reason):
      return "the x265 encoder of the \(eye.rawValue) eye, frame \(frame): \(reason)"
    case .outOfStep(let reason):
      return "the encoders of the two eyes are no longer in step: \(reason)"
    case .weaving(let error):
      return "the coded pictures of the two eyes cannot be woven: \(error)"
    case .closed:
      return "the encoder is closed and takes no more pictures"
    }
  }
}
