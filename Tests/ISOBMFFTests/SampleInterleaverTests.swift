// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Testing

@Suite("Samples are interleaved by time")
struct SampleInterleaverTests {
  private func drain(_ interleaver: inout SampleInterleaver<Int>) -> [Int] {
    var payloads: [Int] = []
    while let item = interleaver.next() { payloads.append(item.payload) }
    return payloads
  }

  @Test("a chunk of one track comes before a chunk of the next")
  func chunks() {
    var interleaver = SampleInterleaver<Int>(trackCount: 2, chunkDuration: 10)
    for time in 0..<4 {
      interleaver.append(time, decodeTime: Int64(time) * 6, to: 0)
      interleaver.append(100 + time, decodeTime: Int64(time) * 6 + 1, to: 1)
    }
    interleaver.end(0)
    interleaver.end(1)
    #expect(drain(&interleaver) == [0, 1, 100, 101, 2, 3, 102, 103])
  }

  @Test("no sample is output while another track's sample could come earlier")
  func waits() {
    var interleaver = SampleInterleaver<Int>(trackCount: 2, chunkDuration: 10)
    interleaver.append(1, decodeTime: 5, to: 0)
    #expect(interleaver.next()?.payload == nil)
    interleaver.append(2, decodeTime: 0, to: 1)
    #expect(interleaver.next()?.payload == 2)
    #expect(interleaver.next()?.payload == nil)
    interleaver.end(1)
    #expect(interleaver.next()?.payload == 1)
  }

  @Test("a silent track is not waited for")
  func silence() {
    var interleaver = SampleInterleaver<Int>(trackCount: 2, chunkDuration: 10)
    for time in [0, 5, 30, 31, 60] { interleaver.append(time, decodeTime: Int64(time), to: 0) }
    #expect(drain(&interleaver) == [])
    interleaver.pass(20, of: 1)
    #expect(drain(&interleaver) == [0, 5])
    interleaver.pass(30, of: 1)
    #expect(drain(&interleaver) == [30, 31])
    interleaver.append(100, decodeTime: 55, to: 1)
    interleaver.append(110, decodeTime: 65, to: 1)
    #expect(drain(&interleaver) == [100, 110])
    interleaver.pass(90, of: 1)
    interleaver.pass(70, of: 9)
    #expect(drain(&interleaver) == [60])
  }

  @Test("samples with negative and extreme decode times keep their order")
  func extremes() {
    var interleaver = SampleInterleaver<Int>(trackCount: 2)
    interleaver.append(0, decodeTime: .min, to: 0)
    interleaver.append(1, decodeTime: .max, to: 0)
    interleaver.append(2, decodeTime: -1, to: 1)
    interleaver.end(0)
    interleaver.end(1)
    #expect(drain(&interleaver) == [0, 2, 1])
  }
}
