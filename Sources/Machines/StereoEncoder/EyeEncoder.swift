// SPDX-License-Identifier: MPL-2.0

import CX265
import StereoVideo

/// An x265 encoder for one eye.
///
/// Must be used by one thread at a time.
final class EyeEncoder {
  let eye: Eye
  private let library: X265Library
  private let options: [EncoderOption]
  private var encoder: X265Encoder
  /// Reads the base eye's QPs, if the dependent eye is to follow them; else nil.
  private var rateControlQPs: RateControlQPReader?
  /// Nil if all of the eye's pictures are coded on their own.
  let predictor: KeyframePredictor?
  /// Predicted keyframes whose reconstructions are still in the encoder, by frame number.
  private var predictions: [Int64: KeyframePredictor.Prediction] = [:]
  private var keyframes: KeyframeStatistics?
  /// Nil except for the dependent eye in the first of two passes.
  private let keyframeLog: PredictedKeyframeLog?
  /// Added to x265's sum of QPs, so that predicted keyframes count instead of discarded pictures.
  private var correction = 0.0
  private let framesPerSecond: Double
  private var bytes = 0
  /// Statistics from before the last restart.
  private var past: EyeStatistics?
  /// The frame number of the last picture that went in.
  private var lastFrame: Int64 = 0
  /// The maximum number of pictures that precede a picture in coding order and follow it in display
  /// order (`sps_max_num_reorder_pics`).
  let reorderDepth: Int
  /// The maximum number of pictures that go in before the first comes out: the lookahead, a
  /// mini-GOP, one per frame thread, two in between, and one more because x265 returns nothing,
  /// once, if the lookahead's thread is late (`Lookahead::getDecidedPicture`).
  let delay: Int

  init(
    eye: Eye, library: X265Library, configuration: StereoEncoderConfiguration,
    options: [EncoderOption]
  ) throws(StereoEncoderError) {
    self.eye = eye
    self.library = library
    self.options = options
    let isInterView = configuration.interViewPrediction == .keyframes
    predictor =
      isInterView && eye != configuration.baseEye
      ? try KeyframePredictor(
        library: library, configuration: configuration, eye: eye, options: options) : nil
    if let pass = configuration.pass, case .first = pass, eye != configuration.baseEye {
      keyframeLog = try PredictedKeyframeLog(pass.keyframeFile(of: eye))
    } else {
      keyframeLog = nil
    }
    keyframes = predictor.map { _ in KeyframeStatistics() }
    encoder = try Self.open(
      eye: eye, library: library, configuration: configuration, options: options)
    rateControlQPs = Self.rateControlQPs(of: encoder, eye: eye, configuration)
    let used = encoder.parameters.values
    framesPerSecond = Double(used.fpsNum) / Double(used.fpsDenom)
    delay =
      used.lookaheadDepth == 0 && used.bframes == 0
      ? Int(used.frameNumThreads) - 1
      : Int(used.lookaheadDepth) + Int(used.bframes) + Int(used.frameNumThreads) + 3
    reorderDepth = used.bframes == 0 ? 0 : used.bframes > 1 && used.bBPyramid != 0 ? 2 : 1
  }

  private static func open(
    eye: Eye, library: X265Library, configuration: StereoEncoderConfiguration,
    options: [EncoderOption]
  ) throws(StereoEncoderError) -> X265Encoder {
    let parameters = try EyeParameters(
      library: library, configuration: configuration, eye: eye, options: options)
    let keepsKeyframes =
      configuration.interViewPrediction == .keyframes && eye == configuration.baseEye
    guard
      let encoder = X265Encoder(
        parameters.x265, keepingReconstructions: keepsKeyframes ? [.idr] : [],
        takesOffsets: configuration.rateControl.isShared)
    else {
      throw try Self.reason(
        eye: eye, library: library, configuration: configuration, options: options)
    }
    try parameters.checkFixedPattern()
    return encoder
  }

  private static func rateControlQPs(
    of encoder: X265Encoder, eye: Eye, _ configuration: StereoEncoderConfiguration
  ) -> RateControlQPReader? {
    configuration.rateControl.isShared && eye == configuration.baseEye
      ? RateControlQPReader(encoder.parameters) : nil
  }

  /// Returns the error that names the first option with which x265 refuses to open an encoder,
  /// although it has parsed all of them.
  private static func reason(
    eye: Eye, library: X265Library, configuration: StereoEncoderConfiguration,
    options: [EncoderOption]
  ) throws(StereoEncoderError) -> StereoEncoderError {
    for (index, option) in options.enumerated() {
      let some = try EyeParameters(
        library: library, configuration: configuration, eye: eye,
        options: Array(options[...index]))
      if X265Encoder(some.x265) == nil {
        return .optionValue(name: option.name, value: option.value ?? "true")
      }
    }
    return .notOpened(eye: eye)
  }

