// SPDX-License-Identifier: MPL-2.0

internal import HEVC
public import StereoVideo

/// Encodes pairs of pictures into one layered stream (MV-HEVC) by two x265 encoders in step.
///
/// At a constant quality each eye's pictures are coded exactly as x265 alone would code them; with a bitrate or a
/// limited peak one rate control chooses the QPs of both eyes. Of the layered stream, a
/// decoder gets the very pictures that it would get of two separate streams. With
/// ``StereoEncoderConfiguration/interViewPrediction``, which is the default, that is so of the base eye alone:
/// keyframes of the dependent eye are then predicted from it.
///
/// ```swift
/// let encoder = try StereoEncoder(StereoEncoderConfiguration(width: 1920, height: 1080))
/// for (left, right, time) in pictures {
///   write(try encoder.encode(left: left, right: right, timestamp: time))
/// }
/// write(try encoder.finish())
/// ```
///
/// To be used by one thread at a time. It has threads of its own and reads pictures while the
/// caller goes on; see ``Picture/owner``.
public final class StereoEncoder {
  /// How many pictures of an eye are read, at most, while the caller goes on, and so how many owners
  /// are kept; see ``Picture/owner``.
  public static let keptPictureCount = EncoderPair.longestQueue + 1

  public private(set) var configuration: StereoEncoderConfiguration
  private let pair: EncoderPair
  private var weaver: Weaver
  private var sceneCuts: SceneCutDetector?
  /// Pictures since the last keyframe; the first picture of all becomes one.
  private var keyframeAge: Int
  /// What waits for the next keyframe.
  private var wantedConfiguration: StereoEncoderConfiguration?

  /// - Throws: `setting`, `unknownOption`, `optionValue` or `refusedOption` where the configuration
  ///   cannot be; `library` or `notOpened` where x265 cannot make it.
  public init(_ configuration: StereoEncoderConfiguration) throws(StereoEncoderError) {
    pair = try EncoderPair(configuration)
    self.configuration = configuration
    keyframeAge = configuration.keyframeDistance - 1
    weaver = Weaver(baseEye: configuration.baseEye)
    do throws(WeaveError) {
      try weaver.add(keyframeParameterSets: pair.keyframeParameterSets)
    } catch {
      throw .weaving(error)
    }
    if configuration.detectsSceneCuts {
      sceneCuts = SceneCutDetector(
        width: configuration.width, height: configuration.height,
        bitDepth: configuration.bitDepth,
        minimumDistance: configuration.leastKeyframeDistance)
    }
  }

  /// Takes the two pictures of one moment; returns the access units that are ready, in decoding
  /// order.
  ///
  /// What is inside is bounded: x265's lookahead, its frame threads, and two pictures (none with
  /// tune `zerolatency`).
  ///
  /// - Parameters:
  ///   - timestamp: when to show them, in units of the caller's; rises from call to call.
  ///   - forceKeyframe: makes an IDR picture of both.
  /// - Throws: `picture` or `timestamp`, which leave the encoder as it was; or `encoding`,
  ///   `outOfStep`, `weaving` or `closed`, after which it takes no more.
  public func encode(
    left: Picture, right: Picture, timestamp: Int64, forceKeyframe: Bool = false
  ) throws(StereoEncoderError) -> [LayeredAccessUnit] {
    try pair.check(left: left, right: right, timestamp: timestamp)
    let isCut = sceneCuts?.isCut(configuration.baseEye == .left ? left.luma : right.luma) ?? false
    keyframeAge += 1
    let isChange =
      wantedConfiguration != nil && keyframeAge >= configuration.leastKeyframeDistance
    let isKeyframe = forceKeyframe || isCut || isChange
    if isKeyframe || keyframeAge >= configuration.keyframeDistance {
      keyframeAge = 0
      sceneCuts?.keyframeWasPlaced()
      if let configuration = wantedConfiguration {
        pair.restart(configuration)
        wantedConfiguration = nil
      }
    }
    return try weave(
      pair.encode(left: left, right: right, timestamp: timestamp, isKeyframe: isKeyframe))
  }

  /// Sets the rate control anew, in both eyes: from the next keyframe on, which is made for it as
  /// soon as the least distance of keyframes allows.
  ///
  /// - Throws: `setting` where the values cannot be. The encoder is then as it was.
  public func change(to rateControl: RateControl) throws(StereoEncoderError) {
    try rateControl.validate()
    let configuration = try pair.configuration(with: rateControl)
    guard configuration.pass == nil else {
      throw .setting(name: "pass", reason: "a rate of two passes holds from start to end")
    }
    self.configuration.rateControl = rateControl
    wantedConfiguration = configuration
  }

  /// Waits for what comes next of what is still inside, in decoding order; nil when that was all.
  /// The encoder takes no more after the first call.
  public func drain() throws(StereoEncoderError) -> [LayeredAccessUnit]? {
    guard let pairs = try pair.drain() else { return nil }
    return try weave(pairs)
  }

  /// Returns all that is still inside, in decoding order. The encoder then takes no more.
  public func finish() throws(StereoEncoderError) -> [LayeredAccessUnit] {
    try weave(pair.finish())
  }

  /// How many pairs of pictures go in, at most, before the first access unit comes out: 0 with tune
  /// `zerolatency`.
  public var delay: Int { pair.delay }

  /// What the encoder of `eye` has made until now. Waits for pictures that are being taken in.
  public func statistics(of eye: Eye) -> EyeStatistics {
    pair.statistics(eye)
  }

  private func weave(
    _ pairs: [EncoderPair.CodedPair]
  ) throws(StereoEncoderError) -> [LayeredAccessUnit] {
    var units: [LayeredAccessUnit] = []
    units.reserveCapacity(pairs.count)
    for coded in pairs {
      do throws(WeaveError) {
        units.append(LayeredAccessUnit(coded, woven: try weave(coded), configuration.baseEye))
      } catch {
        pair.close()
        throw .weaving(error)
      }
    }
    return units
  }

  private func weave(
    _ coded: EncoderPair.CodedPair
  ) throws(WeaveError) -> WovenAccessUnit {
    let (left, right) = (coded.left, coded.right)
    guard let predicted = coded.predicted else {
      return try weaver.weave(
        left: left.bytes.span.bytes, leftNALUnits: left.nalUnits,
        right: right.bytes.span.bytes, rightNALUnits: right.nalUnits)
    }
    return try weaver.weave(
      left: left.bytes.span.bytes, leftNALUnits: left.nalUnits,
      right: right.bytes.span.bytes, rightNALUnits: right.nalUnits,
      predicted: predicted.bytes.span.bytes, predictedNALUnits: predicted.nalUnits)
  }
}
