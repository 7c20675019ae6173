// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import StereoEncoder
import StereoVideo

/// Turns the two eyes on the pads `left` and `right` into layered access units: raw video with two
/// encoders in step, coded video by weaving.
final class StereoInput {
  private var settings: EncoderSettings
  private let keyframes: KeyframeRequests
  /// The eye in the base layer.
  let baseEye: Eye
  private var streams: [Eye: EyeStreamCaps] = [:]
  /// Makes access units from the eyes; nil until the caps of both are known.
  private var maker: (any LayeredFrameMaker)?
  var pairs: EyePairer
  private var times = RawTimes()
  /// Mends the times of coded pictures, whose order is not that of their times.
  private var mender = TimestampMender(.video)
  private var pace = WarningPace()
  /// Whether times were mended that have not been warned about.
  private var hasMended = false
  /// Number of pairs with different formats that may still be dropped.
  private var tolerance: Int

  /// - Parameters:
  ///   - keyframes: pending keyframe requests.
  ///   - baseEye: the eye in the base layer, shown by players for one eye.
  ///   - earlier: the input before the format changed. One eye may change later than the other.
  init(
    settings: EncoderSettings, pairs: EyePairer, keyframes: KeyframeRequests, baseEye: Eye,
    following earlier: StereoInput? = nil
  ) {
    self.settings = settings
    self.pairs = pairs
    self.keyframes = keyframes
    self.baseEye = baseEye
    if let earlier { (times, mender, pace) = (earlier.times, earlier.mender, earlier.pace) }
    tolerance = earlier == nil ? 0 : Self.maximumMismatchedPairs
  }

  /// Two seconds at 60 frames per second.
  private static let maximumMismatchedPairs = 120

  /// Whether these caps are of different video than what is being encoded.
  private func isChange(_ caps: Caps, of eye: Eye) -> Bool {
    maker != nil && streams[eye].map { !caps.continues($0.caps) } ?? false
  }

  /// Whether the next frames are of different video: this input has to be drained, and a new one
  /// `following` it begins another coded video sequence.
  private(set) var isOver = false

  /// Applies the current rate control settings. Throws if that is not possible; encoding continues
  /// with the previous ones.
  func change(to new: EncoderSettings) throws(StereoEncoderError) {
    guard new.rateControl != settings.rateControl else { return }
    defer { settings = new }
    try (maker as? LayeredFrameEncoder)?.change(to: new.rateControl)
  }

  /// Sets the caps of one eye. Throws if they are unusable or the format may not change.
  ///
  /// - Parameter mayEnd: whether a change of format may end this sequence, to be followed by
  ///   another.
  func setCaps(_ caps: Caps, of eye: Eye, mayEnd: Bool = false) throws {
    guard !isOver else { return }
    let stream = try EyeStreamCaps(caps, eye)
    guard isChange(caps, of: eye), let old = streams[eye] else {
      streams[eye] = stream
      return
    }
    // The measurements of a pass belong to one encoder.
    guard mayEnd, settings.pass == .single else {
      throw ElementError(
        .format,
        "The \(eye) eye's format changed mid-stream, \(caps.changes(since: old.caps)); "
          + (mayEnd
            ? "two-pass encoding needs a constant size and format."
            : "a movie has a constant size and format, unless it is fragmented with "
              + "header-update-mode=caps."),
        debug: "\(old.caps) became \(caps)")
    }
    isOver = true
  }

  /// The stream of an eye; nil until its caps are known.
  func stream(_ eye: Eye) -> EyeStreamCaps? { streams[eye] }

  /// Configuration of the access units made so far; nil before the first.
  var configuration: LayeredConfiguration? { maker?.configuration }

  /// Maximum time that a frame stays inside; nil if unknown or nothing is encoded.
  var latency: ClockTime? { (maker as? LayeredFrameEncoder)?.latency }

  /// Encoder statistics of an eye; nil if nothing is encoded.
  func statistics(of eye: Eye) -> EyeStatistics? {
    (maker as? LayeredFrameEncoder)?.statistics(of: eye)
  }

  /// Returns warnings about what has been left out since the last call.
  func warnings() -> [ElementError] {
    [(maker as? LayeredFrameEncoder)?.warning(), pairs.warning()].compactMap(\.self)
      + times.takeWarnings() + takeMendedWarning()
  }

  // MARK: Frames

  private var isCoded: Bool {
    if case .coded = streams[baseEye] { true } else { false }
  }

  /// Time that is added to the running times of frames, which have jumped.
  var shift: RunningTime { isCoded ? mender.shift : times.shift }

  /// Returns the time that is added to the running times of an eye's frames.
  func shift(of eye: Eye) -> RunningTime { shift + pairs.shift(of: eye) }

  /// Returns the running time at which a frame of a pad is encoded that comes next with this one;
  /// nil if it is not known before. Without a time, a raw frame follows the last one.
  func placed(_ time: RunningTime?, on pad: AggregatorPad) -> RunningTime? {
    guard !isCoded else { return time.map { $0 + mender.shift } }
    return times.placed(time, frameDuration: streams[baseEye]?.frameDuration, pad.arrival) ?? time
  }

