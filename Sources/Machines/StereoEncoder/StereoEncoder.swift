// SPDX-License-Identifier: MPL-2.0

import CX265
public import HEVC
public import StereoVideo

/// Encodes pairs of pictures into one layered stream (MV-HEVC) with two x265 encoders in step.
///
/// At a constant quality, each eye's pictures are coded exactly as x265 alone would code them; with
/// a bitrate or a limited peak, one rate control chooses the QPs of both eyes. A decoder of the
/// layered stream returns the same pictures as decoders of two separate streams. With
/// ``StereoEncoderConfiguration/interViewPrediction``, which is the default, this holds for the
/// base eye alone: keyframes of the dependent eye are then predicted from it.
///
/// ```swift
/// let encoder = try StereoEncoder(StereoEncoderConfiguration(width: 1920, height: 1080))
/// for (left, right, time) in pictures {
///   write(try encoder.encode(left: left, right: right, timestamp: time))
/// }
/// write(try encoder.finish())
/// ```
///
/// Must be used by one thread at a time. It has threads of its own, which read pictures after
/// `encode` has returned; see ``Picture/owner``.
public final class StereoEncoder {
  /// The maximum number of an eye's pictures that are still read after `encode` has returned, and
  /// so of the owners that are kept; see ``Picture/owner``.
  public static let keptPictureCount = EncoderPair.maximumQueueLength + 1

  /// The configuration, with the rate control of the last ``change(to:)``, which the encoder may
  /// not have reached yet.
  public private(set) var configuration: StereoEncoderConfiguration
  private let pair: EncoderPair
  private var weaver: Weaver
  private var sceneCuts: SceneCutDetector?
  /// Pictures since the last keyframe; starts so that the first picture becomes one.
  private var keyframeAge: Int
  /// A change of the rate control that waits for the next keyframe.
  private var pendingConfiguration: StereoEncoderConfiguration?

  /// - Throws: `setting`, `unknownOption`, `optionValue` or `refusedOption` if the configuration is
  ///   invalid; `library` or `notOpened` if libx265 cannot be used or opens no encoder.
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
        minimumDistance: configuration.minimumRequiredKeyframeDistance)
    }
  }

  /// Encodes the pictures of both eyes at one time; returns the access units that are ready, in
  /// decoding order.
  ///
  /// The number of pictures inside is bounded: x265's lookahead, its frame threads, and two more
  /// (none with tune `zerolatency`).
  ///
  /// - Parameters:
  ///   - timestamp: presentation time, in units of the caller's; must increase from call to call.
  ///   - forceKeyframe: whether both become IDR pictures.
  /// - Throws: `picture` or `timestamp`, which leave the encoder unchanged; or `encoding`,
  ///   `outOfStep`, `weaving` or `closed`, after which it takes no more pictures.
  public func encode(
    left: Picture, right: Picture, timestamp: Int64, forceKeyframe: Bool = false
  ) throws(StereoEncoderError) -> [LayeredAccessUnit] {
    try pair.check(left: left, right: right, timestamp: timestamp)
    let isCut = sceneCuts?.isCut(configuration.baseEye == .left ? left.luma : right.luma) ?? false
    keyframeAge += 1
    let isChange =
      pendingConfiguration != nil && keyframeAge >= configuration.minimumRequiredKeyframeDistance
    let isKeyframe = forceKeyframe || isCut || isChange
    if isKeyframe || keyframeAge >= configuration.keyframeDistance {
      keyframeAge = 0
      sceneCuts?.noteKeyframe()
      if let configuration = pendingConfiguration {
        pair.restart(configuration)
        pendingConfiguration = nil
      }
    }
    return try weave(
      pair.encode(left: left, right: right, timestamp: timestamp, isKeyframe: isKeyframe))
  }

  /// Whether the last pair that went in becomes a keyframe of both eyes.
  package var isAtKeyframe: Bool { keyframeAge == 0 }

  /// Changes the rate control of both eyes from the next keyframe on, which is inserted as soon as
  /// the minimum keyframe distance allows.
  ///
  /// - Throws: `setting` if the values are invalid. The encoder is then unchanged.
  public func change(to rateControl: RateControl) throws(StereoEncoderError) {
    try rateControl.validate()
    let configuration = try pair.configuration(with: rateControl)
    guard configuration.pass == nil else {
      throw .setting(name: "pass", reason: "the rate cannot change in an encode of two passes")
    }
    self.configuration.rateControl = rateControl
    pendingConfiguration = configuration
  }

  /// Returns the next access units still in the encoder, in decoding order, waiting for them; nil
  /// when the encoder is drained. It takes no more pictures after the first call.
  public func drain() throws(StereoEncoderError) -> [LayeredAccessUnit]? {
    guard let pairs = try pair.drain() else { return nil }
    return try weave(pairs)
  }

  /// Returns all remaining access units, in decoding order. The encoder takes no more pictures.
  public func finish() throws(StereoEncoderError) -> [LayeredAccessUnit] {
    try weave(pair.finish())
  }

  /// The maximum number of pairs that go in before the first access unit comes out: 0 with tune
  /// `zerolatency`.
  public var delay: Int { pair.delay }

  /// Returns the statistics of an eye's encoder so far. Waits until it has finished its queue.
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

