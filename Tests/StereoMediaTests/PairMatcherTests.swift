// SPDX-License-Identifier: MPL-2.0

import StereoMedia
import Testing

/// ``PairMatcher``: never a mixed pair.
struct PairMatcherTests {
  /// Feeds samples of (eye, time) and gives the pairs that come out.
  private func pairs(
    _ samples: [(eye: Int, time: UInt64)], _ matcher: inout PairMatcher<UInt64>
  ) -> [[UInt64]] {
    samples.compactMap {
      matcher.add($0.time * 10 + UInt64($0.eye), at: ClockTime(nanoseconds: $0.time), of: $0.eye)
    }
  }

  @Test("pairs come when they are complete, whichever eye is first")
  func complete() {
    var matcher = PairMatcher<UInt64>(eyeCount: 2)
    let found = pairs([(0, 1), (1, 1), (1, 2), (0, 2), (0, 3), (0, 4), (1, 3), (1, 4)], &matcher)
    #expect(found == [[10, 11], [20, 21], [30, 31], [40, 41]])
    #expect(matcher.unpairedCount == 0)
  }

  @Test("pictures without a partner are left out and counted, and do not pile up")
  func missing() {
    var matcher = PairMatcher<UInt64>(eyeCount: 2)
    #expect(
      pairs([(0, 1), (0, 2), (1, 2), (1, 3), (0, 4), (1, 4)], &matcher) == [[20, 21], [40, 41]])
    #expect(matcher.unpairedCount == 2)
    #expect(pairs((5..<100).map { (0, $0) }, &matcher) == [])
    #expect(matcher.unpairedCount == 2 + 95 - 3)
    #expect(pairs([(1, 5), (1, 99)], &matcher) == [[990, 991]])
  }

  @Test("times may go back, and waiting pictures can be dropped")
  func back() {
    var matcher = PairMatcher<UInt64>(eyeCount: 2)
    #expect(pairs([(0, 9), (0, 1), (1, 1), (1, 2), (0, 2)], &matcher) == [[10, 11], [20, 21]])
    _ = pairs([(0, 3)], &matcher)
    matcher.clear()
    #expect(pairs([(1, 3), (0, 4), (1, 4)], &matcher) == [[40, 41]])
  }

  @Test("a movie of one eye gives each picture at once")
  func single() {
    var matcher = PairMatcher<UInt64>(eyeCount: 1)
    #expect(pairs([(0, 1), (0, 2)], &matcher) == [[10], [20]])
  }
}
