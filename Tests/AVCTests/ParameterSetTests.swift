// SPDX-License-Identifier: MPL-2.0

import AVC
import StereoVideo
import TestKit
import Testing

import enum HEVC.NALUnitFraming

@Suite("Parameter sets of H.264") struct ParameterSetTests {
  @Test("scaling lists that are not sent fall back by rule A and B of table 7-2")
  func fallBack() throws {
    // List 1 is sent, 2 is the default one, 7 is sent; the others are not.
    var writer = BitWriter()
    writer.u(0b01, 2)
    // delta_scale 2, then -10: the value 10 to the end.
    writer.ue(3)
    writer.ue(20)
    writer.flag(true)
    // delta_scale -8: the default list.
    writer.ue(16)
    writer.u(0b00001, 5)
    writer.ue(3)
    writer.ue(20)
    let ten = ScalingList.explicit(Array(repeating: 10, count: 16))
    let eightByEight = ScalingList.explicit(Array(repeating: 10, count: 64))
    writer.trailingBits()
    var reader = BitReader(writer.bytes, structure: "test")
    let lists = try ScalingLists(&reader, count: 8)
    #expect(
      lists.resolved(count: 8)
        == [.standard, ten, .standard, .standard, .standard, .standard, .standard, eightByEight])
    let sequence = (0..<8).map { ScalingList.explicit([UInt8($0 + 1)]) }
    let ruleB = lists.resolved(count: 8, sequence: sequence)
    #expect(ruleB[0] == sequence[0])
    #expect(ruleB[3...6] == [sequence[3], sequence[3], sequence[3], sequence[6]])
    // Written again, they are read as the same.
    var again = BitWriter()
    ScalingLists.write(ruleB.filter { $0 == ten || $0 == eightByEight }, to: &again)
    again.trailingBits()
    var second = BitReader(again.bytes, structure: "test")
    #expect(try ScalingLists(&second, count: 1).lists == [ten])
  }

  @Test("a PPS of two views' streams is one for both, or one for each")
  func stores() throws {
    typealias Builder = MVCStreamBuilder
    let subset = Builder.Sequence(profile: 128, views: (2, [0, 0, 0, 0])).nalUnit
    var store = ParameterSetStore()
    for unit in [Builder.Sequence().nalUnit, subset, Builder.pps()] {
      try store.add(unit.span.bytes)
    }
    #expect(try store.activate(pps: 0, for: .dependent).subset?.viewID == 1)
    #expect(try store.activate(pps: 0, for: .base).subset == nil)
    try store.add(Builder.pps(bipred: 2).span.bytes, from: .dependent)
    #expect(try store.activate(pps: 0, for: .base).pps.biPrediction == .standard)
    #expect(try store.activate(pps: 0, for: .dependent).pps.biPrediction == .implicit)
    #expect(throws: MVCError.missingParameterSet("PPS 1")) {
      try store.activate(pps: 1, for: .base)
    }
  }

  @Test("records are read, and what is wrong with them is said")
  func records() throws {
    let sets: [UInt8] = [0, 2, 0x67, 1, 1, 0, 1, 0x68]
    let avcC = try MVCDecoderConfiguration(.avcC, bytes: [1, 100, 0, 40, 0xFF, 0xE1] + sets)
    #expect(avcC.nalUnits == [[0x67, 1], [0x68]])
    #expect(avcC.framing == .lengthPrefixed(lengthSize: 4))
    // Seven bits of count in mvcC.
    let record: [UInt8] = [1, 128, 0, 40, 0xBF, 0x02, 0, 2, 0x67, 1, 0, 1, 0x6F, 1, 0, 1, 0x68]
    let mvcC = try MVCDecoderConfiguration(.mvcC, bytes: record)
    #expect(mvcC.sequenceParameterSets == [[0x67, 1], [0x6F]])
    #expect((mvcC.profile, mvcC.level) == (128, 40))
    for count in record.indices {
      #expect(throws: SyntaxError.self) {
        try MVCDecoderConfiguration(.mvcC, bytes: Array(record.prefix(count)))
      }
    }
    #expect(throws: SyntaxError.self) {
      try MVCDecoderConfiguration(.avcC, bytes: [1, 100, 0, 40, 0xFE, 0xE0, 0])
    }
    let codecPrivate = [1, 100, 0, 40, 0xFF, 0xE1] + sets + [0, 0, 0, 21] + Array("mvcC".utf8)
    #expect(try MVCDecoderConfiguration.mvcC(inCodecPrivate: codecPrivate + record) == mvcC)
    #expect(try MVCDecoderConfiguration.mvcC(inCodecPrivate: Array(codecPrivate.prefix(14))) == nil)
  }
}
