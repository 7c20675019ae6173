// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import StereoEncoder
import StereoVideo

/// Encodes pairs of raw frames with two encoders in step.
final class LayeredFrameEncoder: LayeredFrameMaker {
  /// Maximum number of frames kept per eye: those that wait for the other eye's, and those that the
  /// encoder reads.
  static let keptCount = EyePairer.waitingCount + StereoEncoder.keptPictureCount

  private(set) var configuration: LayeredConfiguration?
  private let encoder: StereoEncoder
  private let left: EyePictures
  private let right: EyePictures
  /// Nil for a variable frame rate.
  private let frameDuration: ClockTime?
  /// Durations of the frames inside the encoder, by presentation time.
  private var durations: [RunningTime: ClockTime] = [:]
  private let baseEye: Eye
  /// Carriers of the metas of the base eye's frames inside the encoder, by presentation time.
  private var metas: [RunningTime: Buffer] = [:]
  private var previousTime: RunningTime?
  private var pairCount = 0
  private var isDraining = false
  /// Warnings that have not been posted yet.
  private var warnings: [ElementError] = []

  /// Throws if the eyes differ or the encoder is not available.
  ///
  /// - Parameter baseCaps: caps of the base eye, whose colour the stream signals.
  init(
    left: VideoInfo, right: VideoInfo, baseEye: Eye, baseCaps: Caps, settings: EncoderSettings
  ) throws {
    let base = baseEye == .left ? left : right
    try Self.check(left, right)
    self.baseEye = baseEye
    self.left = try EyePictures(left)
    self.right = try EyePictures(right)
    let (width, height) = (base.width & ~1, base.height & ~1)
    if (width, height) != (base.width, base.height) {
      warnings.append(
        ElementError(
          .format,
          "The eyes are encoded as \(width)x\(height), without the last column or row of their "
            + "\(base.width)x\(base.height): coded video has even sizes."))
    }
    var configuration = StereoEncoderConfiguration(
      width: width, height: height, bitDepth: self.left.format.bitDepth,
      frameRate: Self.ratio(base.frameRate))
    configuration.pixelAspectRatio = Self.ratio(base.pixelAspectRatio)
    configuration.signal = VideoSignal(base, baseCaps)
    configuration.baseEye = baseEye
    settings.apply(to: &configuration)
    encoder = try StereoEncoder(configuration)
    frameDuration = EyeStreamCaps.raw(base, baseCaps).frameDuration
    let frameRate = Self.ratio(base.frameRate)
    let rate = frameRate.map { Double($0.numerator) / Double($0.denominator) } ?? 30
    // With four bits a sample, nothing can be seen of the compression.
    let useful = Double(2 * width * height * 4) * rate / 1000
    if Double(settings.bitrate) > max(useful, 16) {
      warnings.append(
        ElementError(
          .settings,
          "bitrate=\(settings.bitrate) is more than pictures of \(width)x\(height) can use. Its "
            + "unit is kbit/s: divide a rate in bit/s by 1000."))
    }
  }

  private static func check(_ left: VideoInfo, _ right: VideoInfo) throws {
    guard left.width == right.width, left.height == right.height else {
      throw ElementError(
        .format,
        "The eyes differ in size: the left is \(left.width)x\(left.height), the right "
          + "\(right.width)x\(right.height).")
    }
    guard left.formatName == right.formatName else {
      throw ElementError(
        .format,
        "The eyes differ in format: the left is \(left.formatName), the right "
          + "\(right.formatName).")
    }
    guard !left.isInterlaced, !right.isInterlaced else {
      throw ElementError(
        .format,
        "Interlaced video cannot be encoded; put the element deinterlace before each pad, or set "
          + "deinterlace=interlaced for a ready pipeline that has that parameter.")
    }
  }

  private static func ratio(_ fraction: Fraction) -> StereoEncoderConfiguration.Ratio? {
    guard fraction.numerator > 0, fraction.denominator > 0 else { return nil }
    return .init(Int(fraction.numerator), Int(fraction.denominator))
  }

  func make(_ pair: FramePair) throws -> [LayeredFrame] {
    let (leftPicture, rightPicture) = (
      try left.picture(pair.left), try right.picture(pair.right)
    )
    // Decoders give the average rate of a movie with variable frame durations as its frame rate. A
    // frame without a duration is assumed to last as long as the previous one.
    durations[pair.presentationTime] =
      pair.duration ?? previousTime.map { ClockTime(clamping: pair.presentationTime - $0) }
    previousTime = pair.presentationTime
    let carrier = Buffer()
    carrier.copyMetas(from: baseEye == .left ? pair.left : pair.right)
    // The layers themselves identify the eyes.
    StereoViewMeta.meta.remove(from: carrier)
    metas[pair.presentationTime] = carrier
    pairCount += 1
    return try frames(
      encoder.encode(
        left: leftPicture, right: rightPicture, timestamp: pair.presentationTime.nanoseconds,
        forceKeyframe: pair.forceKeyframe))
  }

  /// Whether the last pair becomes a keyframe, requested or not.
  var isAtKeyframe: Bool { encoder.isAtKeyframe }

  func drain() throws -> [LayeredFrame]? {
    isDraining = true
    return try encoder.drain().map(frames)
  }

  /// Changes the rate control from the next pair on.
  func change(to rateControl: RateControl) throws(StereoEncoderError) {
    try encoder.change(to: rateControl)
  }

