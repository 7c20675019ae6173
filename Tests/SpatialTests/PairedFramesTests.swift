// SPDX-License-Identifier: MPL-2.0

import GStreamer
import SpatialElements
import StereoVideo
import Testing

/// Which frames of two eyes are taken for pairs, by their times alone.
struct PairedFramesTests {
  private struct Counts: Equatable {
    var pairs: Int
    var left = 0
    var right = 0
  }

  /// Times of two eyes' frames, in milliseconds, as they come to be paired.
  private struct Frames {
    var left: ArraySlice<Int>
    var right: ArraySlice<Int>
    /// Frames in a second; nil if unknown.
    var rate: Int?
    var settings = PairingSettings()
    /// Whether they come when they are made.
    var isLive = false
    private var pairing = PairedFrames()
    private var clocks = EyeClocks()
    /// The times of the frames of pairs.
    private(set) var paired: [[Int]] = []
    private(set) var counts = Counts(pairs: 0)

    init(left: [Int], right: [Int], rate: Int?) {
      (self.left, self.right, self.rate) = (left[...], right[...], rate)
    }

    /// Pairs and drops up to the end of one eye, or at most this number of steps.
    mutating func pair(stepCount: Int = .max) {
      var steps = 0
      while let one = left.first, let other = right.first, steps < stepCount {
        steps += 1
        let (left, right) = (
          RunningTime(nanoseconds: one * 1_000_000), RunningTime(nanoseconds: other * 1_000_000)
        )
        // Those of the steady clock come when they are due.
        let due = min(left, right) + RunningTime(clamping: .second)
        clocks.note(left: left, right: right, offset: settings.rightEyeOffset) {
          isLive && $1 >= due
        }
        let decision = pairing.decide(
          left: left + clocks.shift(of: .left), right: right + clocks.shift(of: .right),
          frameDuration: rate.map { ClockTime.second / $0 }, settings)
        if decision == .pair { paired.append([one, other]) }
        if decision != .drop(.right) { self.left.removeFirst() }
        if decision != .drop(.left) { self.right.removeFirst() }
        switch decision {
        case .pair: counts.pairs += 1
        case .drop(.left): counts.left += 1
        case .drop(.right): counts.right += 1
        }
      }
    }

    /// What has been paired and dropped once both eyes have ended.
    mutating func end() -> Counts {
      pair()
      return Counts(
        pairs: counts.pairs, left: counts.left + left.count, right: counts.right + right.count)
    }
  }

  private func counts(
    left: [Int], right: [Int], rate: Int? = 25, tolerance: ClockTime = 0, offset: RunningTime = 0
  ) -> Counts {
    var frames = Frames(left: left, right: right, rate: rate)
    frames.settings.tolerance = tolerance
    frames.settings.rightEyeOffset = offset
    return frames.end()
  }

  /// 300 frames of a camera of 30 a second, each up to 2 ms early or late.
  static func camera(delay: Int, seed: UInt32) -> [Int] {
    var state = seed
    return (0..<300).map { index in
      state = state &* 1_664_525 &+ 1_013_904_223
      return 100 + index * 1000 / 30 + delay + Int(state >> 24) % 5 - 2
    }
  }

  /// Times of a camera without jitter of 25 frames a second.
  private static func camera(_ count: Int, delay: Int = 0, without lost: Int? = nil) -> [Int] {
    (0..<count).filter { $0 != lost }.map { 100 + $0 * 40 + delay }
  }

  @Test(
    "two cameras 16 ms apart with 2 ms jitter lose none of 300 pairs",
    arguments: [16, -16, 0], [1, 2, 3, 4, 5, 6, 7, 8] as [UInt32])
  func jitter(delay: Int, seed: UInt32) {
    let (left, right) = (Self.camera(delay: 0, seed: seed), Self.camera(delay: delay, seed: ~seed))
    #expect(counts(left: left, right: right, rate: 30) == Counts(pairs: 300))
  }

  @Test(
    "a frame that one camera lost costs one frame of the other, and nothing slips",
    arguments: [5, -5, 0], [0, 1, 50, 98, 99])
  func lostFrame(delay: Int, lost: Int) {
    let (whole, part) = (Self.camera(100), Self.camera(100, delay: delay, without: lost))
    #expect(counts(left: whole, right: part) == Counts(pairs: 99, left: 1))
    #expect(counts(left: part, right: whole) == Counts(pairs: 99, right: 1))
  }

  @Test("of two cameras that drift apart, the faster one loses a frame now and then")
  func drift() {
    let slow = Self.camera(200)
    let fast = (0..<204).map { 100 + $0 * 40 * 200 / 204 }
    for isRightFast in [true, false] {
      let found =
        isRightFast ? counts(left: slow, right: fast) : counts(left: fast, right: slow)
      let (few, many) = isRightFast ? (found.left, found.right) : (found.right, found.left)
      #expect(found.pairs >= 198 && few <= 2 && (3...6).contains(many), "\(found)")
    }
  }

