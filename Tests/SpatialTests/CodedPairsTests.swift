// SPDX-License-Identifier: MPL-2.0

import SpatialElements
import StereoVideo
import Testing

/// Which coded pictures of two eyes are left out after one was lost.
struct CodedPairsTests {
  private func picture(_ seconds: Int64, _ isKeyframe: Bool = false) -> CodedPairs.Picture {
    CodedPairs.Picture(
      time: RunningTime(nanoseconds: seconds * 1_000_000_000), isKeyframe: isKeyframe)
  }

  @Test("pictures wait for keyframes of both eyes, and for what is shown after them")
  func leading() {
    var pairs = CodedPairs()
    func pair(_ left: CodedPairs.Picture, _ right: CodedPairs.Picture) -> CodedPairs.Decision {
      pairs.decide(.pair, left: left, right: right)
    }
    #expect(pair(picture(1, true), picture(1, true)) == .pair)
    #expect(pairs.decide(.drop(.left), left: picture(2), right: picture(3)) == .drop([.left]))
    #expect(pair(picture(3), picture(3)) == .drop([.left, .right]))
    #expect(pair(picture(4, true), picture(4)) == .drop([.left, .right]))
    #expect(pair(picture(9, true), picture(9, true)) == .pair && !pairs.isLost)
    #expect(pair(picture(8), picture(8)) == .drop([.left, .right]))
    #expect(pairs.decide(.drop(.left), left: picture(7), right: picture(10)) == .drop([.left]))
    #expect(!pairs.isLost)
    #expect(pair(picture(10), picture(10)) == .pair && pair(picture(8), picture(8)) == .pair)
  }

  @Test("clocks that jump back after such keyframes hold pictures up to the next ones at most")
  func jump() {
    var pairs = CodedPairs()
    pairs.lose()
    #expect(pairs.decide(.pair, left: picture(1000, true), right: picture(1000, true)) == .pair)
    #expect(pairs.decide(.pair, left: picture(1), right: picture(1)) == .drop([.left, .right]))
    #expect(pairs.decide(.pair, left: picture(2, true), right: picture(2, true)) == .pair)
    #expect(pairs.decide(.pair, left: picture(3), right: picture(3)) == .pair)
  }
}
