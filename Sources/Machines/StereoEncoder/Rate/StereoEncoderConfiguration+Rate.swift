// SPDX-License-Identifier: MPL-2.0

import StereoVideo

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension StereoEncoderConfiguration {
  /// Pictures of one eye per second; 30 if the rate varies.
  var framesPerSecond: Double {
    frameRate.map { Double($0.numerator) / Double($0.denominator) } ?? 30
  }

  /// Returns the rate control of both eyes from `firstFrame` on; nil if each eye has a constant
  /// quality of its own. To be called after `validate()`.
  func sharedRateControl(firstFrame: Int64) -> SharedRateControl? {
    guard rateControl.isShared else { return nil }
    let goal = SharedRateControl.Goal(
      target: targetBits,
      buffer: rateControl.effectiveBuffer.map {
        VideoBufferModel($0, framesPerSecond: framesPerSecond)
      },
      rateFactor: rateFactor, framesPerSecond: framesPerSecond, plan: plan)
    let costs = CostModel(
      bits: measurement?.bitsPerPicture ?? expectedBits(rateFactor: rateFactor),
      dependentShare: dependentShare,
      keyframeDistance: measurement == nil
        ? min(Double(keyframeDistance), 10 * max(framesPerSecond, 1)) : nil,
      framesPerSecond: framesPerSecond)
    return SharedRateControl(goal, costs: costs, firstFrame: firstFrame)
  }

  /// Returns x265's options for the rate of one eye.
  func rateOptions(dependent: Bool) -> [(name: String, value: String)] {
    let offset = dependent ? dependentEyeQualityOffset : 0
    let factor = [("crf", "\(min(max(rateFactor + offset, 0), 51))")]
    guard let buffer = rateControl.effectiveBuffer else { return factor }
    // x265 counts bits in 32-bit integers.
    func limits(rate: Double, size: Double) -> [(name: String, value: String)] {
      let part = { (both: Int, share: Double) in
        "\(Int(min(max((Double(both) * share).rounded(), 1), 2_000_000)))"
      }
      return [
        ("vbv-maxrate", part(buffer.maximumRate, rate)), ("vbv-bufsize", part(buffer.size, size)),
      ]
    }
    guard dependent else {
      return factor
        + limits(
          rate: min(baseShareFactor(buffer) * (1 - dependentShare), 1),
          // The dependent eye's pictures sometimes take slightly more than their share.
          size: 0.9 * (1 - dependentShare))
    }
    // The QPs already keep the dependent eye within the buffer. Its encoder gets a wide one because
    // x265 4.1 and 4.2 choose different frame types without one; discarded keyframes would make it
    // run dry. The rate determines the level in the stream.
    return factor
      + (interViewPrediction == .none ? limits(rate: 1.25 * dependentShare, size: 8) : [])
  }

  /// The base eye's CRF, to which a shared rate control adds offsets.
  private var rateFactor: Double {
    switch rateControl {
    case .quality(let factor, _): return factor
    case .bitrate:
      if let measurement { return measurement.rateFactor }
      let guess = 28 + 6 * log2(expectedBits(rateFactor: 28) / max(targetBits ?? 1, 1))
      return min(max(guess, 8), 44)
    }
  }

  /// Returns the factor by which the base eye may exceed its expected share of the rate at which
  /// the buffer fills. If that rate is hardly above the target, an eye that needs more than
  /// expected could not get it otherwise; with a buffer of one second, the QPs of both eyes
  /// compensate for it.
  private func baseShareFactor(_ buffer: RateControl.VideoBuffer) -> Double {
    guard case .bitrate(let rate, _) = rateControl else { return 1 }
    let peak = Double(buffer.maximumRate) / Double(rate)
    let seconds = Double(buffer.size) / Double(buffer.maximumRate)
    return 1 + 0.45 * min(max(3 - 2 * peak, 0), 1) * pow(min(seconds, 1), 3)
  }

  /// The distribution of the bitrate in the second of two passes; nil otherwise.
  private var plan: RatePlan? {
    guard let measurement, case .bitrate(let rate, _) = rateControl,
      let buffer = rateControl.effectiveBuffer
    else { return nil }
    let seconds = min(Double(buffer.size) / Double(buffer.maximumRate), 60)
    return RatePlan(
      weights: measurement.weights, peak: Double(buffer.maximumRate) / Double(rate),
      window: Int(min(seconds * framesPerSecond, 1e6)))
  }

  /// Bits for a picture of both eyes; nil for a constant quality.
  var targetBits: Double? {
    guard case .bitrate(let rate, _) = rateControl else { return nil }
    return Double(rate) * 1000 / framesPerSecond
  }

  /// Returns a guess of the bits for a picture of both eyes: like simple video of 1920x1080 that
  /// takes 2 Mbit/s per eye at CRF 28. Costlier video may exceed the target for the first second,
  /// within the buffer.
  private func expectedBits(rateFactor: Double) -> Double {
    let size = pow(Double(width) * Double(height) / (1920 * 1080), 0.75)
    return 70_000 * size * exp2((28 - rateFactor) / 6) / (1 - dependentShare)
  }

  /// The expected share of the dependent eye in the bits of both: six steps of QP halve them.
  private var dependentShare: Double {
    if let measurement { return measurement.dependentShare }
    let ratio = exp2(-dependentEyeQualityOffset / 6) * (interViewPrediction == .none ? 1 : 0.75)
    return ratio / (1 + ratio)
  }
}
