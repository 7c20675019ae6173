// SPDX-License-Identifier: MPL-2.0

import AVC
import StereoVideo
import TestKit
import Testing

import enum HEVC.NALUnitFraming

@Suite("SEI of H.264 MVC") struct SupplementalInformationTests {
  typealias Builder = MVCStreamBuilder

  private func units(_ sei: [[UInt8]]) -> [[UInt8]] {
    let sequence = Builder.Sequence()
    let slice = Builder.Slice(kind: 2, isIDR: true).nalUnit(sequence)
    return [sequence.nalUnit, Builder.pps()] + sei + [slice]
  }

  @Test("user data are kept, messages about buffer and timing are not")
  func kept() throws {
    let userData: [UInt8] = [4, 3, 0xB5, 0x00, 0x31]
    let bufferingPeriod: [UInt8] = [0, 1, 0xC0]
    let only = try flatten(byteStream(units([[6] + bufferingPeriod + [0x80]])))
    #expect(!nalUnits(only.bytes).contains { type($0) == 6 })
    let both = try flatten(byteStream(units([[6] + bufferingPeriod + userData + [0x80]])))
    #expect(nalUnits(both.bytes).first { type($0) == 6 } == [6] + userData + [0x80])
    let verbatim = try flatten(byteStream(units([[6] + userData + [0x80]])))
    #expect(nalUnits(verbatim.bytes).first { type($0) == 6 } == [6] + userData + [0x80])
    let damaged = try flatten(byteStream(units([[6, 4, 200, 1, 0x80]])))
    #expect(nalUnits(damaged.bytes).map(type) == [9, 7, 8, 5])
  }

  @Test(
    "the position of the views says which eye the base view is",
    arguments: [
      // num_views_minus1 1, then the positions 0 and 1, or 1 and 0
      (UInt8(0b010_1_010_0), Eye.left), (0b010_010_1_0, .right), (0b1_1_0_00000, nil),
    ])
  func position(payload: UInt8, eye: Eye?) throws {
    var flattener = MVCFlattener<Int>(framing: .annexB)
    let bytes = byteStream(units([[6, 46, 1, payload, 0x80]]))
    _ = try flattener.push(bytes.span.bytes, alignment: .none, stamp: 0)
    _ = flattener.end()
    #expect(flattener.baseEye == eye)
  }
}
