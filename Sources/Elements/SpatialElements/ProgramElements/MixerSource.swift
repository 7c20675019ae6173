// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// One source of a `StereoMixer`: its current and its next frame.
struct MixerSource {
  /// A source's frame, shown from its running time on.
  struct Shown {
    let left: RawEye
    let right: RawEye
    /// Caps of the left frame, or of the mono frame.
    let caps: Caps
    /// Timestamp within `segment`.
    let time: ClockTime
    let segment: Segment
    let runningTime: RunningTime
    /// Nil if unknown.
    let duration: ClockTime?
  }

  private var pairs: EyePairer
  /// The frame shown now; nil before the first.
  private var current: Shown?
  /// A frame taken from the pads but not shown yet.
  private(set) var next: Shown?
  private(set) var isAtEnd = false
  private var missing = MissingTimes()
  private var missingWarning: ElementError?

  init(_ pairs: EyePairer) { self.pairs = pairs }

  /// Takes the next frame from the pads, unless one has already been taken or none has arrived yet:
  /// GstAggregator waits for one frame per pad, but several may be taken in one call.
  ///
  /// - Parameters:
  ///   - caps: caps by pad name.
  ///   - silent: the pads that are not waited for.
  mutating func take(_ pads: MixerPads, _ caps: [String: Caps], silent: SilentPads) throws {
    guard next == nil, !isAtEnd,
      pads.all.allSatisfy({ $0.hasBuffer || $0.isAtEnd || silent.contains($0) })
    else { return }
    switch pads {
    case .eyes(let left, let right):
      let rate = caps[left.name]?.first?.fraction("framerate")
      switch try pairs.next(left, right, frameDuration: rate.flatMap(\.frameDuration)) {
      case .nothing: break
      case .end: isAtEnd = true
      case .pair(let pair): next = try shown(pair, caps[left.name], caps[right.name])
      }
    case .mono(let pad):
      guard !pad.dropGap() else { return }
      guard let buffer = pad.pop() else {
        isAtEnd = pad.isAtEnd
        return
      }
      let frame = EyePairer.Frame(buffer: buffer, segment: pad.segment)
      next = try shown(
        EyePairer.Pair(left: frame, right: frame), caps[pad.name], caps[pad.name])
    }
  }

  /// Returns the frames as they are shown; those without a timestamp follow the ones before them.
  ///
  /// - Throws: an ``ElementError`` if they are not raw, or if neither times nor the frame rate say
  ///   when they are shown.
  private mutating func shown(_ pair: EyePairer.Pair, _ left: Caps?, _ right: Caps?) throws -> Shown
  {
    guard let shown = try Shown(pair, left, right, after: current) else {
      throw MissingTimes.unknown
    }
    if pair.timed.runningTime == nil, let warning = missing.note(at: shown.runningTime) {
      missingWarning = warning
    }
    return shown
  }

  /// Makes the next frame the current one.
  mutating func advance() {
    guard let next else { return }
    (current, self.next) = (next, nil)
  }

  /// Returns the frame shown at a running time; nil before the first frame and after the end of the
  /// last one.
  func shown(at time: RunningTime) -> Shown? {
    guard let current, current.runningTime <= time else { return nil }
    // A frame is shown until the next one, or for its duration if there is none.
    guard next == nil, isAtEnd, let duration = current.duration else { return current }
    return time < current.runningTime + duration ? current : nil
  }

  /// Returns a warning about dropped frames; nil for none.
  mutating func warning() -> ElementError? {
    missingWarning.take() ?? pairs.warning(isFinal: isAtEnd)
  }
}

extension MixerSource.Shown {
  /// - Parameter last: the frame before this one.
  /// - Returns: nil if it is not known when the frame is shown.
  fileprivate init?(
    _ pair: EyePairer.Pair, _ left: Caps?, _ right: Caps?, after last: Self?
  ) throws {
    guard let left, let right, let leftInfo = VideoInfo(left), let rightInfo = VideoInfo(right)
    else {
      throw ElementError(.format, "Only raw video in system memory can be composed.")
    }
    let frame = pair.timed
    if let time = frame.buffer.pts, let runningTime = frame.runningTime {
      (self.time, segment, self.runningTime) = (time, frame.segment, runningTime)
    } else if let last {
      guard let step = last.duration else { return nil }
      (time, segment, runningTime) = (last.time + step, last.segment, last.runningTime + step)
    } else {
      guard leftInfo.frameRate.frameDuration != nil,
        let start = frame.segment.signedRunningTime(frame.segment.start)
      else { return nil }
      (time, segment, runningTime) = (frame.segment.start, frame.segment, start)
    }
    (self.left, self.right) = (
      RawEye(pair.left.buffer, leftInfo), RawEye(pair.right.buffer, rightInfo)
    )
    caps = left
    duration = frame.buffer.duration ?? leftInfo.frameRate.frameDuration
  }

  /// Converts the frame for the application's function.
  func eyes(_ tags: TagList) -> RawEyes {
    RawEyes(
      left: left, right: right, streamTime: segment.unclippedStreamTime(time), duration: duration,
      metadata: SpatialMetadata(tags))
  }
}

/// The pads of one source of a `StereoMixer`.
enum MixerPads {
  case eyes(left: AggregatorPad, right: AggregatorPad)
  /// One frame for both eyes.
  case mono(AggregatorPad)

  /// Role of a pad, by the prefix of its name; the number of its source follows.
  enum Kind: String, CaseIterable {
    case left = "left_"
    case right = "right_"
    case mono = "mono_"
  }

  var all: [AggregatorPad] {
    switch self {
    case .eyes(let left, let right): [left, right]
    case .mono(let pad): [pad]
    }
  }

  /// Parses a pad name into its role and source number; nil if it matches no template.
  static func parse(_ name: String) -> (kind: Kind, number: Int)? {
    for kind in Kind.allCases where name.hasPrefix(kind.rawValue) {
      return UInt32(name.dropFirst(kind.rawValue.count)).map { (kind, Int($0)) }
    }
    return nil
  }

  /// Groups pads into sources, in the order of their numbers. Throws if a source lacks an eye.
  static func sources(_ pads: [AggregatorPad]) throws -> [(number: Int, pads: MixerPads)] {
    var known: [Int: [Kind: AggregatorPad]] = [:]
    for pad in pads {
      guard let name = parse(pad.name) else { continue }
      known[name.number, default: [:]][name.kind] = pad
    }
    return try known.sorted { $0.key < $1.key }.map { number, pads in
      if let mono = pads[.mono] { return (number, .mono(mono)) }
      guard let left = pads[.left], let right = pads[.right] else {
        throw ElementError(
          .pad,
          "Source \(number) has only one eye; link both, left_\(number) and right_\(number), or "
            + "mono_\(number).")
      }
      return (number, .eyes(left: left, right: right))
    }
  }
}
