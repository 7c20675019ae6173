// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoEncoder

/// The settings of an element that encodes.
protocol HasEncoderSettings {
  var encoder: EncoderSettings { get }
}

/// Encoder properties, common to all elements that encode.
struct EncoderSettings {
  var quality = 22.0
  var bitrate: Int32 = 0
  var maximumBitrate: Int32 = 0
  var bufferSize: Int32 = 0
  var preset = PresetChoice.medium
  var tune = TuneChoice.none
  var keyframeDistance: Int32 = 60
  var minimumKeyframeDistance: Int32 = 0
  var dependentEyeQualityOffset = 0.0
  var interViewPrediction = InterViewChoice.automatic
  var interViewQPOffset: Int32 = 2
  var optionString: String?
  var detectsSceneCuts = true
  var pass = PassChoice.single
  var passFile: String?
  var drainsAtEnd = true

  private static let defaultPassFile = "mvhevc.log"

  /// Returns the properties of an element that stores these settings at `path`.
  static func properties<Owner: HasSettings>(
    at path: WritableKeyPath<Owner.Settings, EncoderSettings>
  ) -> [Property<Owner>] {
    [
      .double(
        "quality", nick: "Quality",
        blurb: "Constant quality (x265's CRF): 0 is the best, 51 the smallest; ignored if "
          + "bitrate is set; a change while playing takes effect with a keyframe",
        in: 0...51, default: 22, mutable: .playing, at: path.appending(path: \.quality)),
      .int(
        "bitrate", nick: "Bitrate",
        blurb: "Average rate of both eyes together, in kbit/s (0 = constant quality); a "
          + "change while playing takes effect with a keyframe",
        in: 0...Int32.max, default: 0, mutable: .playing, at: path.appending(path: \.bitrate)),
      .int(
        "max-bitrate", nick: "Maximum bitrate",
        blurb: "Peak rate of both eyes together, in kbit/s, which also limits constant quality "
          + "(0 = one and a half times bitrate; with quality, vbv-buffer-size per second)",
        in: 0...Int32.max, default: 0, mutable: .playing, at: path.appending(path: \.maximumBitrate)
      ),
      .int(
        "vbv-buffer-size", nick: "VBV buffer size",
        blurb: "Decoder buffer for both eyes together, in kbit (0 = one second of the peak rate)",
        in: 0...160_000_000, default: 0, mutable: .playing, at: path.appending(path: \.bufferSize)),
      .choice(
        "speed-preset", nick: "Speed preset",
        blurb: "x265's preset: trade-off between speed and compression", default: .medium,
        at: path.appending(path: \.preset)),
      .choice(
        "tune", nick: "Tune", blurb: "x265's tuning for the kind of content or use",
        default: .none, at: path.appending(path: \.tune)),
      .int(
        "key-int-max", nick: "Maximum keyframe distance",
        blurb: "Maximum distance between two keyframes, in frames", in: 1...1_000_000,
        default: 60, at: path.appending(path: \.keyframeDistance)),
      .int(
        "key-int-min", nick: "Minimum keyframe distance",
        blurb: "Minimum distance, in frames, from the previous keyframe to one for a scene cut or "
          + "a change of quality or bitrate; if equal to key-int-max, all groups of pictures have "
          + "this length (0 = a tenth of key-int-max, but 2 to 25)",
        in: 0...1_000_000, default: 0, at: path.appending(path: \.minimumKeyframeDistance)),
      .double(
        "dependent-eye-quality-offset", nick: "Dependent eye's quality offset",
        blurb: "Offset added to the QPs of the eye that is not the base; above 0 saves bits",
        in: -24...24, default: 0, at: path.appending(path: \.dependentEyeQualityOffset)),
      .choice(
        "inter-view-prediction", nick: "Inter-view prediction",
        blurb: "Whether keyframes of the eye that is not the base are predicted from those of the "
          + "base if that costs less; with a bitrate, a limited peak or two passes, only with "
          + "libx265 3.5",
        default: .automatic, at: path.appending(path: \.interViewPrediction)),
      .int(
        "inter-view-qp-offset", nick: "Inter-view QP offset",
        blurb: "Added to the mean QP of the base eye's keyframe for the one predicted from it",
        in: -20...20, default: 2, at: path.appending(path: \.interViewQPOffset)),
      .bool(
        "scene-cuts", nick: "Scene cuts",
        blurb: "Start each new scene, detected in the base eye, with a keyframe in both eyes",
        default: true, at: path.appending(path: \.detectsSceneCuts)),
      .choice(
        "pass", nick: "Pass",
        blurb: "One of two passes over the same pictures: pass1 measures at quality, pass2 uses "
          + "that to meet bitrate", default: .single, at: path.appending(path: \.pass)),
      .string(
        "multipass-cache-file", nick: "Multipass cache file",
        blurb:
          "File for the measurements of pass1, read by pass2; .left and .right are appended to the "
          + "name (NULL = \(Self.defaultPassFile))",
        at: path.appending(path: \.passFile)),
      .string(
        "option-string", nick: "Option string",
        blurb: "Further x265 options, as name=value:name=value",
        at: path.appending(path: \.optionString)),
      .bool(
        "drain-on-eos", nick: "Drain on EOS",
        blurb: "Encode the frames that are still in the encoder when the stream ends; false "
          + "discards them, except the first, to end within a moment",
        default: true, mutable: .playing, at: path.appending(path: \.drainsAtEnd)),
    ]
  }

