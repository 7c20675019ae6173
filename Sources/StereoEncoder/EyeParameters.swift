import CX265
import StereoVideo

/// x265's parameters for one eye: the preset, then the configuration, then the person's own
/// options, then what keeps two encoders in step.
final class EyeParameters {
  let pointer: UnsafeMutablePointer<x265_param>
  private let library: X265Library

  init(
    library: X265Library, configuration: StereoEncoderConfiguration, eye: Eye,
    options: [EncoderOption]
  ) throws(StereoEncoderError) {
    guard let pointer = library.functions.pointee.param_alloc() else {
      throw .library("libx265 has no memory for its parameters")
    }
    self.library = library
    self.pointer = pointer
    let preset = library.functions.pointee.param_default_preset(
      pointer, configuration.preset.rawValue, configuration.tune?.rawValue)
    guard preset == 0 else {
      throw .setting(
        name: "preset",
        reason: "x265 does not take \(configuration.preset.rawValue) with tune "
          + "\(configuration.tune?.rawValue ?? "none")")
    }
    // x265 would write to the process's stderr.
    pointer.pointee.logLevel = X265_LOG_NONE
    pointer.pointee.internalBitDepth = Int32(configuration.bitDepth)
    pointer.pointee.internalCsp = X265_CSP_I420
    pointer.pointee.sourceWidth = Int32(configuration.width)
    pointer.pointee.sourceHeight = Int32(configuration.height)
    for (name, value) in settings(of: configuration, eye: eye) { try parse(name, value) }
    for option in options { try parse(option.name, option.value) }
    for (name, value) in Self.step(keyframeDistance: configuration.keyframeDistance) {
      try parse(name, value)
    }
    // Even with scenecut 0, x265 3.5 ends a mini-GOP early, by a P picture, where predicting the
    // next picture from the last costs at least 1 - scenecutBias of coding it alone. It takes no
    // bias below 0; against this one the comparison never holds. (Were a build to hold it true,
    // it would be so in both eyes, and all pictures would be P.)
    pointer.pointee.scenecutBias = .nan
  }

  deinit {
    library.functions.pointee.param_free(pointer)
  }

  private func settings(
    of configuration: StereoEncoderConfiguration, eye: Eye
  ) -> [(name: String, value: String)] {
    var settings = blockSizes(width: configuration.width, height: configuration.height)
    let rate = configuration.frameRate?.reduced
    settings.append(("fps", rate.map { "\($0.numerator)/\($0.denominator)" } ?? "30/1"))
    if rate == nil { settings.append(("vui-timing-info", "false")) }
    if let ratio = configuration.pixelAspectRatio?.reduced {
      settings.append(("sar", "\(ratio.numerator):\(ratio.denominator)"))
    }
    // The settings of one eye say little about the stream.
    settings.append(("info", "false"))
    settings += configuration.signal.options
    settings += configuration.rateControl.options(
      dependent: eye != configuration.baseEye,
      qualityOffset: configuration.dependentEyeQualityOffset)
    return settings
  }

  /// x265 takes no picture smaller than one coding tree unit.
  private func blockSizes(width: Int, height: Int) -> [(name: String, value: String)] {
    let side = min(width, height)
    let largest = side >= 64 ? 64 : side >= 32 ? 32 : 16
    guard Int(pointer.pointee.maxCUSize) > largest else { return [] }
    var sizes = [("ctu", "\(largest)")]
    if Int(pointer.pointee.maxTUSize) > largest { sizes.append(("max-tu-size", "\(largest)")) }
    return sizes
  }

  /// Leaves x265 no choice of frame types but the fixed pattern, yet leaves every picture's type
  /// to it: named types would switch cutree off.
  private static func step(keyframeDistance: Int) -> [(name: String, value: String)] {
    [
      ("b-adapt", "0"), ("scenecut", "0"), ("open-gop", "false"),
      ("keyint", "\(keyframeDistance)"), ("min-keyint", "1"),
      // Each keyframe brings its parameter sets and the HDR10 messages, which x265 3.5 writes
      // nowhere else.
      ("repeat-headers", "true"), ("annexb", "false"), ("aud", "false"),
    ]
  }

  private func parse(_ name: String, _ value: String?) throws(StereoEncoderError) {
    switch library.functions.pointee.param_parse(pointer, name, value) {
    case 0: return
    case X265_PARAM_BAD_NAME: throw .unknownOption(name: name)
    default: throw .optionValue(name: name, value: value ?? "true")
    }
  }

  /// Checks, in the parameters that x265 says it uses, that no option has brought a choice of
  /// frame types back.
  func checkFixedPattern() throws(StereoEncoderError) {
    let used = pointer.pointee
    let choices: [(name: String, isOn: Bool)] = [
      ("b-adapt", used.bFrameAdaptive != 0), ("scenecut", used.scenecutThreshold != 0),
      ("hist-scenecut", used.bHistBasedSceneCut != 0), ("open-gop", used.bOpenGOP != 0),
      ("fades", used.bEnableFades != 0), ("intra-refresh", used.bIntraRefresh != 0),
      ("frame-dup", used.bEnableFrameDuplication != 0), ("gop-lookahead", used.gopLookahead != 0),
    ]
    for choice in choices where choice.isOn {
      throw .refusedOption(
        name: choice.name, reason: "x265 has switched it on by itself with these settings")
    }
  }
}
