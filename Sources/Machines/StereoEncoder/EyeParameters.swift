// SPDX-License-Identifier: MPL-2.0

import CX265
import StereoVideo

/// x265's parameters for one eye: the preset, then the configuration, then the user's options, then
/// the settings that keep two encoders in step.
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
    let hasSlices = options.contains { $0.canonicalName == "slices" && $0.value != "1" }
    if hasSlices || configuration.height <= Int(x265.values.maxCUSize) {
      try avoidUnsetReferences()
    }
    // x265's cutree writes after the end of its costs of a row of fewer than four blocks of 16
    // samples (`Lookahead::cuTree`).
    if configuration.width <= 48 { try x265.parse("cutree", "false") }
    for (name, value) in Self.step(keyframeDistance: configuration.keyframeDistance) {
      try x265.parse(name, value)
    }
  }

  private func settings(
    of configuration: StereoEncoderConfiguration, eye: Eye
  ) -> [(name: String, value: String)] {
    var settings = [
      // x265 would write to the stderr of the process.
      ("log-level", "none"),
      ("input-res", "\(configuration.width)x\(configuration.height)"), ("input-csp", "i420"),
      // The SEI message with x265's settings would describe one eye alone.
      ("info", "false"),
      // The two eyes already run in two threads. With more frame threads in an eye, x265 can
      // deadlock when it is flushed (its issue 684), and without wavefronts its output differs from
      // run to run.
      ("frame-threads", "1"),
    ]
    // The output does not depend on the number of threads, but for "none".
    if let count = ProcessorLimit.current.count { settings.append(("pools", "\(count)")) }
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

  /// Makes x265 read the QP offsets of pictures, which it does only with adaptive quantization,
  /// however weak.
  private func allowQPOffsets() throws(StereoEncoderError) {
    guard x265.values.hevcAq == 0 else {
      throw .refusedOption(
        name: "hevc-aq", reason: "with it, a bitrate or a limited peak cannot change the QPs")
    }
    if x265.values.aqMode == 0 { try x265.parse("aq-strength", "0") }
    guard x265.values.aqStrength == 0 else { return }
    try x265.parse("aq-mode", "1")
    // For x265, a strength of 0 means no adaptive quantization.
    try x265.parse("aq-strength", "0.001")
  }

  /// Switches weighted prediction off, for pictures or slices of a single row of coding tree units.
  /// x265 never fills their weighted references (`MotionReference::applyWeight` returns for row 0):
  /// it would predict from unset memory, differently from run to run, and unlike decoders.
  private func avoidUnsetReferences() throws(StereoEncoderError) {
    try x265.parse("weightp", "false")
    try x265.parse("weightb", "false")
  }

  /// Returns options that reduce the coding tree unit to fit into the picture: x265 accepts no
  /// picture smaller than one coding tree unit.
  private func blockSizes(width: Int, height: Int) -> [(name: String, value: String)] {
    let side = min(width, height)
    let largest = side >= 64 ? 64 : side >= 32 ? 32 : 16
    guard Int(x265.values.maxCUSize) > largest else { return [] }
    var sizes = [("ctu", "\(largest)")]
    if Int(x265.values.maxTUSize) > largest { sizes.append(("max-tu-size", "\(largest)")) }
    return sizes
  }

  /// Returns options that fix the pattern of frame types, yet leave each picture's type to x265:
  /// forced types would switch cutree off.
  private static func step(keyframeDistance: Int) -> [(name: String, value: String)] {
    [
      ("b-adapt", "0"), ("scenecut", "0"), ("open-gop", "false"),
      // With a distance of 1, x265 would signal an intra profile, which no MV-HEVC base layer may
      // have (G.11.1): `EncoderPair` forces each picture to be a keyframe instead.
      ("keyint", "\(max(2, keyframeDistance))"), ("min-keyint", "1"),
      // Each keyframe carries its parameter sets and the HDR10 messages, which x265 3.5 writes
      // nowhere else.
      ("repeat-headers", "true"), ("annexb", "false"), ("aud", "false"),
      // Even with scenecut 0, x265 ends a mini-GOP early, with a P picture, if predicting the next
      // picture from the last costs at least 1 - scenecut-bias of encoding it alone. It accepts no
      // bias below 0; a comparison with NaN is never true. (In a build that took it for true, both
      // eyes would do the same, and all pictures would be P.)
      ("scenecut-bias", "nan"),
    ]
  }

  /// Checks the parameters that x265 reports: no option may have enabled a choice of frame types
  /// again.
  ///
  /// - Throws: `refusedOption` if one has.
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
        name: choice.name, reason: "x265 switches it on with these settings")
    }
  }
}