  @Test("a pair may be three quarters of a frame apart, and half a one after a dropped frame")
  func limits() {
    // Of 40 ms.
    for (delay, isPair) in [(30, true), (31, false), (-30, true), (-31, false)] {
      var frames = Frames(left: [100], right: [100 + delay], rate: 25)
      frames.pair()
      #expect((frames.counts.pairs == 1) == isPair, "\(delay)")
    }
    for (delay, isPair) in [(20, true), (21, false), (-20, true), (-21, false)] {
      var frames = Frames(left: [0, 100], right: [100 + delay], rate: 25)
      frames.pair(stepCount: 2)
      #expect((frames.counts.pairs == 1) == isPair, "\(delay)")
    }
    // Of an unknown rate, a millisecond.
    #expect(counts(left: [100], right: [101], rate: nil) == Counts(pairs: 1))
    #expect(counts(left: [100], right: [102], rate: nil) == Counts(pairs: 0, left: 1, right: 1))
  }

  @Test("the tolerance and the offset are in nanoseconds")
  func settings() {
    let (left, right) = (Self.camera(50), Self.camera(50, delay: 7))
    #expect(
      counts(left: left, right: right, tolerance: 4_000_000)
        == Counts(pairs: 0, left: 50, right: 50))
    #expect(counts(left: left, right: right, tolerance: 7_000_000) == Counts(pairs: 50))
    #expect(
      counts(left: left, right: right, tolerance: 6_999_999)
        == Counts(pairs: 0, left: 50, right: 50))
    #expect(
      counts(left: left, right: right, tolerance: 4_000_000, offset: -7_000_000)
        == Counts(pairs: 50))
    // By three frames, that is.
    #expect(
      counts(left: left, right: right, offset: 113_000_000)
        == Counts(pairs: 47, left: 3, right: 3))
    for offset in [RunningTime.min, .max] {
      #expect(
        counts(left: left, right: right, offset: offset) == Counts(pairs: 0, left: 50, right: 50))
    }
  }

  @Test("a tolerance below the cameras' distance does not stop pairs once it is set higher")
  func stepsOfTolerance() {
    var frames = Frames(left: Self.camera(40), right: Self.camera(40, delay: 8), rate: 25)
    frames.settings.tolerance = 1
    frames.pair(stepCount: 20)
    #expect(frames.counts == Counts(pairs: 0, left: 10, right: 10))
    frames.settings.tolerance = 9_000_000
    #expect(frames.end() == Counts(pairs: 30, left: 10, right: 10))
  }

  @Test("another offset is no jump of a clock", arguments: [2, -2])
  func stepsOfOffset(seconds: Int) {
    var frames = Frames(left: Self.camera(200), right: Self.camera(200), rate: 25)
    frames.isLive = true
    frames.pair(stepCount: 20)
    frames.settings.rightEyeOffset = RunningTime(nanoseconds: seconds * 1_000_000_000)
    #expect(frames.end() == Counts(pairs: 150, left: 50, right: 50))
  }

  @Test("a frame without a time is paired with any")
  func withoutTime() {
    var pairing = PairedFrames()
    for (left, right) in [(nil, 5), (5, nil), (nil, nil)] as [(RunningTime?, RunningTime?)] {
      let decision = pairing.decide(
        left: left, right: right, frameDuration: 40_000_000, PairingSettings())
      #expect(decision == .pair)
    }
  }

  @Test("where both sources begin again, but not at the same frame, the eyes do not slip")
  func staggeredJumps() {
    func times(_ start: Int, _ count: Int) -> [Int] { (0..<count).map { start + $0 * 40 } }
    for missing in 0..<4 {
      var frames = Frames(
        left: times(100_000, 10) + times(2000, 20),
        right: times(100_000, 10 - missing) + times(2000, 20), rate: 25)
      frames.pair()
      let wrong = frames.paired.filter { $0[0] != $0[1] }
      #expect(wrong.count <= missing, "\(missing): \(wrong)")
      #expect(frames.paired.suffix(15).allSatisfy { $0[0] == $0[1] }, "\(missing)")
      #expect(frames.counts.pairs >= 28 - missing, "\(missing): \(frames.counts)")
    }
  }

  @Test("where one source begins again, its frames are paired with those of the same moment")
  func oneJump() {
    func times(_ start: Int, _ count: Int) -> [Int] { (0..<count).map { start + $0 * 40 } }
    for isLeft in [false, true] {
      let jumping = times(100_000, 10) + times(0, 30) + times(0, 10)
      let steady = times(100_000, 50)
      var frames = Frames(
        left: isLeft ? jumping : steady, right: isLeft ? steady : jumping, rate: 25)
      frames.pair()
      #expect(frames.counts == Counts(pairs: 50), "\(isLeft)")
    }
  }

  @Test("where one live source's clock jumps ahead, its frames are paired with those that come")
  func oneJumpAhead() {
    func times(_ start: Int, _ count: Int) -> [Int] { (0..<count).map { start + $0 * 40 } }
    for isLeft in [false, true] {
      let steady = times(1000, 50)
      let jumping = times(1000, 10) + times(7_200_000, 30) + times(1000 + 40 * 40, 10)
      var frames = Frames(
        left: isLeft ? jumping : steady, right: isLeft ? steady : jumping, rate: 25)
      frames.isLive = true
      frames.pair()
      #expect(frames.counts == Counts(pairs: 50), "\(isLeft)")
      // In a file, frames are missing: those of the other eye have no partner.
      var stored = Frames(
        left: isLeft ? jumping : steady, right: isLeft ? steady : jumping, rate: 25)
      #expect(stored.end().pairs == 10, "\(isLeft)")
    }
  }
}
