// SPDX-License-Identifier: MPL-2.0

import StereoVideo
import Testing

/// Operations with times give the exact result, or the nearest time to it, and never trap.
struct ClockTimeTests {
  /// Times of all sizes, as nanoseconds; the last is not one, and becomes the largest.
  private static let times: [UInt64] = [
    0, 1, 2, 999_999_999, 1_000_000_000, 1 << 32, 1 << 62, 1 << 63 - 1, 1 << 63, .max - 2,
    .max - 1, .max,
  ]
  private static let runningTimes: [Int64] = [
    .min, .min + 1, -1 << 62, -1_000_000_000, -1, 0, 1, 1_000_000_000, 1 << 62, .max - 1, .max,
  ]
  private static let numbers: [UInt64] = [0, 1, 2, 3, 30_000, 1001, 1 << 32, .max - 1, .max]

  /// The time nearest to an exact result.
  private func nearest(_ exact: Int128) -> ClockTime {
    ClockTime(nanoseconds: UInt64(min(max(exact, 0), Int128(UInt64.max - 1))))
  }

  private func nearest(_ exact: Int128) -> RunningTime {
    RunningTime(nanoseconds: Int64(min(max(exact, Int128(Int64.min)), Int128(Int64.max))))
  }

  @Test("no time is GST_CLOCK_TIME_NONE")
  func none() {
    #expect(ClockTime.max.nanoseconds == UInt64.max - 1)
    #expect(ClockTime(nanoseconds: UInt64.max) == .max)
    #expect(18_446_744_073_709_551_615 as ClockTime == .max)
    #expect(ClockTime(nanoseconds: Int128.max) == .max)
    #expect(ClockTime(nanoseconds: -1) == 0)
    #expect(ClockTime(exactly: -1) == nil)
    #expect(ClockTime(exactly: Int64.max)?.nanoseconds == UInt64(Int64.max))
    #expect(ClockTime.second == 1_000_000_000 && ClockTime.millisecond == 1_000_000)
    #expect((ClockTime.second + 500 * .millisecond).seconds == 1.5)
  }

  @Test("sums and differences of times stop at 0 and at the largest time")
  func sums() {
    for one in Self.times {
      for other in Self.times {
        let (a, b) = (ClockTime(nanoseconds: one), ClockTime(nanoseconds: other))
        let (exactA, exactB) = (Int128(a.nanoseconds), Int128(b.nanoseconds))
        #expect(a + b == nearest(exactA + exactB))
        #expect(a - b == nearest(exactA - exactB))
        #expect((a < b) == (exactA < exactB))
        var sum = a
        sum += b
        #expect(sum == a + b)
        sum = a
        sum -= b
        #expect(sum == a - b)
      }
    }
  }

  @Test("multiples and fractions of times are rounded down and stop at the largest time")
  func multiples() {
    for time in Self.times.map({ ClockTime(nanoseconds: $0) }) {
      let exact = UInt128(time.nanoseconds)
      for number in Self.numbers {
        let product = exact * UInt128(number)
        #expect(time * number == nearest(Int128(clamping: product)))
        #expect(number * time == time * number)
        #expect(time / number == (number == 0 ? 0 : nearest(Int128(exact / UInt128(number)))))
        for divisor in Self.numbers {
          let scaled = divisor == 0 ? 0 : product / UInt128(divisor)
          #expect(time.scaled(by: number, over: divisor) == nearest(Int128(clamping: scaled)))
        }
      }
      #expect(time * -1 == 0 && time / -1 == 0 && time / 0 == 0)
      #expect(time.scaled(by: Int.min, over: 1) == 0 && time.scaled(by: 1, over: Int.min) == 0)
    }
  }

  @Test("a factor that is no whole number gives the nearest nanosecond")
  func factors() {
    let time: ClockTime = 3
    #expect(
      [0, 0.4, 0.5, 1, 1.5, 1e9].map { time.scaled(by: $0) } == [0, 1, 2, 3, 5, 3 * .second])
    // A factor of 1 loses nothing, although not every time is a Double.
    for time in Self.times.map({ ClockTime(nanoseconds: $0) }) {
      #expect(time.scaled(by: 1) == time)
    }
    for factor in [-1, -Double.infinity, .nan] { #expect(time.scaled(by: factor) == 0) }
    #expect(time.scaled(by: .infinity) == .max)
    #expect(ClockTime.max.scaled(by: 1.5) == .max)
    #expect(ClockTime(0).scaled(by: .infinity) == 0)
  }

  @Test("units of a rate become times and times become units, rounded down")
  func units() {
    #expect(
      (0...3).map { ClockTime($0, perSecond: 30) } == [0, 33_333_333, 66_666_666, 100_000_000])
    #expect(ClockTime(30_000, perSecond: 30_000, over: 1001) == 1001 * .second)
    #expect(ClockTime(1, perSecond: 0) == 0 && ClockTime(-1, perSecond: 1) == 0)
    #expect(ClockTime(UInt64.max, perSecond: 1) == .max)
    #expect(ClockTime(UInt64.max, perSecond: UInt64.max, over: .max) == Int32.max * .second)
    #expect(ClockTime(1, perSecond: 1, over: .min) == 0)
    #expect((1001 * ClockTime.second).units(perSecond: 30_000, over: 1001) == 30_000)
    #expect(ClockTime(33_333_332).units(perSecond: 30) == 0)
    #expect(ClockTime(33_333_334).units(perSecond: 30) == 1)
    #expect(ClockTime.max.units(perSecond: UInt64.max) == .max)
    #expect(ClockTime.second.units(perSecond: 1, over: 0) == 0)
    #expect(ClockTime.second.units(perSecond: -1) == 0)
  }

  @Test("sums and differences of running times stop at the earliest and the latest")
  func runningTimes() {
    for one in Self.runningTimes {
      let a = RunningTime(nanoseconds: one)
      #expect(a.magnitude == ClockTime(nanoseconds: one.magnitude))
      #expect(ClockTime(clamping: a) == nearest(Int128(one)))
      #expect(a.seconds == Double(one) / 1e9)
      for other in Self.runningTimes {
        let b = RunningTime(nanoseconds: other)
        #expect(a + b == nearest(Int128(one) + Int128(other)))
        #expect(a - b == nearest(Int128(one) - Int128(other)))
        #expect((a < b) == (one < other))
      }
      for duration in Self.times.map({ ClockTime(nanoseconds: $0) }) {
        #expect(a + duration == nearest(Int128(one) + Int128(duration.nanoseconds)))
        #expect(a - duration == nearest(Int128(one) - Int128(duration.nanoseconds)))
      }
    }
    #expect(RunningTime.min.nanoseconds == .min && RunningTime.max.nanoseconds == .max)
    #expect(RunningTime(clamping: .max) == .max)
    #expect(RunningTime(nanoseconds: Int128.min) == .min)
  }
}