  /// Rate control for both eyes together.
  var rateControl: RateControl {
    if pass == .first { return .quality(quality) }
    let given = maximumBitrate > 0 || bufferSize > 0
    let rate = Int(bitrate)
    let peak =
      maximumBitrate > 0 ? Int(maximumBitrate) : rate > 0 ? rate * 3 / 2 : Int(bufferSize)
    let buffer = RateControl.VideoBuffer(
      maximumRate: peak, size: bufferSize > 0 ? Int(bufferSize) : peak)
    return rate > 0
      ? .bitrate(kilobitsPerSecond: rate, buffer: buffer)
      : .quality(quality, buffer: given ? buffer : nil)
  }

  /// Copies the settings to an encoder's configuration.
  func apply(to configuration: inout StereoEncoderConfiguration) {
    configuration.rateControl = rateControl
    configuration.preset = preset.preset
    configuration.tune = tune.tune
    configuration.keyframeDistance = Int(keyframeDistance)
    configuration.minimumKeyframeDistance =
      minimumKeyframeDistance > 0 ? Int(minimumKeyframeDistance) : nil
    configuration.dependentEyeQualityOffset = dependentEyeQualityOffset
    configuration.interViewPrediction = interViewPrediction.prediction
    configuration.interViewQPOffset = Int(interViewQPOffset)
    configuration.optionString = optionString ?? ""
    configuration.detectsSceneCuts = detectsSceneCuts
    configuration.pass = pass.pass(passFile ?? Self.defaultPassFile)
  }
}

/// x265's presets as a property.
enum PresetChoice: Int32, EnumType {
  case ultrafast, superfast, veryfast, faster, fast, medium, slow, slower, veryslow, placebo

  static let typeName = "GstStereoEncoderPreset"

  var preset: StereoEncoderConfiguration.Preset {
    switch self {
    case .ultrafast: .ultrafast
    case .superfast: .superfast
    case .veryfast: .veryfast
    case .faster: .faster
    case .fast: .fast
    case .medium: .medium
    case .slow: .slow
    case .slower: .slower
    case .veryslow: .veryslow
    case .placebo: .placebo
    }
  }

  var names: (nick: String, description: String) {
    (preset.rawValue, preset.rawValue.capitalizedFirst)
  }
}

/// x265's tunings as a property.
enum TuneChoice: Int32, EnumType {
  case none, psnr, ssim, grain, fastdecode, zerolatency, animation

  static let typeName = "GstStereoEncoderTune"

  var tune: StereoEncoderConfiguration.Tune? {
    switch self {
    case .none: nil
    case .psnr: .psnr
    case .ssim: .ssim
    case .grain: .grain
    case .fastdecode: .fastdecode
    case .zerolatency: .zerolatency
    case .animation: .animation
    }
  }

  var names: (nick: String, description: String) {
    switch self {
    case .none: ("none", "No tuning")
    case .psnr: ("psnr", "For the best PSNR")
    case .ssim: ("ssim", "For the best SSIM")
    case .grain: ("grain", "Keep film grain")
    case .fastdecode: ("fastdecode", "Fast to decode")
    case .zerolatency: ("zerolatency", "No delay: no B frames, no lookahead")
    case .animation: ("animation", "Flat colours and sharp edges")
    }
  }
}

/// Prediction of one eye from the other, as a property.
enum InterViewChoice: Int32, EnumType {
  case none, keyframes, automatic

  static let typeName = "GstStereoInterViewPrediction"

  var prediction: StereoEncoderConfiguration.InterViewPrediction {
    switch self {
    case .none: .none
    case .keyframes: .keyframes
    case .automatic: .automatic
    }
  }

  var names: (nick: String, description: String) {
    switch self {
    case .none: ("none", "The eyes are encoded independently")
    case .keyframes: ("keyframes", "Keyframes are predicted")
    case .automatic:
      (
        "auto",
        "As keyframes, except with tune=zerolatency, with presets from slower on, and if this "
          + "libx265 does not support it"
      )
    }
  }
}

/// Pass over the pictures, as a property.
enum PassChoice: Int32, EnumType {
  case single, first, second

  static let typeName = "GstStereoEncoderPass"

  func pass(_ file: String) -> EncodingPass? {
    switch self {
    case .single: nil
    case .first: .first(statistics: file)
    case .second: .second(statistics: file)
    }
  }

  var names: (nick: String, description: String) {
    switch self {
    case .single: ("single", "The only pass")
    case .first: ("pass1", "The first of two passes, which measures")
    case .second: ("pass2", "The second of two passes, which meets the bitrate")
    }
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
