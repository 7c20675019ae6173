// SPDX-License-Identifier: MPL-2.0

import CX265
import StereoVideo

/// x265's parameters for one eye: the preset, then the configuration, then the person's own
/// options, then what keeps two encoders in step.
struct EyeParameters {
  let x265: X265Parameters

  init(
    library: X265Library, configuration: StereoEncoderConfiguration, eye: Eye,
    options: [EncoderOption]
  ) throws(StereoEncoderError) {
    x265 = try X265Parameters(
      library, preset: configuration.preset.rawValue, tune: configuration.tune?.rawValue)
    for (name, value) in settings(of: configuration, eye: eye) { try x265.parse(name, value) }
    for option in options { try x265.parse(option.name, option.value) }
    let unit = max(Int(x265.values.maxCUSize), 1)
    try EncoderOption.check(
      options, unitColumns: (configuration.width + unit - 1) / unit,
      unitRows: (configuration.height + unit - 1) / unit)
    if configuration.rateControl.isShared { try allowQPOffsets() }
    for (name, value) in Self.step(keyframeDistance: configuration.keyframeDistance) {
      try x265.parse(name, value)
    }
  }

  private func settings(
    of configuration: StereoEncoderConfiguration, eye: Eye
  ) -> [(name: String, value: String)] {
    var settings = [
      // x265 would write to the process's stderr.
      ("log-level", "none"),
      ("input-res", "\(configuration.width)x\(configuration.height)"), ("input-csp", "i420"),
      // The settings of one eye say little about the stream.
      ("info", "false"),
      // The two eyes are two threads already. With more of them in an eye, x265 can wait for itself
      // for ever when it is flushed (its issue 684), and without wavefronts it codes the same
      // pictures differently from run to run.
      ("frame-threads", "1"),
    ]
    settings += blockSizes(width: configuration.width, height: configuration.height)
    let rate = configuration.frameRate?.reduced
    settings.append(("fps", rate.map { "\($0.numerator)/\($0.denominator)" } ?? "30/1"))
    if rate == nil { settings.append(("vui-timing-info", "false")) }
    if let ratio = configuration.pixelAspectRatio?.reduced {
      settings.append(("sar", "\(ratio.numerator):\(ratio.denominator)"))
    }
    settings += configuration.signal.options
    settings += configuration.rateOptions(dependent: eye != configuration.baseEye)
    settings += configuration.pass?.options(of: eye) ?? []
    return settings
  }

  /// Has x265 read the QP offsets of pictures, which it does with an adaptive quantization of any strength.
  private func allowQPOffsets() throws(StereoEncoderError) {
    guard x265.values.hevcAq == 0 else {
      throw .refusedOption(
        name: "hevc-aq", reason: "it leaves a bitrate or a limited peak no way to change the QPs")
    }
    if x265.values.aqMode == 0 { try x265.parse("aq-strength", "0") }
    guard x265.values.aqStrength == 0 else { return }
    try x265.parse("aq-mode", "1")
    // x265 takes 0 for none.
    try x265.parse("aq-strength", "0.001")
  }

  /// x265 takes no picture smaller than one coding tree unit.
  private func blockSizes(width: Int, height: Int) -> [(name: String, value: String)] {
    let side = min(width, height)
    let largest = side >= 64 ? 64 : side >= 32 ? 32 : 16
    guard Int(x265.values.maxCUSize) > largest else { return [] }
    var sizes = [("ctu", "\(largest)")]
    if Int(x265.values.maxTUSize) > largest { sizes.append(("max-tu-size", "\(largest)")) }
    return sizes
  }

  /// Leaves x265 no choice of frame types but the fixed pattern, yet leaves every picture's type
  /// to it: named types would switch cutree off.
  private static func step(keyframeDistance: Int) -> [(name: String, value: String)] {
    [
      ("b-adapt", "0"), ("scenecut", "0"), ("open-gop", "false"),
      // With a distance of 1, x265 would say that the stream is of an intra profile, which no MV-HEVC
      // base layer may be (G.11.1): `EncoderPair` then names each picture a keyframe.
      ("keyint", "\(max(2, keyframeDistance))"), ("min-keyint", "1"),
      // Each keyframe brings its parameter sets and the HDR10 messages, which x265 3.5 writes
      // nowhere else.
      ("repeat-headers", "true"), ("annexb", "false"), ("aud", "false"),
      // Even with scenecut 0, x265 ends a mini-GOP early, by a P picture, where predicting the next
      // picture from the last costs at least 1 - scenecut-bias of coding it alone. It takes no bias
      // below 0; against this one the comparison never holds. (Were a build to hold it true, it
      // would be so in both eyes, and all pictures would be P.)
      ("scenecut-bias", "nan"),
    ]
  }

  /// Checks, in the parameters that x265 says it uses, that no option has brought a choice of
  /// frame types back.
  func checkFixedPattern() throws(StereoEncoderError) {
    let values = x265.values
    let choices: [(name: String, isOn: Bool)] = [
      ("b-adapt", values.bFrameAdaptive != 0), ("scenecut", values.scenecutThreshold != 0),
      ("hist-scenecut", values.bHistBasedSceneCut != 0), ("open-gop", values.bOpenGOP != 0),
      ("fades", values.bEnableFades != 0), ("intra-refresh", values.bIntraRefresh != 0),
      ("frame-dup", values.bEnableFrameDuplication != 0),
      ("gop-lookahead", values.gopLookahead != 0),
    ]
    for choice in choices where choice.isOn {
      throw .refusedOption(
        name: choice.name, reason: "x265 has switched it on by itself with these settings")
    }
  }
}
