// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// Mends the timestamps of a coded stream that is written as it comes, so that no single one ends a
/// recording or a channel: decode times rise, and every buffer has its times.
///
/// Timestamps are missing where `tsdemux` passes the end of the 33 bits of a transport stream's
/// clock, and go back if an encoder restarts or a switcher changes sources.
struct TimestampMender {
  /// The times of a buffer.
  struct Times: Equatable {
    var presentation: RunningTime
    var decode: RunningTime
  }

  /// Numbers of buffers whose times were mended so far.
  struct Counts: Equatable {
    /// Timestamps that were missing, and follow from those before.
    var derived: UInt64 = 0
    /// Pictures whose times go back a little and that are shown for a moment only.
    var hurried: UInt64 = 0
    /// Audio and other data that was dropped, because its times go back or are missing.
    var dropped: UInt64 = 0
    /// Times at which the stream's times jumped.
    var jumps: UInt64 = 0

    var total: UInt64 { derived &+ hurried &+ dropped &+ jumps }
  }

  /// Times that go back by less are due to jitter and overlaps; others belong to a new timeline.
  private static let smallest: ClockTime = .second
  /// Times further ahead of the present than this belong to a new timeline.
  static let farthest: RunningTime = RunningTime(clamping: 10 * .second)

  /// The order of a stream's times.
  enum Kind {
    /// Decode times rise, presentation times need not.
    case video
    /// One follows the other.
    case audio
    /// Any; only those that are missing are mended.
    case other
  }

  private let kind: Kind
  private(set) var counts = Counts()
  /// Added to the stream's own times, which have jumped.
  private(set) var shift: RunningTime = 0
  /// Whether the last buffer's times jumped.
  private(set) var hasJumped = false
  /// Whether the last buffer's times jumped to a timeline that no other stream has.
  private(set) var isNewTimeline = false
  private var last: Times?
  /// When the last buffer came, by the clock; nil if there is none.
  private var arrival: RunningTime?
  /// The times of the last buffer before the last silence, and when it came.
  private var beforeSilence: (decode: RunningTime, arrival: RunningTime)?
  /// The decode time that the last buffer came with, moved by the shift.
  private var lastTold: RunningTime?
  /// Whether a buffer with times has come.
  var hasBegun: Bool { last != nil }
  /// The distance of the next buffer from the last one, as far as known.
  private var step: ClockTime = 33 * .millisecond
  /// Presentation time minus decode time of the last keyframe.
  private var delay: RunningTime = 0

  init(_ kind: Kind) { self.kind = kind }

  /// Returns the times with which a buffer is written; nil if it is not.
  ///
  /// - Parameters:
  ///   - duration: duration of the buffer.
  ///   - other: the shift of other streams that have jumped, as streams of one source jump
  ///     together; set if this one jumps.
  ///   - now: the current running time; nil without a clock.
  ///   - isLive: whether the source is live. It is called rarely.
  mutating func mend(
    presentation: RunningTime?, decode: RunningTime?, duration: ClockTime?, isKeyframe: Bool,
    with other: inout RunningTime, now: RunningTime? = nil, isLive: () -> Bool = { false }
  ) -> Times? {
    (hasJumped, isNewTimeline) = (false, false)
    defer { note(now) }
    guard let told = presentation ?? decode else { return derived(duration) }
    var times = Times(presentation: told + shift, decode: (decode ?? told) + shift)
    if presentation == nil { times.presentation = times.decode + delay }
    let isRepeated = times.decode == lastTold
    lastTold = times.decode
    guard let last, kind != .other else { return keep(times, duration, isKeyframe) }
    // Pictures without decode times of their own come in decoding order.
    let isReordered = kind == .video && decode == nil
    let limit = isReordered ? Self.farthest : RunningTime(clamping: Self.smallest)
    let back = last.decode - times.decode
    if back >= limit || isAhead(times, of: last, other, now, isLive) {
      counts.jumps &+= 1
      // A source that stops and begins again with other times continues where it would be by now.
      let silence = isLive() ? silence(at: now) : 0
      let jump = newShift(for: times.decode - shift, after: last, other, silence)
      times.presentation = times.presentation + (jump - shift)
      times.decode = times.decode + (jump - shift)
      (hasJumped, isNewTimeline) = (true, jump != other)
      (shift, other) = (jump, jump)
      lastTold = times.decode
    } else if kind == .audio, isRepeated {
      times = Times(presentation: last.decode + step, decode: last.decode + step)
    } else if back >= 0, isReordered {
      times.decode = last.decode + .millisecond
    } else if back >= 0, kind == .video {
      counts.hurried &+= 1
      let late = last.decode + .millisecond - times.decode
      times = Times(presentation: times.presentation + late, decode: times.decode + late)
    } else if back >= 0 {
      counts.dropped &+= 1
      return nil
    }
    return keep(times, duration, isKeyframe)
  }

  /// Returns the times of a buffer that has none.
  private mutating func derived(_ duration: ClockTime?) -> Times? {
    guard let last else {
      counts.dropped &+= 1
      return nil
    }
    counts.derived &+= 1
    let decode = last.decode + step
    return keep(Times(presentation: decode + delay, decode: decode), duration, false)
  }

