// SPDX-License-Identifier: MPL-2.0

import GStreamer

/// Carries the input's stream time, the position in the movie that it is of, over to an output whose
/// timestamps are running times.
struct StreamTime {
  /// Where the output's segments start: with B frames, the first decode times lie before the first
  /// presentation times, and a timestamp cannot be negative. GstVideoEncoder's elements leave
  /// themselves the same room.
  private static let room = ClockTime.second * 3600 * 1000

  /// The input's segments that frames not yet given lie in, and the running times that they hold
  /// from.
  private var segments: [(start: Int64, segment: Segment)] = []
  private var latest: Segment?

  /// Looks at the segment of the frame that comes next. Returns whether it is another than before.
  mutating func enter(_ segment: Segment, at runningTime: Int64) -> Bool {
    if let latest, latest.covers(segment) { return false }
    latest = segment
    segments.append((runningTime, segment))
    return true
  }

  /// The segment of the output that begins with the frame of this running time, which is given next;
  /// nil where the one before goes on.
  mutating func segment(at runningTime: Int64) -> Segment? {
    guard let index = segments.lastIndex(where: { $0.start <= runningTime }) else { return nil }
    let input = segments[index].segment
    segments.removeSubrange(...index)
    return Self.output(input)
  }

  private static func output(_ input: Segment) -> Segment {
    var output = Segment()
    output.base = input.base
    output.start = saturatingSum(room, input.base)
    output.position = output.start
    let first = input.rate > 0 ? input.start : input.stop ?? input.start
    output.time = input.streamTime(first) ?? input.time
    // Frames come at the speed at which they are to be shown, so that it is applied already.
    output.appliedRate = input.rate * input.appliedRate
    return output
  }

  /// The timestamp of a running time.
  static func timestamp(_ runningTime: Int64) -> ClockTime {
    let (sum, overflow) = Int64(room).addingReportingOverflow(runningTime)
    return overflow || sum < 0 ? 0 : ClockTime(sum)
  }
}
