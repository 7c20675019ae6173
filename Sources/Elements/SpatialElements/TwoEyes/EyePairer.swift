// SPDX-License-Identifier: MPL-2.0

import GStreamer
package import StereoVideo

/// Takes the frames waiting on the pads of two eyes in pairs.
///
/// GstAggregator calls its element when each pad has a frame, is at EOS, or has been waited for
/// long enough. A frame whose partner is missing by then is dropped and counted, so that the eyes
/// never get out of step.
struct EyePairer {
  /// Maximum number of frames waiting on a pad: downstream of a live source, GstAggregator accepts
  /// a second one while the first waits for its partner.
  static let waitingCount = 2

  /// A frame taken from its pad.
  struct Frame {
    let buffer: Buffer
    /// The segment of the frame.
    let segment: Segment
    /// Added to the running time that the segment gives; 0 unless this eye's clock has jumped
    /// alone.
    var shift: RunningTime = 0

    /// Nil if the frame has no timestamp.
    var runningTime: RunningTime? {
      buffer.pts.flatMap { segment.signedRunningTime($0) }.map { $0 + shift }
    }
  }

  /// Frames of both eyes that show the same instant.
  struct Pair {
    let left: Frame
    let right: Frame

    subscript(eye: Eye) -> Frame { eye == .left ? left : right }

    /// The frame whose timestamp is that of the pair: the left eye's, unless it has none, or its
    /// clock has jumped.
    var timed: Frame {
      left.buffer.pts == nil || left.shift != 0 && right.buffer.pts != nil ? right : left
    }
  }

  /// Result of examining the next frames.
  enum Step {
    case pair(Pair)
    /// No frame was available, or it had no partner.
    case nothing
    /// EOS on both pads, or on one while the other is no longer waited for.
    case end

    var isEnd: Bool { if case .end = self { true } else { false } }
  }

  var settings: PairingSettings
  private let counts: Locked<PairingCounts>
  private var pairing = PairedFrames()
  private var clocks = EyeClocks()
  private var coded = CodedPairs()
  /// Running time at which keyframes were requested last, since pictures have been left out.
  private var requestTime: RunningTime?
  private var lossPace = WarningPace()
  private var lossWarning: ElementError?
  /// Number of dropped frames already reported to the application.
  private var reported: UInt64
  private var hasWarned = false

  /// - Parameter counts: the counts shown by the element's properties.
  init(_ settings: PairingSettings, counts: Locked<PairingCounts>) {
    self.settings = settings
    self.counts = counts
    reported = counts.current.dropped
  }

  /// Takes the next frames from the two pads.
  ///
  /// - Parameters:
  ///   - frameDuration: nil if unknown.
  ///   - isExact: whether other frames may refer to one without a partner: then both eyes continue
  ///     with their next keyframes if a source is live, and it is an error otherwise.
  mutating func next(
    _ left: AggregatorPad, _ right: AggregatorPad, frameDuration: ClockTime?, isExact: Bool = false
  ) throws -> Step {
    let gaps = [left, right].filter { $0.dropGap() }
    guard gaps.isEmpty else { return .nothing }
    switch (left.peek(), right.peek()) {
    case (nil, nil): return left.isAtEnd || right.isAtEnd ? .end : .nothing
    case (.some, nil):
      drop(left, of: .left)
      coded.lose()
    case (nil, .some):
      drop(right, of: .right)
      coded.lose()
    case (.some(let one), .some(let other)):
      var times = (left: left.runningTime(one), right: right.runningTime(other))
      if !isExact {
        clocks.note(left: times.left, right: times.right, offset: settings.rightEyeOffset) {
          ($0 == .left ? left : right).arrival.isEarly($1, by: EyeClocks.limit)
        }
        times.left = times.left.map { $0 + clocks.shift(of: .left) }
        times.right = times.right.map { $0 + clocks.shift(of: .right) }
      }
      let decision = pairing.decide(
        left: times.left, right: times.right, frameDuration: frameDuration ?? one.duration, settings
      )
      if isExact, let lost = try leftOut(decision, left, right, times) {
        for eye in lost { drop(eye == .left ? left : right, of: eye) }
        return .nothing
      }
      switch decision {
      case .drop(let eye): drop(eye == .left ? left : right, of: eye)
      case .pair:
        let pair = Pair(
          left: Frame(buffer: one, segment: left.segment, shift: clocks.shift(of: .left)),
          right: Frame(buffer: other, segment: right.segment, shift: clocks.shift(of: .right)))
        _ = (left.pop(), right.pop())
        counts.withLock { $0.pairs &+= 1 }
        return .pair(pair)
      }
    }
    return .nothing
  }

  /// Returns the eyes whose next coded pictures are left out; nil for a pair.
  ///
  /// - Throws: an ``ElementError`` if a picture is missing that no live source has lost.
  private mutating func leftOut(
    _ decision: PairedFrames.Decision, _ left: AggregatorPad, _ right: AggregatorPad,
    _ times: (left: RunningTime?, right: RunningTime?)
  ) throws -> [Eye]? {
    func picture(_ pad: AggregatorPad, _ time: RunningTime?) -> CodedPairs.Picture {
      CodedPairs.Picture(
        time: time, isKeyframe: pad.peek().map { !$0.flags.contains(.deltaUnit) } ?? false)
    }
    let before = coded.lostCount
    let result = coded.decide(
      decision, left: picture(left, times.left), right: picture(right, times.right))
    if coded.lostCount > before {
      guard [left, right].contains(where: { $0.peerLatency?.isLive ?? false }) else {
        throw Self.mismatch(times)
      }
    }
    requestKeyframes(left, right, at: max(times.left ?? 0, times.right ?? 0))
    return if case .drop(let eyes) = result { eyes } else { nil }
  }

