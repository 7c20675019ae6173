// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import StereoEncoder
import StereoVideo

/// The two eyes as they arrive at the pads `left` and `right`, made into layered access units:
/// raw video through two encoders in step, coded video by weaving.
final class StereoInput {
  private var settings: EncoderSettings
  private let keyframes: KeyframeRequests
  /// The eye in the base layer.
  let baseEye: Eye
  private var streams: [Eye: EyeStreamCaps] = [:]
  /// What makes access units of the eyes; nil until the caps of both are known.
  private var maker: (any LayeredFrameMaker)?
  var pairs: EyePairs
  /// The running time of the pair that was encoded last.
  private var lastTime: Int64?
  /// How many pairs of frames that differ may yet be left out.
  private var tolerance: Int

  /// - Parameters:
  ///   - keyframes: the requests for keyframes that frames to be encoded answer.
  ///   - baseEye: the eye in the base layer, the one that players for one eye show.
  ///   - earlier: what the eyes were until their format changed. One may change later than the other.
  init(
    settings: EncoderSettings, pairs: EyePairs, keyframes: KeyframeRequests, baseEye: Eye,
    following earlier: StereoInput? = nil
  ) {
    self.settings = settings
    self.pairs = pairs
    self.keyframes = keyframes
    self.baseEye = baseEye
    lastTime = earlier?.lastTime
    tolerance = earlier == nil ? 0 : Self.mostDiffering
  }

  /// Two seconds of sixty frames.
  private static let mostDiffering = 120

  /// Whether these caps are of other video than what is being made.
  private func isChange(_ caps: Caps, of eye: Eye) -> Bool {
    maker != nil && streams[eye].map { !caps.continues($0.caps) } ?? false
  }

  /// Whether the next frames are of other video: what is inside is to be drained, and another coded video
  /// sequence goes on, one `following` this.
  private(set) var isOver = false

  /// Takes in what the settings say of rate control now. Throws where that cannot be, and goes on
  /// as before.
  func change(to new: EncoderSettings) throws(StereoEncoderError) {
    guard new.rateControl != settings.rateControl else { return }
    defer { settings = new }
    try (maker as? LayeredFrameEncoder)?.change(to: new.rateControl)
  }

  /// Takes the caps of one eye. Throws where they cannot be used, or change what is being made.
  ///
  /// - Parameter mayEnd: whether what is made may end, and something else begin, where the video changes.
  func setCaps(_ caps: Caps, of eye: Eye, mayEnd: Bool = false) throws {
    guard !isOver else { return }
    let stream = try EyeStreamCaps(caps, eye)
    guard isChange(caps, of: eye), let old = streams[eye] else {
      streams[eye] = stream
      return
    }
    // The measurements of a pass are of one encoder.
    guard mayEnd, settings.pass == .single else {
      throw ElementError(
        .format,
        "The \(eye) eye's format changed in mid stream, \(caps.changes(since: old.caps)); "
          + (mayEnd
            ? "what is encoded in two passes has one size and format."
            : "a movie has one size and format, unless it is in fragments with "
              + "header-update-mode=caps."),
        debug: "\(old.caps) became \(caps)")
    }
    isOver = true
  }

  /// The caps of an eye's stream, once they are known.
  func stream(_ eye: Eye) -> EyeStreamCaps? { streams[eye] }

  /// What the access units made so far are coded with; nil before the first.
  var configuration: LayeredConfiguration? { maker?.configuration }

  /// How long a frame stays inside at most; nil where that is not known, or nothing is encoded.
  var latency: ClockTime? { (maker as? LayeredFrameEncoder)?.latency }

  /// The encoder's figures of an eye; nil where nothing is encoded.
  func statistics(of eye: Eye) -> EyeStatistics? {
    (maker as? LayeredFrameEncoder)?.statistics(of: eye)
  }

  // MARK: Frames

  /// Takes the next frames of the two pads, which have one each, or are at their end or silent.
  func take(left: AggregatorPad, right: AggregatorPad) throws -> [LayeredFrame] {
    var isCoded = false
    if case .coded = streams[baseEye] { isCoded = true }
    let step = try pairs.next(
      left, right, frameDuration: streams[baseEye]?.frameDuration, isExact: isCoded)
    guard case .pair(let pair) = step else { return [] }
    guard !leavesOut(pair) else { return [] }
    let base = pair[baseEye]
    guard let time = base.runningTime else {
      throw ElementError(.failedStream, "A frame of the \(baseEye) eye has no timestamp.")
    }
    if !isCoded {
      guard lastTime.map({ time > $0 }) ?? true else {
        pairs.dropLate()
        return []
      }
      lastTime = time
    }
    return try make(
      FramePair(
        left: pair.left.buffer, right: pair.right.buffer, presentationTime: time,
        decodeTime: base.buffer.dts.flatMap { base.segment.signedRunningTime($0) } ?? time,
        duration: base.buffer.duration ?? streams[baseEye]?.frameDuration,
        forceKeyframe: keyframes.answer(at: time)))
  }

  /// At the end of the stream: the next access units of those that are still inside, for which it
  /// may take long; nil when that was all.
  func drain() throws -> [LayeredFrame]? { try maker?.drain() }

  /// Whether a pair is left out because only one of its frames has the new format.
  private func leavesOut(_ pair: EyePairs.Pair) -> Bool {
    guard maker == nil, tolerance > 0, case .raw(let left, _)? = streams[.left],
      case .raw(let right, _)? = streams[.right],
      left.width != right.width || left.height != right.height
        || left.formatName != right.formatName
    else { return false }
    tolerance -= 1
    pairs.dropPair()
    return true
  }

  private func make(_ pair: FramePair) throws -> [LayeredFrame] {
    if let maker { return try maker.make(pair) }
    guard let left = streams[.left], let right = streams[.right] else {
      throw FlowReturn.notNegotiated
    }
    let made: any LayeredFrameMaker =
      switch (left, right) {
      case (.raw(let left, let leftCaps), .raw(let right, let rightCaps)):
        try LayeredFrameEncoder(
          left: left, right: right, baseEye: baseEye,
          baseCaps: baseEye == .left ? leftCaps : rightCaps, settings: settings)
      case (.coded(let left), .coded(let right)):
        try LayeredFrameWeaver(left: left, right: right, baseEye: baseEye)
      default:
        throw ElementError(
          .format, "One eye is raw video and the other is coded; both must be of one kind.")
      }
    maker = made
    return try made.make(pair)
  }
}

/// Frames of both eyes that show one instant.
struct FramePair {
  let left: Buffer
  let right: Buffer
  /// Running times of the base eye's frame, in nanoseconds.
  let presentationTime: Int64
  let decodeTime: Int64
  /// nil where it is not known.
  let duration: ClockTime?
  let forceKeyframe: Bool
}

/// Makes layered access units of pairs of frames.
protocol LayeredFrameMaker: AnyObject {
  /// What the access units made so far are coded with.
  var configuration: LayeredConfiguration? { get }
  func make(_ pair: FramePair) throws -> [LayeredFrame]
  /// Gives what comes next of what is still inside; nil when that was all.
  func drain() throws -> [LayeredFrame]?
}

extension PairsEyes where Settings: HasEncoderSettings {
  /// Hands on what properties say of pairing and of rate control now. What cannot be is a warning,
  /// once.
  func followSettings(_ stereo: StereoInput) {
    stereo.pairs.settings = settings.current.pairing
    do throws(StereoEncoderError) {
      try stereo.change(to: settings.current.encoder)
    } catch {
      postWarning(error.elementError)
    }
  }
}
