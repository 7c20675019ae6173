// SPDX-License-Identifier: MPL-2.0

import CX265
import StereoVideo

/// One x265 encoder, for one eye.
///
/// Used by one thread at a time.
final class EyeEncoder {
  let eye: Eye
  private let library: X265Library
  private let options: [EncoderOption]
  private var encoder: X265Encoder
  /// Of the base eye, if the dependent eye is to have its QPs; else nil.
  private var rateControlQPs: RateControlQPReader?
  /// Nil where all of the eye's pictures are coded by themselves.
  let predictor: KeyframePredictor?
  /// Predicted keyframes whose pictures are inside the encoder, by their frames.
  private var predictions: [Int64: KeyframePredictor.Prediction] = [:]
  private var keyframes: KeyframeStatistics?
  /// Nil but for the dependent eye in the first of two passes.
  private let keyframeLog: PredictedKeyframeLog?
  /// What the QPs of discarded pictures have to be changed by, in sum.
  private var correction = 0.0
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
  /// for, a mini-GOP, one a frame thread, two in between, and one more where the lookahead's thread
  /// is late: x265 then gives none, once (`Lookahead::getDecidedPicture`).
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

  /// Of several options that x265 parsed and then refused, finds the first with which it refuses.
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

  /// Goes on with another rate control, after `flush` has given all that was inside. The next
  /// picture is a keyframe.
  ///
  /// It takes a new encoder of x265's: x265 3.5 says that it reconfigures one that runs, and does
  /// not.
  func restart(_ configuration: StereoEncoderConfiguration) throws(StereoEncoderError) {
    past = statistics()
    bytes = 0
    correction = 0
    encoder = try Self.open(
      eye: eye, library: library, configuration: configuration, options: options)
    rateControlQPs = Self.rateControlQPs(of: encoder, eye: eye, configuration)
  }

  /// Hands one picture over, which x265 copies; returns the next coded picture if one is ready.
  ///
  /// - Parameter frame: the place of the picture in display order, from 0, which comes back as the
  ///   coded picture's `pts`.
  func encode(
    _ picture: Picture, frame: Int64, isKeyframe: Bool, qp: PictureQP
  ) throws(StereoEncoderError) -> X265Encoder.CodedPicture? {
    lastFrame = frame
    return try advance { () throws(X265Encoder.Failure) in
      // Any other type, even the right one, would end the lookahead here and with it cutree.
      try encoder.encode(picture, pts: frame, type: isKeyframe ? .idr : .auto, qp: qp)
    }
  }

  /// As `encode`, for the first picture of a group: predicts it from the base eye's where that costs
  /// less, and hands its reconstruction over in its place, for the pictures behind to refer to.
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

  /// The next coded picture after the last input; nil when there are no more.
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

  /// What this encoder has made until now.
  func statistics() -> EyeStatistics {
    let now = EyeStatistics(
      encoder.statistics, bytes: bytes, framesPerSecond: framesPerSecond, qpCorrection: correction)
    var all = past?.adding(now) ?? now
    all.keyframes = keyframes
    return all
  }
}

/// The NAL units of one coded picture, as x265 gave them.
package struct CodedUnits: Sendable {
  /// All NAL units, each after its length in four bytes.
  package let bytes: [UInt8]
  /// Where each NAL unit lies in `bytes`.
  package let nalUnits: [Range<Int>]

  /// Copies what x265 uses again with the next call.
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