/// An access unit of two layers: the coded pictures of both eyes at one time.
///
/// It holds the encoders' output and how to weave it; `write` writes the bytes to their destination
/// in one pass.
public struct LayeredAccessUnit: Sendable {
  /// The order of the NAL units, the parameter sets in effect, and the kind of picture.
  public let woven: WovenAccessUnit
  /// The timestamp that the pictures were submitted with.
  public let presentation: Int64
  /// Decoding time, in the same units. Strictly increases from one access unit to the next, and is
  /// never after `presentation`. With a reorder depth of d, access unit n in decoding order has the
  /// timestamp of input picture n - d; the first d come before the video's first timestamp.
  public let decoding: Int64
  /// Whether decoding can begin here: both eyes have IDR pictures.
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

  /// Returns the size in bytes that `write` needs.
  public func byteCount(framing: NALUnitFraming) -> Int {
    woven.byteCount(framing: framing)
  }

  /// Returns the size in bytes of the eye's NAL units, each with a four-byte length, including
  /// parameter sets.
  public func byteCount(of eye: Eye) -> Int {
    (eye == .left ? left : right).bytes.count
  }

  /// Writes the access unit. A byte stream contains the parameter sets; length-prefixed, it is a
  /// sample of an `hvc1` track, without them.
  ///
  /// - Precondition: `output` has at least `byteCount(framing:)` bytes.
  public func write(framing: NALUnitFraming, into output: UnsafeMutableRawBufferPointer) {
    woven.write(
      framing: framing, left: left.bytes.span.bytes, right: right.bytes.span.bytes, into: output)
  }

  /// Returns the bytes that `write` writes.
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

/// Statistics of how the dependent eye's keyframes were coded.
public struct KeyframeStatistics: Equatable, Sendable {
  /// The number of keyframes predicted from the base eye's.
  public private(set) var predicted = 0
  /// The number of keyframes coded on their own, because prediction would not have saved enough.
  public private(set) var plain = 0
  /// Bytes saved by prediction, estimated from the sizes of the base eye's keyframes.
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

/// Statistics of one eye's encoder so far.
public struct EyeStatistics: Equatable, Sendable {
  /// The number of coded pictures.
  public let frames: Int
  /// Coded bytes, including the parameter sets of each keyframe and a four-byte length for each NAL
  /// unit.
  public let bytes: Int
  /// The rate in kbit/s, at the configured frame rate, or at 30 if none is configured.
  public let kilobitsPerSecond: Double
  /// The mean QP of all pictures; nil before the first.
  public let averageQP: Double?
  /// PSNR in dB over all planes; nil unless the option string has `psnr:log-level=info`, because
  /// x265 measures only what it also prints.
  public let psnr: Double?
  /// SSIM; nil unless the option string has `ssim:log-level=info`.
  public let ssim: Double?
  /// Statistics of the dependent eye's keyframes; nil for the base eye, and without inter-view
  /// keyframes.
  public internal(set) var keyframes: KeyframeStatistics?
  private let framesPerSecond: Double

  /// - Parameters:
  ///   - x265: x265's own statistics.
  ///   - qpCorrection: added to x265's sum of all QPs.
  init(
    _ x265: cx265_statistics, bytes: Int, framesPerSecond: Double, qpCorrection: Double = 0
  ) {
    let (i, p, b) = x265.types
    // The mean of a type without pictures is NaN.
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

  /// Returns the statistics of these pictures and of those of `next`, which come after them.
  func adding(_ next: EyeStatistics) -> EyeStatistics { EyeStatistics(self, next) }

  private static func rate(_ bytes: Int, _ frames: Int, _ framesPerSecond: Double) -> Double {
    frames > 0 ? Double(bytes) * 8 / 1000 * framesPerSecond / Double(frames) : 0
  }
}
