// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import TestKit
import Testing

/// Streams of encoders that are not at hand: tiles, dependent slice segments, long-term pictures,
/// list modification, weighted prediction, header extensions. Headers are written here bit by bit.
@Suite("Slice segment headers") struct SliceSegmentHeaderTests {
  /// An SPS for 64x48 in blocks of 16, and a PPS that switches everything on, of layer `layer`.
  ///
  /// - Parameters:
  ///   - crop: what the conformance window takes away at the right, in units of two samples.
  ///   - multilayer: writes `pps_multilayer_extension()`.
  static func parameterSets(
    layer: UInt8 = 0, crop: Int = 0, multilayer: ((inout BitWriter) -> Void)? = nil
  ) -> (sps: [UInt8], pps: [UInt8]) {
    var sps = BitWriter()
    sps.u(0, 4)
    sps.u(0, 3)
    sps.flag(true)
    sps.u(1, 8)
    sps.u(0x6000_0000, 32)
    sps.u(0x9000, 16)
    sps.u(0, 32)
    sps.u(30, 8)
    sps.ue(0)
    sps.ue(1)
    sps.ue(64)
    sps.ue(48)
    sps.flag(crop > 0)
    if crop > 0 { for side in [0, crop, 0, 0] { sps.ue(side) } }
    sps.ue(0)
    sps.ue(0)
    sps.ue(4)  // eight bits of POC
    sps.flag(true)
    sps.ue(4)
    sps.ue(2)
    sps.ue(0)
    for value in [0, 1, 0, 2, 0, 0] { sps.ue(value) }
    sps.u(0b0010, 4)  // scaling lists, AMP, SAO, PCM: SAO alone
    sps.ue(2)  // two candidate sets
    sps.ue(1)
    sps.ue(0)
    sps.ue(0)
    sps.flag(true)
    sps.flag(true)  // the second predicted from the first
    sps.flag(true)  // delta -1
    sps.ue(0)
    sps.flag(true)
    sps.flag(true)
    sps.flag(true)  // long-term pictures
    sps.ue(2)
    for (lsb, used) in [(7, true), (9, false)] {
      sps.u(lsb, 8)
      sps.flag(used)
    }
    sps.u(0b1000, 4)  // temporal MVP, strong smoothing, VUI, extensions
    sps.trailingBits()
    var pps = BitWriter()
    pps.ue(0)
    pps.ue(0)
    pps.u(0b11, 2)  // dependent slice segments, output flag
    pps.u(3, 3)
    pps.u(0b01, 2)  // sign data hiding, CABAC init
    pps.ue(0)
    pps.ue(0)
    pps.ue(5)  // init_qp 3
    pps.u(0b000, 3)  // constrained intra, transform skip, QP delta
    pps.u(0b11, 2)
    pps.u(0b1110, 4)  // chroma QP offsets, weighted P and B, transquant bypass
    pps.u(0b11, 2)  // tiles and wavefronts
    pps.ue(1)
    pps.ue(0)
    pps.u(0b11, 2)
    pps.flag(true)
    pps.u(0b110, 3)  // deblocking: control, override, disabled
    pps.ue(0)
    pps.ue(0)
    pps.flag(false)
    pps.flag(true)  // lists modification
    pps.ue(0)
    pps.flag(true)  // header extension
    pps.flag(multilayer != nil)
    if let multilayer {
      pps.u(0b0100_0000, 8)
      multilayer(&pps)
    }
    pps.trailingBits()
    return (
      sps.nalUnit(NALUnitHeader(type: .sequenceParameterSet, layerID: layer)),
      pps.nalUnit(NALUnitHeader(type: .pictureParameterSet, layerID: layer))
    )
  }

  static let data: [UInt8] = [0xAA, 0, 0, 3, 1, 0x55]

