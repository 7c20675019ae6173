// SPDX-License-Identifier: MPL-2.0

import MovieParts
import Testing

/// The bitrates of parts, and the buffer over their joints.
struct RateShareTests {
  private func shares(
    _ bitrate: Int, peak: Int, _ parts: [(bytes: Int, duration: Double)]
  ) -> [Int] {
    RateShares(
      bitrate: bitrate, peak: peak,
      parts.map { RateShares.Measure(bytes: $0.bytes, duration: $0.duration) }
    ).bitrates
  }

  @Test("a part gets what it needs, whatever its length")
  func needs() {
    #expect(shares(1000, peak: 1425, [(1000, 10), (1000, 10)]) == [1000, 1000])
    #expect(shares(1000, peak: 1425, [(1200, 10), (800, 10)]) == [1200, 800])
    #expect(shares(1000, peak: 1425, [(3000, 30), (1000, 10)]) == [1000, 1000])
    #expect(shares(1000, peak: 1425, [(1, 10)]) == [1000])
  }

  @Test("no part gets more than the peak; the others get the rest")
  func peak() {
    #expect(shares(1000, peak: 1500, [(9000, 10), (500, 10), (500, 10)]) == [1500, 750, 750])
    // The second one's share of the rest is above the peak, too.
    #expect(shares(1000, peak: 1500, [(50_000, 10), (9000, 10), (1, 10)]) == [1500, 1500, 16])
    let random = shares(
      4000, peak: 5700, (0..<400).map { ($0 * 7919 % 100_000, Double(1 + $0 % 7)) })
    let bits = zip(random, 0..<400).reduce(0) { $0 + $1.0 * (1 + $1.1 % 7) }
    let duration = (0..<400).reduce(0) { $0 + 1 + $1 % 7 }
    #expect(random.allSatisfy { (16...5700).contains($0) })
    #expect(abs(Double(bits) / Double(4000 * duration) - 1) < 0.02, "\(bits)")
  }

  @Test("parts that measured nothing get the least rate that the encoder takes")
  func nothing() {
    #expect(shares(1000, peak: 1425, [(0, 10), (0, 0), (5, 10)]) == [16, 16, 1425])
    #expect(shares(1000, peak: 1425, []).isEmpty)
  }

  @Test("pictures that come too late for the decoder's buffer are counted")
  func buffer() throws {
    // 300 kbit/s mean a buffer of 450 kbit, filled at 450 kbit/s: 1875 bytes a picture.
    var steady = try #require(JointBuffer(bitrate: 300, framesPerSecond: 30))
    for _ in 0..<1000 { steady.add(size: 1875) }
    #expect(steady.dryCount == 0 && steady.firstDry == nil)
    // 405 kbit are there at the beginning.
    for _ in 0..<3 { steady.add(size: 30_000) }
    #expect(steady.dryCount == 2 && steady.firstDry == 1001)
  }
}
