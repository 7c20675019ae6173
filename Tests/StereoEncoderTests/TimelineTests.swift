// SPDX-License-Identifier: MPL-2.0

import StereoEncoder
import Testing

struct TimelineTests {
  /// Mini-GOPs of an anchor, a referenced B picture and two more B pictures, in coding order.
  private static func pyramid(_ count: Int) -> [Int64] {
    var order: [Int64] = [0]
    var first = 1
    while first < count {
      let last = min(first + 3, count - 1)
      order.append(Int64(last))
      if last - first >= 2 { order.append(Int64(first + 1)) }
      for frame in first..<last where last - first < 2 || frame != first + 1 {
        order.append(Int64(frame))
      }
      first = last + 1
    }
    return order
  }

  @Test("decoding times increase, and none is after its picture's time, for any input")
  func irregular() throws {
    var generator = Steps(state: 7)
    for count in [1, 2, 3, 4, 5, 60] {
      var timeline = Timeline(reorderDepth: 2)
      var timestamps: [Int64] = []
      var latest: Int64 = -50
      for _ in 0..<count {
        latest += generator.next()
        timestamps.append(latest)
        timeline.append(latest)
      }
      var previous: Int64?
      for frame in Self.pyramid(count) {
        let times = try timeline.next(frame: frame).orThrow()
        #expect(times.presentation == timestamps[Int(frame)])
        #expect(times.decoding <= times.presentation)
        if let previous { #expect(times.decoding > previous) }
        previous = times.decoding
      }
    }
  }

  @Test("without reordering, pictures decode at their own time")
  func withoutReordering() throws {
    var timeline = Timeline(reorderDepth: 0)
    for (frame, timestamp) in [Int64](arrayLiteral: -4, 0, 100, 101).enumerated() {
      timeline.append(timestamp)
      let times = try timeline.next(frame: Int64(frame)).orThrow()
      #expect(times.presentation == timestamp && times.decoding == timestamp)
    }
  }

  @Test("with reordering, a picture decodes at the time of the one `depth` pictures earlier")
  func definition() throws {
    var timeline = Timeline(reorderDepth: 2)
    let timestamps: [Int64] = [10, 20, 35, 50, 70]
    for timestamp in timestamps { timeline.append(timestamp) }
    let decoding = [0, 4, 2, 1, 3].map { timeline.next(frame: $0)?.decoding }
    #expect(decoding == [-15, -5, 10, 20, 35])
  }

  @Test("a timestamp that does not increase is refused")
  func falling() throws {
    var timeline = Timeline(reorderDepth: 2)
    timeline.append(5)
    #expect(throws: StereoEncoderError.timestamp(previous: 5, given: 5)) {
      try timeline.check(5)
    }
    #expect(throws: StereoEncoderError.timestamp(previous: 5, given: .min)) {
      try timeline.check(.min)
    }
    try timeline.check(6)
  }

  @Test("a picture that was never added, or was dropped, has no times")
  func unknownFrame() throws {
    var timeline = Timeline(reorderDepth: 0)
    for timestamp in 0..<4 { timeline.append(Int64(timestamp)) }
    #expect(timeline.next(frame: 9) == nil)
    #expect(timeline.next(frame: -1) == nil)
    _ = timeline.next(frame: 0)
    #expect(timeline.next(frame: 0) == nil)
  }

  private struct Steps {
    var state: UInt32

    mutating func next() -> Int64 {
      state = state &* 1_664_525 &+ 1_013_904_223
      return Int64(state >> 24) + 1
    }
  }
}
