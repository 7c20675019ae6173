// SPDX-License-Identifier: MPL-2.0

import CX265
public import HEVC
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

/// One moment of the video, both eyes coded: an access unit of two layers.
///
/// It holds what the encoders gave and how it is woven; `write` puts the bytes where they are
/// wanted, in one pass.
public struct LayeredAccessUnit: Sendable {
  /// The NAL units' order, the parameter sets that hold, and the kind of picture.
  public let woven: WovenAccessUnit
  /// The pictures' own timestamp, as it was given to the encoder.
  public let presentation: Int64
  /// When to decode, in the same units. Rises strictly from one access unit to the next, and is
  /// never after `presentation`. With a reorder depth of d it is the d-th timestamp before this
  /// one's place in order; the first d come before the video's first timestamp.
  public let decoding: Int64
  /// Whether decoding can begin here: IDR pictures, in both eyes.
  public let isSync: Bool

  package let left: CodedUnits
  package let right: CodedUnits

  init(_ pair: EncoderPair.CodedPair, woven: WovenAccessUnit, _ baseEye: Eye) {
    self.woven = woven
    presentation = pair.presentation
    decoding = pair.decoding
    isSync = pair.isKeyframe
    left = (baseEye == .right ? pair.predicted : nil) ?? pair.left
    right = (baseEye == .left ? pair.predicted : nil) ?? pair.right
  }

  /// Size in bytes of what `write` writes.
  public func byteCount(framing: NALUnitFraming) -> Int {
    woven.byteCount(framing: framing)
  }

  /// Size in bytes of what the encoder of `eye` gave for this access unit, its parameter sets
  /// included.
  public func byteCount(of eye: Eye) -> Int {
    (eye == .left ? left : right).bytes.count
  }

  /// Writes the access unit. As a byte stream it has its parameter sets inside; length-prefixed it
  /// is a sample of an `hvc1` track, without them.
  ///
  /// - Precondition: `output` has at least `byteCount(framing:)` bytes.
  public func write(framing: NALUnitFraming, into output: UnsafeMutableRawBufferPointer) {
    woven.write(
      framing: framing, left: left.bytes.span.bytes, right: right.bytes.span.bytes, into: output)
  }

  /// The bytes that `write` writes.
  public func bytes(framing: NALUnitFraming) -> [UInt8] {
    let size = byteCount(framing: framing)
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      write(
        framing: framing,
        into: UnsafeMutableRawBufferPointer(
          rebasing: UnsafeMutableRawBufferPointer(buffer)[..<size]))
      count = size
    }
  }
}

/// How the first pictures of the dependent eye's groups were coded.
public struct KeyframeStatistics: Equatable, Sendable {
  /// Predicted from the base eye's.
  public private(set) var predicted = 0
  /// Coded by themselves, since prediction would not have cost less.
  public private(set) var plain = 0
  /// Bytes that prediction has saved, by what the base eye's keyframes cost.
  public private(set) var savedBytes = 0

  mutating func note(saving: Int) {
    guard saving > 0 else {
      plain += 1
      return
    }
    predicted += 1
    savedBytes += saving
  }
}

/// What one eye's encoder has made until now.
public struct EyeStatistics: Equatable, Sendable {
  /// Coded pictures.
  public let frames: Int
  /// Coded bytes, with the parameter sets of each keyframe and four bytes in front of each NAL
  /// unit.
  public let bytes: Int
  /// The rate in kbit/s, at the configured frame rate, or 30 where there is none.
  public let kilobitsPerSecond: Double
  /// The mean QP of all pictures; nil before the first.
  public let averageQP: Double?
  /// In dB, over all planes; nil unless the option string has `psnr:log-level=info`: x265 measures
  /// only what it also prints.
  public let psnr: Double?
  /// Nil unless the option string has `ssim:log-level=info`.
  public let ssim: Double?
  /// Of the dependent eye with inter-view keyframes; nil otherwise.
  public internal(set) var keyframes: KeyframeStatistics?
  private let framesPerSecond: Double

  /// - Parameters:
  ///   - x265: of the encoder.
  ///   - qpCorrection: what its sum of all QPs has to be changed by.
  init(
    _ x265: cx265_statistics, bytes: Int, framesPerSecond: Double, qpCorrection: Double = 0
  ) {
    let (i, p, b) = x265.types
    // The mean of a type without pictures is no number.
    let types = [i, p, b].filter { $0.pictures > 0 }
    let pictures = types.reduce(0) { $0 + Double($1.pictures) }
    let sum = types.reduce(qpCorrection) { $0 + $1.average_qp * Double($1.pictures) }
    frames = Int(x265.pictures)
    self.bytes = bytes
    kilobitsPerSecond = Self.rate(bytes, frames, framesPerSecond)
    averageQP = pictures > 0 ? sum / pictures : nil
    self.framesPerSecond = framesPerSecond
    psnr = x265.psnr > 0 ? x265.psnr : nil
    ssim = x265.ssim > 0 ? x265.ssim : nil
  }

  private init(_ first: EyeStatistics, _ second: EyeStatistics) {
    func mean(_ value: KeyPath<EyeStatistics, Double?>) -> Double? {
      let parts = [first, second].compactMap { part in
        part[keyPath: value].map { ($0, Double(part.frames)) }
      }
      let frames = parts.reduce(0) { $0 + $1.1 }
      return frames > 0 ? parts.reduce(0) { $0 + $1.0 * $1.1 } / frames : nil
    }
    frames = first.frames + second.frames
    bytes = first.bytes + second.bytes
    framesPerSecond = second.framesPerSecond
    kilobitsPerSecond = Self.rate(bytes, frames, framesPerSecond)
    averageQP = mean(\.averageQP)
    psnr = mean(\.psnr)
    ssim = mean(\.ssim)
  }

  /// These pictures and those of `next` behind them.
  func adding(_ next: EyeStatistics) -> EyeStatistics { EyeStatistics(self, next) }

  private static func rate(_ bytes: Int, _ frames: Int, _ framesPerSecond: Double) -> Double {
    frames > 0 ? Double(bytes) * 8 / 1000 * framesPerSecond / Double(frames) : 0
  }
}
