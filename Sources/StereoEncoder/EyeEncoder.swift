import StereoVideo

/// One x265 encoder, for one eye.
///
/// Used by one thread at a time.
final class EyeEncoder {
  let eye: Eye
  private let library: X265Library
  private var configuration: StereoEncoderConfiguration
  private let options: [EncoderOption]
  private var encoder: X265Encoder
  private let framesPerSecond: Double
  private var bytes = 0
  /// What the encoders before this one have made.
  private var past: EyeStatistics?
  /// The picture that went in last.
  private var lastFrame: Int64 = 0
  /// How many pictures, at most, come before a picture in coding order and after it in display
  /// order (`sps_max_num_reorder_pics`).
  let reorderDepth: Int
  /// How many pictures go in, at most, before the first comes out: those that the lookahead waits
  /// for, a mini-GOP, and one a frame thread.
  let delay: Int

  init(
    eye: Eye, library: X265Library, configuration: StereoEncoderConfiguration,
    options: [EncoderOption]
  ) throws(StereoEncoderError) {
    self.eye = eye
    self.library = library
    self.configuration = configuration
    self.options = options
    encoder = try Self.open(
      eye: eye, library: library, configuration: configuration, options: options)
    let used = encoder.parameters
    framesPerSecond = Double(used[\.fpsNum]) / Double(used[\.fpsDenom])
    delay =
      used[\.lookaheadDepth] == 0 && used[\.bframes] == 0
      ? Int(used[\.frameNumThreads]) - 1
      : Int(used[\.lookaheadDepth]) + Int(used[\.bframes]) + Int(used[\.frameNumThreads])
    reorderDepth = used[\.bframes] == 0 ? 0 : used[\.bframes] > 1 && used[\.bBPyramid] != 0 ? 2 : 1
  }

  private static func open(
    eye: Eye, library: X265Library, configuration: StereoEncoderConfiguration,
    options: [EncoderOption]
  ) throws(StereoEncoderError) -> X265Encoder {
    let parameters = try EyeParameters(
      library: library, configuration: configuration, eye: eye, options: options)
    guard let encoder = X265Encoder(parameters.values) else {
      throw try Self.reason(
        eye: eye, library: library, configuration: configuration, options: options)
    }
    try parameters.checkFixedPattern()
    return encoder
  }

  /// Of several options that x265 parsed and then refused, finds the first with which it refuses.
  private static func reason(
    eye: Eye, library: X265Library, configuration: StereoEncoderConfiguration,
    options: [EncoderOption]
  ) throws(StereoEncoderError) -> StereoEncoderError {
    for (index, option) in options.enumerated() {
      let some = try EyeParameters(
        library: library, configuration: configuration, eye: eye,
        options: Array(options[...index]))
      if X265Encoder(some.values) == nil {
        return .optionValue(name: option.name, value: option.value ?? "true")
      }
    }
    return .notOpened(eye: eye)
  }

  /// Goes on with another rate control, after `flush` has given all that was inside. The next
  /// picture is a keyframe.
  ///
  /// It takes a new encoder of x265's: x265 3.5 says that it reconfigures one that runs, and does
  /// not.
  func restart(_ rateControl: RateControl) throws(StereoEncoderError) {
    past = statistics()
    bytes = 0
    configuration.rateControl = rateControl
    encoder = try Self.open(
      eye: eye, library: library, configuration: configuration, options: options)
  }

  /// Hands one picture over, which x265 copies; returns the next coded picture if one is ready.
  ///
  /// - Parameter frame: the place of the picture in display order, from 0, which comes back as the
  ///   coded picture's `pts`.
  func encode(
    _ picture: Picture, frame: Int64, isKeyframe: Bool
  ) throws(StereoEncoderError) -> X265Encoder.CodedPicture? {
    lastFrame = frame
    return try advance { () throws(X265Encoder.Failure) in
      // Any other type, even the right one, would end the lookahead here and with it cutree.
      try encoder.encode(picture, pts: frame, type: isKeyframe ? .idr : .auto)
    }
  }

  /// The next coded picture after the last input; nil when there are no more.
  func flush() throws(StereoEncoderError) -> X265Encoder.CodedPicture? {
    try advance { () throws(X265Encoder.Failure) in try encoder.flush() }
  }

  private func advance(
    _ body: () throws(X265Encoder.Failure) -> X265Encoder.CodedPicture?
  ) throws(StereoEncoderError) -> X265Encoder.CodedPicture? {
    do throws(X265Encoder.Failure) {
      let coded = try body()
      bytes += coded?.units.bytes.count ?? 0
      return coded
    } catch {
      throw .encoding(eye: eye, frame: lastFrame, reason: error.reason)
    }
  }

  /// What this encoder has made until now.
  func statistics() -> EyeStatistics {
    let now = encoder.withStatistics {
      EyeStatistics($0, $1, bytes: bytes, framesPerSecond: framesPerSecond)
    }
    return past?.adding(now) ?? now
  }
}