  /// Whether the time of a pad's next frame has jumped ahead, so that nothing waits until then.
  func isAhead(_ time: RunningTime, on pad: AggregatorPad) -> Bool {
    let time = time + (Eye(rawValue: pad.name).map(pairs.shift) ?? 0)
    guard !isCoded else { return mender.isAhead(time, pad.arrival) }
    return times.isAhead(time + times.shift, pad.arrival)
  }

  /// Takes the next frames from the two pads. Each pad has a frame, is at EOS, or is silent.
  func take(left: AggregatorPad, right: AggregatorPad) throws -> [LayeredFrame] {
    let frameDuration = streams[baseEye]?.frameDuration
    let step = try pairs.next(
      left, right, frameDuration: frameDuration, isExact: isCoded)
    guard case .pair(let pair) = step else { return [] }
    guard !shouldDrop(pair) else { return [] }
    let pad = baseEye == .left ? left : right
    guard let time = try nextTimes(of: pair, on: pad, frameDuration) else {
      pairs.dropLate()
      return []
    }
    let frames = try make(
      FramePair(
        left: pair.left.buffer, right: pair.right.buffer, presentationTime: time.presentation,
        decodeTime: time.decode, duration: pair[baseEye].buffer.duration ?? frameDuration,
        forceKeyframe: keyframes.answer(at: time.presentation)))
    if (maker as? LayeredFrameEncoder)?.isAtKeyframe ?? false {
      keyframes.noteKeyframe(at: time.presentation)
    }
    return frames
  }

  /// Returns the running times of the next pair; nil if it comes too late.
  private func nextTimes(
    of pair: EyePairer.Pair, on pad: AggregatorPad, _ frameDuration: ClockTime?
  ) throws -> TimestampMender.Times? {
    let (base, other) = (pair[baseEye], pair[baseEye.other])
    let offset = pairs.settings.rightEyeOffset
    let partnersTime = other.runningTime.map { baseEye == .left ? $0 + offset : $0 - offset }
    let time = base.runningTime ?? partnersTime
    guard isCoded else {
      return try times.next(time, frameDuration: frameDuration, pad.arrival)
        .map { TimestampMender.Times(presentation: $0, decode: $0) }
    }
    guard time != nil || mender.hasBegun else {
      throw ElementError(
        .failedStream,
        "The eyes' coded pictures begin without presentation times, which parsers do not know of "
          + "files of H.265 alone; read each file with mvhevcdemux, or take it from a container.")
    }
    let before = mender.counts
    // Both eyes' times jump together, and nothing else is to stay beside them here.
    var jump = mender.shift
    let mended = mender.mend(
      presentation: time, decode: base.buffer.dts.flatMap { base.segment.signedRunningTime($0) },
      duration: base.buffer.duration ?? frameDuration,
      isKeyframe: !base.buffer.flags.contains(.deltaUnit), with: &jump, now: pad.arrival.time,
      isLive: pad.arrival.isLive)
    if mender.counts != before, pace.allows(at: mended?.presentation ?? .min) {
      hasMended = true
    }
    return mended
  }

  private func takeMendedWarning() -> [ElementError] {
    defer { hasMended = false }
    return hasMended ? [mender.warning(pad: "\(baseEye)")] : []
  }

  /// Returns the next access units still in the encoder, or nil when drained. May take long.
  ///
  /// - Parameter all: false to discard all but the first frames of the stream, which end a movie
  ///   that would otherwise have no picture.
  func drain(all: Bool = true) throws -> [LayeredFrame]? {
    all || configuration == nil ? try maker?.drain() : nil
  }

  /// Whether a pair is dropped because only one of its frames has the new format.
  private func shouldDrop(_ pair: EyePairer.Pair) -> Bool {
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
          .format, "One eye is raw video and the other is encoded; both must be the same kind.")
      }
    maker = made
    return try made.make(pair)
  }
}

/// Frames of both eyes that show the same instant.
struct FramePair {
  let left: Buffer
  let right: Buffer
  /// Running times of the base eye's frame.
  let presentationTime: RunningTime
  let decodeTime: RunningTime
  /// Nil if unknown.
  let duration: ClockTime?
  let forceKeyframe: Bool
}

/// Makes layered access units from pairs of frames.
protocol LayeredFrameMaker: AnyObject {
  /// Configuration of the access units made so far; nil before the first.
  var configuration: LayeredConfiguration? { get }
  func make(_ pair: FramePair) throws -> [LayeredFrame]
  /// Returns the next access units still in the encoder, or nil when drained.
  func drain() throws -> [LayeredFrame]?
}

extension EyePairing where Settings: HasEncoderSettings {
  /// Applies the current pairing and rate control properties. An unusable setting is reported once,
  /// as a warning.
  func followSettings(_ stereo: StereoInput) {
    stereo.pairs.settings = settings.current.pairing
    do throws(StereoEncoderError) {
      try stereo.change(to: settings.current.encoder)
    } catch {
      postWarning(error.elementError)
    }
  }
}