  /// The first slice segment of a B picture with POC 20, which uses all that there is.
  ///
  /// - Parameters:
  ///   - list0: `list_entry_l0` and their size in bits.
  ///   - extensionBits: sixteen, of the header extension.
  static func slice(
    layer: UInt8 = 0, list0: (entries: [Int], bits: Int) = ([3, 0], 2),
    extensionBits: Int = 0xFFFF
  ) -> [UInt8] {
    var slice = BitWriter()
    slice.flag(true)
    slice.ue(0)
    slice.u(0b101, 3)  // extra bits
    slice.ue(0)  // B
    slice.flag(true)
    slice.u(20, 8)
    slice.flag(true)
    slice.u(1, 1)  // candidate set 1: POC 19 and 18
    slice.ue(1)  // one long-term picture of the SPS, one of its own
    slice.ue(1)
    slice.u(0, 1)
    slice.flag(false)
    slice.u(200, 8)
    slice.flag(true)
    slice.flag(true)
    slice.ue(1)  // one MSB cycle back
    slice.flag(true)  // temporal MVP
    slice.u(0b11, 2)
    slice.flag(true)
    slice.ue(1)
    slice.ue(1)
    slice.flag(true)  // list 0 modified
    for entry in list0.entries { slice.u(entry, list0.bits) }
    slice.flag(false)
    slice.u(0b00, 2)  // mvd_l1_zero, cabac_init
    slice.flag(false)  // collocated from list 1
    slice.ue(1)
    slice.ue(2)  // weights: denominators
    slice.ue(0)
    slice.u(0b10, 2)
    slice.u(0b01, 2)
    slice.ue(2)
    slice.ue(3)
    for _ in 0..<4 { slice.ue(1) }
    slice.u(0b0000, 4)
    slice.ue(0)  // merge candidates
    slice.ue(1)
    slice.ue(0)
    slice.ue(0)
    slice.flag(true)
    slice.flag(false)
    slice.ue(0)
    slice.ue(0)
    slice.flag(true)
    slice.ue(2)  // entry points
    slice.ue(6)
    slice.u(100, 7)
    slice.u(0, 7)
    slice.ue(2)  // extension
    slice.u(extensionBits, 16)
    slice.trailingBits()
    return slice.nalUnit(NALUnitHeader(type: .trailR, layerID: layer)) + data
  }

  /// A dependent slice segment at block 6.
  static func dependentSlice(layer: UInt8 = 0) -> [UInt8] {
    var slice = BitWriter()
    slice.flag(false)
    slice.ue(0)
    slice.flag(true)
    slice.u(6, 4)
    slice.ue(0)
    slice.ue(0)
    slice.trailingBits()
    return slice.nalUnit(NALUnitHeader(type: .trailR, layerID: layer)) + data
  }

  static func store() throws -> ParameterSetStore {
    let sets = parameterSets()
    var store = ParameterSetStore()
    #expect(try store.add(sets.sps.span.bytes))
    #expect(try store.add(sets.pps.span.bytes))
    #expect(try !store.add(sets.pps.span.bytes))
    return store
  }

  @Test("every field is read, and the slice data has the right offset")
  func all() throws {
    let unit = Self.slice()
    let slice = try SliceSegmentHeader(nalUnit: unit.span.bytes, sets: Self.store())
    #expect(slice.isFirstInPicture)
    #expect(slice.sliceType == .b)
    #expect(slice.pocLSB == 20)
    #expect(slice.shortTermSet.negative.map(\.deltaPOC) == [-1, -2])
    #expect(slice.shortTermSet.usedCount == 2)
    #expect(slice.longTermEntries.map(\.pocLSB) == [7, 200])
    #expect(slice.longTermEntries.map(\.deltaPOCMSBCycle) == [nil, 1])
    #expect(slice.totalReferenceCount == 4)
    #expect((slice.activeCountL0, slice.activeCountL1) == (2, 2))
    #expect(slice.listEntriesL0 == [3, 0])
    #expect(slice.listEntriesL1 == nil)
    #expect(slice.temporalMVP)
    #expect(slice.qp == 26 + 3 + 1)
    #expect(Array(unit[slice.dataOffset...]) == Self.data)
  }

  @Test("a dependent slice segment is read")
  func dependent() throws {
    let unit = Self.dependentSlice()
    let slice = try SliceSegmentHeader(nalUnit: unit.span.bytes, sets: Self.store())
    #expect(slice.isDependent)
    #expect(slice.address == 6)
    #expect(Array(unit[slice.dataOffset...]) == Self.data)
  }