/// One x265 option as the user wrote it.
package struct EncoderOption: Equatable {
  let name: String
  /// Nil if the name stands alone, which switches the option on.
  let value: String?

  /// The name as x265 matches it: without a leading `--`, `no-` or `no`, and with `-` for `_`.
  fileprivate var canonicalName: String {
    var name = String(self.name.map { $0 == "_" ? "-" : $0 })[...]
    if name.hasPrefix("--") { name = name.dropFirst(2) }
    if name.hasPrefix("no-") {
      name = name.dropFirst(3)
    } else if name.hasPrefix("no") {
      name = name.dropFirst(2)
    }
    return String(name)
  }

  /// Reads `name=value:name=value`; a name may stand alone.
  ///
  /// - Throws: `refusedOption` for an option that cannot be used with two encoders in step;
  ///   `unknownOption` for an empty name; `optionValue` for a zero byte.
  package static func list(_ text: String) throws(StereoEncoderError) -> [EncoderOption] {
    var options: [EncoderOption] = []
    for part in text.split(separator: ":") {
      let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = words.first, !name.isEmpty else {
        throw .unknownOption(name: String(part))
      }
      // A C string would end at the zero byte.
      guard !part.utf8.contains(0) else {
        throw .optionValue(name: String(name.prefix { $0 != "\0" }), value: "text with a zero byte")
      }
      let option = EncoderOption(
        name: String(name), value: words.count > 1 ? String(words[1]) : nil)
      if let reason = refusal(of: option.canonicalName) {
        throw .refusedOption(name: option.name, reason: reason)
      }
      options.append(option)
    }
    return options
  }

  /// Throws `refusedOption` for options that make a known build of libx265 hang or crash: with
  /// several slices in a picture, 4.1 (build 215) deadlocks, and 4.2 (build 216) crashes. So does
  /// 3.5 (build 199) on arm64, as far as emulation shows. It is so in other programs as well.
  package static func check(_ options: [EncoderOption], build: Int32) throws(StereoEncoderError) {
    var reasons: [Int32: String] = [
      215: "libx265 4.1 hangs with several slices; 3.5 does not",
      216: "libx265 4.2 crashes with several slices; 3.5 does not",
    ]
    #if arch(arm64)
      reasons[199] = "libx265 3.5 crashes with several slices on arm64"
    #endif
    guard let reason = reasons[build] else { return }
    for option in options where option.canonicalName == "slices" && option.value != "1" {
      throw .refusedOption(name: option.name, reason: reason)
    }
  }

  /// Throws `refusedOption` for several slices in narrow pictures, for which libx265 3.5 writes out
  /// of bounds: at most two coding tree units in a row, and slices of more than one row.
  static func check(
    _ options: [EncoderOption], unitColumns: Int, unitRows: Int
  ) throws(StereoEncoderError) {
    guard unitColumns < 3 else { return }
    for option in options where option.canonicalName == "slices" {
      let slices = option.value.flatMap { Int($0) } ?? 2
      guard slices == 1 || slices >= unitRows else {
        throw .refusedOption(
          name: option.name,
          reason:
            "libx265 crashes with several slices in pictures this narrow; set a smaller ctu"
        )
      }
    }
  }

  private static func refusal(of name: String) -> String? {
    refusals.first { $0.names.contains(name) }?.reason
  }

  private static let refusals: [(reason: String, names: Set<String>)] = [
    (
      "frame types would depend on each eye's content, but both eyes must have the same",
      [
        "b-adapt", "scenecut", "scenecut-bias", "hist-scenecut", "hist-threshold", "fades",
        "frame-dup", "dup-threshold", "gop-lookahead", "scenecut-aware-qp", "masking-strength",
        "scenecut-window", "max-qp-delta", "qp-delta-ref", "qp-delta-nonref",
      ]
    ),
    (
      "keyframes are placed on both eyes together; set the keyframe distance instead",
      ["keyint", "min-keyint", "intra-refresh", "radl", "idr-recovery-sei"]
    ),
    ("groups of pictures are closed, so that decoding can start in both eyes", ["open-gop"]),
    (
      "the rate of both eyes together is set by the quality or the bitrate",
      ["bitrate", "crf", "qp", "vbv-maxrate", "vbv-bufsize"]
    ),
    (
      "the size, rate and format of the pictures come from the configuration",
      ["input-res", "input-csp", "fps", "interlace", "field", "total-frames"]
    ),
    (
      "it changes the layout of NAL units and parameter sets, which weaving rewrites",
      [
        "annexb", "repeat-headers", "aud", "hrd", "hrd-concat", "vui-hrd-info", "temporal-layers",
        "opt-qp-pps", "opt-ref-list-length-pps", "multi-pass-opt-rps", "single-sei", "uhd-bd",
        "log2-max-poc-lsb",
      ]
    ),
    (
      "it needs the whole video more than once",
      [
        "slow-firstpass", "multi-pass-opt-analysis",
        "multi-pass-opt-distortion", "vbv-live-multi-pass", "analysis-reuse-file",
        "analysis-reuse-mode", "analysis-reuse-level", "analysis-save", "analysis-load",
        "analysis-save-reuse-level", "analysis-load-reuse-level", "refine-analysis-type",
        "refine-intra", "refine-inter", "refine-mv", "refine-ctu-distortion",
        "refine-mv-type", "dynamic-refine", "scale-factor", "chunk-start", "chunk-end",
      ]
    ),
    (
      "both encoders would write, or need, the same file",
      ["csv", "csv-log-level", "nalu-file", "dhdr10-info"]
    ),
    ("it needs more data than the pictures", ["dolby-vision-profile", "ctu-info", "rc-stats"]),
    ("it changes all encoders of the process", ["asm", "lambda-file", "svt"]),
    ("x265 must copy the pictures, whose memory is only lent to it", ["copy-pic"]),
    (
      "the second layer is made by weaving",
      ["num-views", "multiview-config", "format", "alpha", "scc"]
    ),
    (
      "it has a setting of its own, outside the option string", ["preset", "tune", "pass", "stats"]
    ),
    ("the profile follows from the bit depth", ["profile", "output-depth", "input-depth"]),
    ("pictures come out in order, and none is dropped", ["force-flush"]),
  ]
}