  private mutating func keep(_ times: Times, _ duration: ClockTime?, _ isKeyframe: Bool) -> Times {
    if let duration, duration > 0 {
      step = duration
    } else if let last, times.decode > last.decode {
      step = min((times.decode - last.decode).magnitude, .second)
    }
    if isKeyframe { delay = times.presentation - times.decode }
    last = times
    return times
  }

  /// Whether the times have jumped ahead: a live source's lie in the future, which no waiting
  /// explains, or a jump back is over.
  private func isAhead(
    _ times: Times, of last: Times, _ other: RunningTime, _ now: RunningTime?, _ isLive: () -> Bool
  ) -> Bool {
    guard times.decode > last.decode + Self.smallest else { return false }
    let isLive = isLive()
    let silence = isLive ? silence(at: now) : 0
    guard times.decode > last.decode + Self.smallest + silence else { return false }
    if fittingShift(for: times.decode - shift, after: last, other, silence) != nil { return true }
    guard times.decode > last.decode + Self.farthest, let now, isLive else { return false }
    return times.decode > now + Self.farthest
  }

  /// Whether the times of the next buffer, which comes now, have jumped ahead, so that nothing is
  /// to wait until then.
  func isAhead(_ told: RunningTime, _ now: Arrival) -> Bool {
    guard let last, kind != .other, told + shift > last.decode + Self.farthest else { return false }
    return now.isEarly(told + shift)
  }

  /// Returns the shift that lets a stream continue after the last buffer and a silence.
  private func newShift(
    for decode: RunningTime, after last: Times, _ other: RunningTime, _ silence: RunningTime
  ) -> RunningTime {
    fittingShift(for: decode, after: last, other, silence)
      ?? last.decode + max(RunningTime(clamping: step), silence) - decode
  }

  /// Returns the shift of another stream that has jumped, or none, if the stream then continues
  /// after the last buffer and a silence; else nil.
  private func fittingShift(
    for decode: RunningTime, after last: Times, _ other: RunningTime, _ silence: RunningTime
  ) -> RunningTime? {
    [other, 0].first { shift in
      let time = decode + shift
      return shift != self.shift && time > last.decode
        && time <= last.decode + Self.smallest + silence
    }
  }

  // MARK: Silence

  /// Notes when a buffer comes.
  private mutating func note(_ now: RunningTime?) {
    if silence(at: now) > 0, let arrival, let last { beforeSilence = (last.decode, arrival) }
    arrival = now
  }

  /// Returns for how long nothing has come; 0 for less than a second.
  private func silence(at now: RunningTime?) -> RunningTime {
    guard let now, let arrival, now - arrival >= RunningTime(clamping: Self.smallest) else {
      return 0
    }
    return now - arrival
  }

  /// Moves the stream to where it would be by now if its source had not stopped: since it came
  /// back, its times have stayed too late to be written.
  ///
  /// - Returns: by how much the next buffers are moved; nil if the source did not stop, as one that
  ///   always comes late.
  mutating func catchUp(to now: RunningTime) -> RunningTime? {
    guard let last, let beforeSilence else { return nil }
    let move = beforeSilence.decode + (now - beforeSilence.arrival) - last.decode
    guard move >= RunningTime(clamping: Self.smallest) else { return nil }
    counts.jumps &+= 1
    shift = shift + move
    self.last = Times(presentation: last.presentation + move, decode: last.decode + move)
    return move
  }

  /// The warning about what was mended.
  func warning(pad: String) -> ElementError {
    let sentences = [
      (
        counts.derived,
        "Buffers on \(pad) had no timestamp (\(counts.derived) so far); they follow those before "
          + "them."
      ),
      (
        counts.hurried,
        "Frames on \(pad) have timestamps that are not after those before them "
          + "(\(counts.hurried) so far); they are shown for a moment only."
      ),
      (
        counts.dropped,
        "Buffers on \(pad) were dropped (\(counts.dropped) so far), because their timestamps go "
          + "back, or because the stream began without timestamps."
      ),
      (
        counts.jumps,
        "The timestamps of \(pad) jumped (\(counts.jumps) times so far); the stream continues "
          + "without a break."
      ),
    ].filter { $0.0 > 0 }.map(\.1)
    return ElementError(.failedStream, sentences.joined(separator: " "))
  }
}

/// When to warn about something that may happen all the time: at once, and then once a minute.
struct WarningPace {
  private var next: RunningTime?

  /// Whether to warn about what happens at a time of the stream.
  mutating func allows(at time: RunningTime) -> Bool {
    if let next, time < next, time > next - 120 * .second { return false }
    next = time + 60 * .second
    return true
  }
}

/// Frames without timestamps, which follow those before them.
struct MissingTimes {
  private var count = 0
  private var pace = WarningPace()

  /// The error of a stream that says nothing of when its frames are shown.
  static let unknown = ElementError(
    .failedStream,
    "The frames have neither timestamps nor a frame rate; a source with do-timestamp=true adds "
      + "timestamps, and a capsfilter with framerate adds a rate.")

  /// Notes a frame that is shown at a time; returns a warning, if it is time for one.
  mutating func note(at time: RunningTime) -> ElementError? {
    count += 1
    guard pace.allows(at: time) else { return nil }
    return ElementError(
      .failedStream, "Frames had no timestamp (\(count) so far); they follow those before them.")
  }
}