  @Test("a header cut short names the element where it ends")
  func truncated() throws {
    let unit = Self.slice()
    let store = try Self.store()
    for count in 2..<unit.count - Self.data.count {
      #expect(throws: SyntaxError.self) {
        try SliceSegmentHeader(nalUnit: Array(unit.prefix(count)).span.bytes, sets: store)
      }
    }
    let error = #expect(throws: SyntaxError.self) {
      try SliceSegmentHeader(nalUnit: Array(unit.prefix(3)).span.bytes, sets: store)
    }
    #expect(error?.description.hasPrefix("slice_segment_header: slice_pic_order_cnt_lsb") == true)
  }

  /// An access unit of these NAL units.
  static func accessUnit(_ units: [[UInt8]]) -> AccessUnit {
    let bytes: [UInt8] = units.flatMap { unit -> [UInt8] in [0, 0, 0, 1] + unit }
    return AccessUnit(bytes: bytes, nalUnits: AnnexB.nalUnits(in: bytes.span.bytes))
  }

  /// The VPS of a stream of one layer.
  static func videoParameterSet() throws -> VideoParameterSet {
    let unit = try Still.plain.accessUnit()
    return try VideoParameterSet(nalUnit: Array(unit.bytes[unit.nalUnits[0]]))
  }

  @Test("woven, the dependent eye's slices have the same fields and unchanged data")
  func woven() throws {
    let sets = Self.parameterSets()
    let unit = Self.accessUnit([
      try Self.videoParameterSet().nalUnit(), sets.sps, sets.pps, Self.slice(),
      Self.dependentSlice(),
    ])
    var weaver = Weaver(baseEye: .left)
    let woven = try weaver.weave(
      left: unit.bytes.span.bytes, leftNALUnits: unit.nalUnits,
      right: unit.bytes.span.bytes, rightNALUnits: unit.nalUnits)
    #expect(woven.pictureOrderCount == 20)
    let stream = woven.bytes(unit, unit)
    var store = ParameterSetStore()
    for set in woven.parameterSets.nalUnits { _ = try store.add(set.span.bytes) }
    let vps = try #require(store.videoParameterSet(0))
    let syntax = try #require(InterLayerSyntax(vps))
    let first = Self.slice()
    let original = try SliceSegmentHeader(nalUnit: first.span.bytes, sets: Self.store())
    let slices = AnnexB.nalUnits(in: stream.span.bytes).suffix(4).map { Array(stream[$0]) }
    #expect(slices[0] == Self.slice())
    #expect(slices[1] == Self.dependentSlice())
    let (third, fourth) = (slices[2], slices[3])
    let slice = try SliceSegmentHeader(nalUnit: third.span.bytes, sets: store, pair: syntax)
    #expect(slice.header.layerID == 1)
    #expect(slice.pictureParameterSetID == 1)
    #expect(!slice.usesInterLayerPrediction)
    #expect(slice.pocLSB == original.pocLSB)
    #expect(slice.shortTermSet == original.shortTermSet)
    #expect(slice.longTermEntries == original.longTermEntries)
    #expect(slice.listEntriesL0 == original.listEntriesL0)
    #expect(Array(slices[2][slice.dataOffset...]) == Self.data)
    let dependent = try SliceSegmentHeader(
      nalUnit: fourth.span.bytes, sets: store, pair: syntax)
    #expect(dependent.isDependent)
    #expect(dependent.address == 6)
    #expect(Array(slices[3][dependent.dataOffset...]) == Self.data)
  }

  @Test("flattened, the base picture is a long-term reference at its place in the lists")
  func flattened() throws {
    var vps = try VideoParameterSet(nalUnit: ParameterSetTests.sets(.main8).videoParameterSet)
    vps.multilayer?.pair?.defaultReferenceLayersActive = true
    let base = Self.parameterSets()
    // Both layers number their sets from 0.
    let dependent = Self.parameterSets(layer: 1)
    // List 0 of POC 19, 18, base, 7 and -56: the base picture, then POC 7.
    let unit = Self.accessUnit([
      vps.nalUnit(), base.sps, base.pps, dependent.sps, dependent.pps, Self.slice(),
      Self.dependentSlice(), Self.slice(layer: 1, list0: ([2, 3], 3)),
      Self.dependentSlice(layer: 1),
    ])
    var flattener = Flattener(output: .dependentEye)
    let flat = try flattener.flatten(unit.bytes.span.bytes, nalUnits: unit.nalUnits)
    let pictures = flat.pictures + flattener.drain()
    #expect(pictures.map(\.isOutput) == [false, true])
    #expect(pictures.map(\.pictureOrderCount) == [20, 20 + 16384])
    var store = ParameterSetStore()
    for set in flat.parameterSets.nalUnits { #expect(try store.add(set.span.bytes)) }
    let slices = try pictures.map { picture in
      let stream = bytes(of: picture, source: unit.bytes)
      return try AnnexB.nalUnits(in: stream.span.bytes).suffix(2).map { range in
        let nalUnit = Array(stream[range])
        let slice = try SliceSegmentHeader(nalUnit: nalUnit.span.bytes, sets: store)
        #expect(Array(nalUnit[slice.dataOffset...]) == Self.data)
        return slice
      }
    }
    #expect(slices[0][0].pictureParameterSetID == 0)
    #expect(slices[0][0].longTermEntries.map(\.pocLSB) == [7, 65536 - 56])
    #expect(slices[0][0].listEntriesL0 == [3, 0])
    #expect(slices[0][0].listEntriesL1 == nil)
    #expect(slices[1][0].pictureParameterSetID == 1)
    #expect(slices[1][0].pocLSB == 20 + 16384)
    #expect(slices[1][0].shortTermSet.negative.map(\.deltaPOC) == [-1, -2])
    #expect(slices[1][0].longTermEntries.map(\.pocLSB) == [7 + 16384, 16384 - 56, 20])
    #expect(slices[1][0].longTermEntries.allSatisfy { $0.isUsedByCurrentPicture })
    #expect(slices[1][0].listEntriesL0 == [4, 2])
    #expect(slices[1][0].listEntriesL1 == nil)
    #expect(slices.map { $0[1].isDependent } == [true, true])
  }
}