  /// Continues with another rate control, after `flush` has returned everything inside. The next
  /// picture is a keyframe.
  ///
  /// Opens a new x265 encoder: x265 3.5 reports that it has reconfigured a running one, but has
  /// not.
  func restart(_ configuration: StereoEncoderConfiguration) throws(StereoEncoderError) {
    past = statistics()
    bytes = 0
    correction = 0
    encoder = try Self.open(
      eye: eye, library: library, configuration: configuration, options: options)
    rateControlQPs = Self.rateControlQPs(of: encoder, eye: eye, configuration)
  }

  /// Submits a picture, which x265 copies; returns the next coded picture if one is ready.
  ///
  /// - Parameter frame: the number of the picture in display order, from 0, which returns as the
  ///   coded picture's `pts`.
  func encode(
    _ picture: Picture, frame: Int64, isKeyframe: Bool, qp: PictureQP
  ) throws(StereoEncoderError) -> X265Encoder.CodedPicture? {
    lastFrame = frame
    return try advance { () throws(X265Encoder.Failure) in
      // Any other type, even the right one, would end the lookahead here, and with it cutree.
      try encoder.encode(picture, pts: frame, type: isKeyframe ? .idr : .auto, qp: qp)
    }
  }

  /// Encodes the first picture of a group like `encode`, but predicts it from the base eye's if
  /// that costs less, and then submits the reconstruction in its place, for later pictures to refer
  /// to.
  func encodeKeyframe(
    _ picture: Picture, from base: KeyframePredictor.Reference, frame: Int64, isKeyframe: Bool,
    qp: PictureQP
  ) throws(StereoEncoderError) -> X265Encoder.CodedPicture? {
    guard let prediction = try predictor?.predict(picture, frame: frame, from: base) else {
      return try encode(picture, frame: frame, isKeyframe: isKeyframe, qp: qp)
    }
    let saving = prediction.saving
    keyframes?.note(saving: saving)
    guard saving > 0 else {
      return try encode(picture, frame: frame, isKeyframe: isKeyframe, qp: qp)
    }
    predictions[frame] = prediction
    return try encode(
      prediction.reconstruction, frame: frame, isKeyframe: isKeyframe,
      qp: PictureQP(forced: prediction.discardedQP))
  }

  /// Returns the next coded picture after the last input; nil when there are no more.
  func flush() throws(StereoEncoderError) -> X265Encoder.CodedPicture? {
    try advance { () throws(X265Encoder.Failure) in try encoder.flush() }
  }

  private func advance(
    _ body: () throws(X265Encoder.Failure) -> X265Encoder.CodedPicture?
  ) throws(StereoEncoderError) -> X265Encoder.CodedPicture? {
    do throws(X265Encoder.Failure) {
      guard var coded = try body() else { return nil }
      if let prediction = predictions.removeValue(forKey: coded.pts) {
        coded.predicted = prediction.units
        correction += prediction.averageQP - coded.averageQP
        try keyframeLog?.note(frame: coded.pts, bits: prediction.units.bytes.count * 8)
      }
      coded.rateControlQP = rateControlQPs?.read(coded)
      bytes += (coded.predicted ?? coded.units).bytes.count
      return coded
    } catch {
      throw .encoding(eye: eye, frame: lastFrame, reason: error.reason)
    }
  }

  /// Returns the statistics of all pictures so far.
  func statistics() -> EyeStatistics {
    let now = EyeStatistics(
      encoder.statistics, bytes: bytes, framesPerSecond: framesPerSecond, qpCorrection: correction)
    var all = past?.adding(now) ?? now
    all.keyframes = keyframes
    return all
  }
}

/// The NAL units of one coded picture, as x265 returned them.
package struct CodedUnits: Sendable {
  /// All NAL units, each preceded by its length in four bytes.
  package let bytes: [UInt8]
  /// The range of each NAL unit in `bytes`, without its length.
  package let nalUnits: [Range<Int>]

  /// Copies the NAL units, whose memory x265 uses again with the next call.
  init(_ units: cx265_units) {
    var ranges: [Range<Int>] = []
    ranges.reserveCapacity(Int(units.count))
    var size = 0
    for unit in UnsafeBufferPointer(start: units.sizes, count: Int(units.count)) {
      let start = size + 4
      size += Int(unit)
      ranges.append(start..<max(start, size))
    }
    bytes = [UInt8](UnsafeBufferPointer(start: units.bytes, count: size))
    nalUnits = ranges
  }
}