  /// Maximum time that a frame stays inside the encoder; nil if the frame rate is unknown.
  var latency: ClockTime? {
    frameDuration.map { $0 * encoder.delay }
  }

  func statistics(of eye: Eye) -> EyeStatistics { encoder.statistics(of: eye) }

  /// Returns a warning about settings or about what is left out of each frame, once; else nil.
  func warning() -> ElementError? { warnings.popLast() }

  private func frames(_ units: [LayeredAccessUnit]) throws -> [LayeredFrame] {
    if configuration == nil, let first = units.first {
      configuration = try LayeredConfiguration(first.woven.parameterSets)
    }
    return try units.map { unit in
      let framing = NALUnitFraming.lengthPrefixed(lengthSize: 4)
      guard var buffer = Buffer(size: unit.byteCount(framing: framing)) else {
        throw FlowReturn.error
      }
      try buffer.withMutableBytes { unit.write(framing: framing, into: $0) }
      let time = RunningTime(nanoseconds: unit.presentation)
      if let carrier = metas.removeValue(forKey: time) {
        let captions = carrier.captions
        if !captions.isEmpty {
          buffer = try Self.inserting(
            SEIMessage.nalUnit([SEIMessage(captions: captions)]), into: buffer)
        }
        buffer.copyMetas(from: carrier)
      }
      var duration = durations.removeValue(forKey: time)
      if isDraining, pairCount == 1 { duration = duration ?? LayeredFrame.stillDuration }
      return LayeredFrame(
        buffer: buffer, presentationTime: time,
        decodeTime: RunningTime(nanoseconds: unit.decoding),
        duration: duration == 0 ? nil : duration, isSync: unit.isSync,
        isReference: unit.woven.isReference)
    }
  }
}

extension LayeredFrameEncoder {
  /// Returns an access unit with another NAL unit before its first slice, as H.265 (7.4.2.4.4)
  /// demands of SEI messages of the base layer.
  private static func inserting(_ unit: [UInt8], into buffer: Buffer) throws -> Buffer {
    let bytes = buffer.bytes
    let units = try NALUnitFraming.lengthPrefixed(lengthSize: 4).nalUnits(in: bytes.span.bytes)
    let slice = units.first { range in
      NALUnitHeader(bytes.span.bytes.extracting(range))?.type.isVCL ?? false
    }
    let place = slice.map { $0.lowerBound - 4 } ?? 0
    let length = UInt32(clamping: unit.count)
    let prefix = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
    return Buffer(Array(bytes[..<place]) + prefix + unit + Array(bytes[place...]))
  }
}

/// Keyframes requested by other elements and the application (`GstForceKeyUnit`): each is due with
/// the first encoded frame at or after its time.
///
/// Requests for times that have passed come late where the machine is busy. If there has been a
/// keyframe since their time, whatever its reason, they are fulfilled: another one would make the
/// stream depend on the threads' order.
///
/// If the frames' times go back, as a source has begun again, the requests of before are forgotten.
final class KeyframeRequests: Sendable {
  private struct State {
    /// Running times; `.min` for immediately.
    var times: Set<RunningTime> = []
    /// Those of them that only a keyframe after the request fulfils.
    var later: Set<RunningTime> = []
    /// Running time of the last keyframe; nil before the first.
    var lastKeyframe: RunningTime?
    /// Running time of the last frame.
    var lastTime: RunningTime?
  }

  private let state = Locked(State())
  /// Times that go back by more are not those of frames in another order.
  private static let jump: RunningTime = RunningTime(clamping: .second)
  /// Maximum number of pending requests; further ones are ignored.
  private static let most = 1000

  /// Adds the request of an event; returns false if it requests no keyframe.
  func add(_ event: Event) -> Bool {
    guard event.isForceKeyUnit else { return false }
    add(event.keyUnitTime ?? .min)
    return true
  }

  /// Requests a keyframe at a running time.
  ///
  /// - Parameter always: Whether a keyframe that has been there since does not fulfil it.
  func add(_ time: RunningTime, always: Bool = false) {
    state.withLock { state in
      let isLate = time > .min && state.lastKeyframe.map { $0 >= time } ?? false
      let isFulfilled = isLate && !always
      guard !isFulfilled, state.times.count < Self.most else { return }
      state.times.insert(time)
      if always { state.later.insert(time) }
    }
  }

  /// Whether the frame of this running time, which is about to be encoded, has to be a keyframe.
  /// Removes all requests that are due.
  func answer(at time: RunningTime) -> Bool {
    state.withLock { state in
      if let last = state.lastTime, time + Self.jump < last {
        state = State(times: state.times.intersection([.min]))
      }
      state.lastTime = time
      let waiting = state.times.filter { $0 > time }
      defer {
        state.times = waiting
        state.later.formIntersection(waiting)
      }
      return waiting.count < state.times.count
    }
  }

  /// Reports a keyframe, which fulfils requests for its time and earlier ones that come after it,
  /// or have come while it was encoded.
  func noteKeyframe(at time: RunningTime) {
    state.withLock { state in
      state.lastKeyframe = time
      state.times = state.times.filter {
        $0 > time || $0 == .min || state.later.contains($0)
      }
    }
  }

  func forget() {
    state.withLock { $0 = State() }
  }
}
