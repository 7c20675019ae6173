// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import TestKit
import Testing

@Suite("Weave") struct WeaveTests {
  @Test(
    "both eyes of a woven stream decode as they do alone", .tags(.judge),
    .enabled(if: Decoder.isAvailable, "needs Python with PyAV"),
    arguments: Stream.allCases, Eye.allCases)
  func exact(stream: Stream, baseEye: Eye) throws {
    let woven = try weave(
      stream.accessUnits(.left), stream.accessUnits(.right), baseEye: baseEye)
    let frames = try Decoder.frames(of: woven)
    for (view, eye) in [("0", baseEye), ("1", baseEye.other)] {
      let alone = try stream.md5s(eye)
      #expect(!alone.isEmpty)
      #expect(frames.filter { $0.view == view }.map(\.md5) == alone)
    }
  }

  private static func woven(
    _ left: [AccessUnit], _ right: [AccessUnit]
  ) throws -> [WovenAccessUnit] {
    var weaver = Weaver(baseEye: .left)
    return try zip(left, right).map { left, right in
      try weaver.weave(
        left: left.bytes.span.bytes, leftNALUnits: left.nalUnits,
        right: right.bytes.span.bytes, rightNALUnits: right.nalUnits)
    }
  }

  /// The SPSs that stand in `units`.
  private static func sequenceParameterSet(_ unit: AccessUnit) throws -> [UInt8] {
    let range = unit.nalUnits.first { unit.bytes[$0.lowerBound] >> 1 == 33 }
    return Array(unit.bytes[try #require(range)])
  }

  @Test("the SPS above layer 0 has no colour fields; that of the extracted eye has them again")
  func colour() throws {
    let (left, right) = (
      try Stream.main10.accessUnits(.left), try Stream.main10.accessUnits(.right)
    )
    let sets = try #require(Self.woven(left, right).first).parameterSets
    let colour = try SequenceParameterSet(nalUnit: Self.sequenceParameterSet(right[0])).vui
    #expect(colour?.signalType != nil)
    let vps = try VideoParameterSet(nalUnit: sets.videoParameterSet)
    let dependent = try SequenceParameterSet(
      nalUnit: #require(sets.dependentSequenceParameterSets.first), videoParameterSet: vps)
    #expect(dependent.vui != nil)
    #expect(dependent.vui?.signalType == nil)
    let base = try SequenceParameterSet(nalUnit: #require(sets.baseSequenceParameterSets.first))
    #expect(base.vui?.signalType == colour?.signalType)

    let unit = try #require(accessUnits(of: weave(left, right)).first)
    var unweaver = Unweaver()
    let alone = try unweaver.unweave(unit.bytes.span.bytes, nalUnits: unit.nalUnits)
    let sps = try SequenceParameterSet(
      nalUnit: #require(alone.parameterSets.sequenceParameterSets.first))
    #expect(sps.vui?.signalType == colour?.signalType)
  }

  @Test("level and tier of layer 1 are the higher ones of both eyes", arguments: Eye.allCases)
  func level(higher: Eye) throws {
    var units: [Eye: AccessUnit] = [:]
    for eye in Eye.allCases {
      let unit = try Still.plain.accessUnit()
      guard eye == higher else {
        units[eye] = unit
        continue
      }
      let sps = try Self.sequenceParameterSet(unit)
      var payload = Array(RBSP(sps).bytes.dropFirst(2))
      // general_tier_flag, and general_level_idc after twelve bytes.
      payload[1] |= 0x20
      payload[12] = 186
      let changed = RBSP.nalUnit(NALUnitHeader(type: .sequenceParameterSet), payload: payload)
      var bytes: [UInt8] = []
      for range in unit.nalUnits {
        let old = Array(unit.bytes[range])
        bytes += [0, 0, 1] + (old == sps ? changed : old)
      }
      // The VPS says the same of a stream.
      units[eye] = AccessUnit(bytes: bytes, nalUnits: AnnexB.nalUnits(in: bytes.span.bytes))
    }
    let (left, right) = (try #require(units[.left]), try #require(units[.right]))
    let sets = try #require(Self.woven([left], [right]).first).parameterSets
    let vps = try VideoParameterSet(nalUnit: sets.videoParameterSet)
    let multiview = try #require(vps.multilayer?.pair?.profileTierLevels.first)
    #expect(multiview.levelIDC == 186)
    #expect(multiview.profile?.tierFlag == true)
  }

  @Test("the SEI that names the active parameter sets is removed, since layer 1 has others")
  func activeParameterSets() throws {
    var left = try Still.plain.accessUnit()
    let right = left
    let message = SEIMessage(type: .activeParameterSets, payload: [0x08, 0x80])
    let unit = SEIMessage.nalUnit([message], header: NALUnitHeader(type: .prefixSEI))
    left.bytes = [0, 0, 1] + unit + left.bytes
    left.nalUnits = AnnexB.nalUnits(in: left.bytes.span.bytes)
    let woven = try #require(Self.woven([left], [right]).first)
    let stream = woven.bytes(left, right)
    let messages = try AnnexB.nalUnits(in: stream.span.bytes).flatMap { range in
      try stream[range.lowerBound] >> 1 == 39
        ? SEIMessage.messages(in: Array(stream[range]).span.bytes) : []
    }
    #expect(!messages.contains { $0.type == .activeParameterSets })
  }

  @Test(
    "picture types may differ if decoding order and random access are the same", .tags(.judge),
    .enabled(if: Decoder.isAvailable, "needs Python with PyAV"))
  func types() throws {
    let left = try Still.pair.accessUnits()
    var right = left
    // A reference picture in the left eye, none in the right.
    for slice in right[1].nalUnits where right[1].bytes[slice.lowerBound] >> 1 == 1 {
      right[1].bytes[slice.lowerBound] = 0
    }
    let woven = try Self.woven(left, right)
    #expect(woven[1].type == .trailR)
    #expect(woven[1].dependentType == .trailN)
    #expect(woven[1].isReference)
    let stream = zip(woven, zip(left, right)).flatMap {
      $0.bytes($1.0, $1.1)
    }
    let alone = try Decoder.frames(of: left.flatMap(\.bytes), single: true).map(\.md5)
    let frames = try Decoder.frames(of: stream)
    for view in ["0", "1"] { #expect(frames.filter { $0.view == view }.map(\.md5) == alone) }
  }
}