  /// While pictures are left out, requests keyframes of both eyes, at once and then every second,
  /// and warns, once a minute.
  private mutating func requestKeyframes(
    _ left: AggregatorPad, _ right: AggregatorPad, at time: RunningTime
  ) {
    guard coded.isLost else {
      requestTime = nil
      return
    }
    if let requestTime, time >= requestTime, time - requestTime < RunningTime(clamping: .second) {
      return
    }
    requestTime = time
    for pad in [left, right] { pad.push(.forceKeyUnit(at: time)) }
    guard lossPace.allows(at: time) else { return }
    lossWarning = ElementError(
      .failedStream,
      "Coded pictures of an eye are missing (\(coded.lostCount) times so far); both eyes "
        + "continue with the next keyframes that they have at the same time.")
  }

  /// Returns the time that is added to the running times of an eye's frames, whose clock has jumped
  /// alone.
  func shift(of eye: Eye) -> RunningTime { clocks.shift(of: eye) }

  private func drop(_ pad: AggregatorPad, of eye: Eye) {
    _ = pad.pop()
    counts.withLock { if eye == .left { $0.left &+= 1 } else { $0.right &+= 1 } }
  }

  /// Recounts the last pair as dropped for coming too late.
  func dropLate() {
    counts.withLock {
      $0.pairs &-= 1
      $0.late &+= 1
    }
  }

  /// Recounts the frames of the last pair as dropped for want of a partner.
  func dropPair() {
    counts.withLock {
      $0.pairs &-= 1
      $0.left &+= 1
      $0.right &+= 1
    }
  }

  /// Returns a warning about dropped frames: when the first is dropped, and at the end if there
  /// were more; else nil.
  mutating func warning(isFinal: Bool = false) -> ElementError? {
    let counted = counts.current
    if let lossWarning = lossWarning.take() { return lossWarning }
    guard counted.dropped > reported, !hasWarned || isFinal else { return clocks.takeWarning() }
    reported = counted.dropped
    hasWarned = true
    return counted.warning
  }

  private static func mismatch(_ times: (left: RunningTime?, right: RunningTime?)) -> ElementError {
    func seconds(_ time: RunningTime?) -> Double { time?.seconds ?? 0 }
    return ElementError(
      .mux,
      "The coded pictures of the two eyes do not match: the left eye has one at "
        + "\(seconds(times.left)) s where the right eye has one at \(seconds(times.right)) s. "
        + "Either a picture is missing, or the eyes are encoded in different orders; streams are "
        + "woven picture by picture. With x265enc, both eyes have the same order with "
        + "option-string=b-adapt=0:scenecut=0:open-gop=0 and the same key-int-max.")
  }
}

extension AggregatorPad {
  /// The running time of a buffer; nil if it has no timestamp.
  func runningTime(_ buffer: Buffer) -> RunningTime? {
    (buffer.pts ?? buffer.dts).flatMap { segment.signedRunningTime($0) }
  }
}

/// Decides by running time which frames of two eyes form a pair.
///
/// Cameras without genlock drift and jitter, so the frames of a pair may be about half a frame
/// apart, sometimes less and sometimes more. A limit of half a frame would keep breaking such
/// pairs. Established pairs may therefore be up to three quarters of a frame apart; after a dropped
/// frame, the next pair has to lie within half a frame, which one of two neighbours always does.
package struct PairedFrames {
  package enum Decision: Equatable {
    case pair
    /// The frame of this eye is earlier than any that the other eye still has.
    case drop(Eye)
  }

  /// Tolerance when the frame rate is unknown.
  private static let defaultTolerance = ClockTime.second / 1000

  /// Whether the previous frames formed a pair; true at the start.
  private var isPaired = true

  package init() {}

  /// - Parameters:
  ///   - left: running time; a frame without one is paired with any frame of the
  ///     other eye.
  ///   - right: the same for the right eye.
  ///   - frameDuration: nil if unknown.
  package mutating func decide(
    left: RunningTime?, right: RunningTime?, frameDuration: ClockTime?, _ settings: PairingSettings
  ) -> Decision {
    guard let left, let right else { return .pair }
    let moved = right + settings.rightEyeOffset
    let distance = (left - moved).magnitude
    isPaired = distance <= limit(frameDuration, settings)
    return isPaired ? .pair : .drop(left < moved ? .left : .right)
  }

  private func limit(_ frameDuration: ClockTime?, _ settings: PairingSettings) -> ClockTime {
    let usual = frameDuration.map { $0 / 4 * 3 } ?? Self.defaultTolerance
    let tolerance = settings.tolerance > 0 ? settings.tolerance : usual
    return isPaired ? tolerance : min(tolerance, frameDuration.map { $0 / 2 } ?? tolerance)
  }
}
