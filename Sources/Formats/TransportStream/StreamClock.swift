// SPDX-License-Identifier: MPL-2.0

/// Where a stream is on the time line of its program.
struct StreamClock: Sendable {
  /// The time stamp before, as it is written; nil at the start.
  fileprivate(set) var lastStamp: Int64?
  /// The time before, in ticks of 90 kHz.
  fileprivate(set) var lastTime: Int64 = 0
  /// The distance of the last two times.
  fileprivate var step: Int64 = 0
  /// The number of jumps before.
  fileprivate var epoch = 0

  /// Creates the clock of a stream that has not begun.
  init() {}
}

/// Makes one time line of the time stamps of a program, which have 33 bits and begin again when the
/// source does.
///
/// Streams of a multiplex come to a jump one after the other. The first one decides where the time
/// line continues, and the others follow.
struct ProgramClock: Sendable {
  /// An event on the time line.
  enum Event: Sendable {
    case wrapped
    case jumped(ticks: Int64)
  }

  /// The time stamps have this many values.
  static let modulus: Int64 = 1 << 33
  /// A step forward of more than this is a jump, unless another stream makes it, too.
  private static let longestStep: Int64 = 10 * 90000
  /// A step back of more than this is a jump.
  private static let longestReturn: Int64 = 90000

  /// Between two jumps, a time is a time stamp and this offset, but for wraps.
  private var offset: Int64 = 0
  private var epoch = 0
  /// The last time of any stream since the last jump, and the largest one; nil at the start.
  private var last: Int64?
  private var latest: Int64 = 0
  /// The offset before the last jump, for streams that have not come to it.
  private var previousOffset: Int64 = 0

  /// Creates a clock.
  ///
  /// - Parameter near: a time near which the first time stamp is expected; nil if its value is the
  ///   time.
  init(near: Int64? = nil) { last = near }

  /// Returns the time of a time stamp in decoding order, and the event that it shows.
  mutating func time(of stamp: Int64, _ stream: inout StreamClock) -> (Int64, Event?) {
    guard let lastStamp = stream.lastStamp else {
      let time = last.map { Self.time(stamp &+ offset, near: $0) } ?? stamp
      stream.epoch = epoch
      note(stamp, time, &stream)
      return (time, nil)
    }
    let isCurrent = stream.epoch == epoch
    let near = stream.lastTime
    let ownOffset = isCurrent ? offset : previousOffset
    let time = Self.time(stamp &+ ownOffset, near: near)
    let isStep = -Self.longestReturn...Self.longestStep ~= time - near
    let isFollowing =
      isCurrent && time > near && last.map { abs(time - $0) <= Self.longestStep } ?? false
    if isStep || isFollowing {
      let hasWrapped = time > near && stamp < lastStamp
      note(stamp, time, &stream, isCurrent: isCurrent)
      return (time, hasWrapped ? .wrapped : nil)
    }
    if !isCurrent, let last {
      let other = Self.time(stamp &+ offset, near: last)
      if abs(other - last) <= Self.longestStep {
        stream.epoch = epoch
        note(stamp, other, &stream)
        return (other, .jumped(ticks: time - near))
      }
    }
    let begin = max(latest, near) + min(max(stream.step, 0), Self.longestReturn)
    previousOffset = offset
    offset = begin - stamp
    epoch += 1
    stream.epoch = epoch
    (last, latest) = (nil, begin)
    note(stamp, begin, &stream)
    return (begin, .jumped(ticks: time - near))
  }

  private mutating func note(
    _ stamp: Int64, _ time: Int64, _ stream: inout StreamClock, isCurrent: Bool = true
  ) {
    if stream.lastStamp != nil { stream.step = time - stream.lastTime }
    (stream.lastStamp, stream.lastTime) = (stamp, time)
    latest = max(latest, time)
    if isCurrent { last = time }
  }

  /// Returns the time that is `value` but for multiples of the modulus, next to another time.
  static func time(_ value: Int64, near: Int64) -> Int64 {
    let difference = (value &- near) & (modulus - 1)
    return near &+ (difference >= modulus / 2 ? difference - modulus : difference)
  }
}
