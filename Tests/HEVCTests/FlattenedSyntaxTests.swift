// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import Testing

/// What a flattened stream says of itself: types of pictures, parameter sets, and what is refused.
@Suite("Flattened syntax") struct FlattenedSyntaxTests {
  private typealias Headers = SliceSegmentHeaderTests

  private func sets(of units: [AccessUnit]) throws -> ParameterSetStore {
    var store = ParameterSetStore()
    for unit in units {
      for range in unit.nalUnits { _ = try store.add(Array(unit.bytes[range]).span.bytes) }
    }
    return store
  }

  /// The types of the slices of an access unit's layers.
  private func types(_ units: [AccessUnit], layer: UInt8) -> Set<NALUnitType> {
    Set(
      units.flatMap { unit in
        unit.nalUnits.compactMap { range in
          let header = NALUnitHeader(Array(unit.bytes[range]).span.bytes)
          return header?.layerID == layer && header?.type.isVCL == true ? header?.type : nil
        }
      })
  }

  /// A woven stream whose trailing pictures say that they are switching points: TSA or STSA.
  private func switchingPoints(_ kind: UInt8) throws -> [AccessUnit] {
    try accessUnits(of: weave(Stream.main8.accessUnits(.left), Stream.main8.accessUnits(.right)))
      .map { unit in
        var unit = unit
        for range in unit.nalUnits where unit.bytes[range.lowerBound] >> 1 < 2 {
          unit.bytes[range.lowerBound] += kind << 1
        }
        return unit
      }
  }

  @Test("leading pictures and switching points of both layers become trailing pictures")
  func types() throws {
    for clip in try [
      LayeredClip.openGOPs.accessUnits(), switchingPoints(2), switchingPoints(4),
    ] {
      let others: Set<NALUnitType> = [.trailN, .trailR]
      for layer: UInt8 in [0, 1] {
        #expect(!types(clip, layer: layer).filter { !$0.isIRAP }.isSubset(of: others))
      }
      for output in [Flattener.Output.dependentEye, .bothEyes] {
        let flat = try accessUnits(of: flattened(clip, output: output).bytes)
        let left = types(flat, layer: 0).filter { !$0.isIRAP }
        #expect(left.isSubset(of: others), "\(left)")
        #expect(types(flat, layer: 1).isEmpty)
      }
    }
  }

  @Test("the VUI has neither a buffer model nor picture times")
  func usability() throws {
    let units = try accessUnits(
      of: weave(Stream.slices.accessUnits(.left), Stream.slices.accessUnits(.right)))
    let source = try #require(try sets(of: units).sequenceParameterSet(0, layer: 0)?.vui)
    #expect(source.timing?.hrd != nil)
    var flattener = Flattener(output: .dependentEye)
    let first = units[0]
    let flat = try flattener.flatten(first.bytes.span.bytes, nalUnits: first.nalUnits)
    var store = ParameterSetStore()
    for set in flat.parameterSets.nalUnits { _ = try store.add(set.span.bytes) }
    let vui = try #require(store.sequenceParameterSet(0, layer: 0)?.vui)
    #expect(vui.timing?.hrd == nil)
    #expect(vui.timing?.numTicksPOCDiffOneMinus1 == nil)
    #expect(!vui.frameFieldInfoPresent)
    #expect(vui.timing?.timeScale == source.timing?.timeScale)
    #expect(store.videoParameterSet(0)?.timing?.hrd.isEmpty ?? true)
    #expect(store.videoParameterSet(0)?.timing?.numTicksPOCDiffOneMinus1 == nil)
  }

  // MARK: Parameter sets written bit by bit

  private func vps(_ change: (inout VideoParameterSet) -> Void = { _ in }) throws -> [UInt8] {
    var vps = try VideoParameterSet(nalUnit: ParameterSetTests.sets(.main8).videoParameterSet)
    vps.multilayer?.pair?.defaultReferenceLayersActive = true
    change(&vps)
    return vps.nalUnit()
  }

  /// The first access unit of a stream whose dependent layer has these sets.
  private func flatten(
    vps: [UInt8], dependent: (sps: [UInt8], pps: [UInt8]),
    slice: [UInt8] = Headers.slice(layer: 1, list0: ([2, 3], 3)),
    output: Flattener.Output = .dependentEye
  ) throws -> Flattener.AccessUnit {
    let base = Headers.parameterSets()
    let unit = Headers.accessUnit([
      vps, base.sps, base.pps, dependent.sps, dependent.pps, Headers.slice(), slice,
    ])
    var flattener = Flattener(output: output)
    return try flattener.flatten(unit.bytes.span.bytes, nalUnits: unit.nalUnits)
  }

  private func sps(_ flat: Flattener.AccessUnit) throws -> SequenceParameterSet {
    try SequenceParameterSet(nalUnit: #require(flat.parameterSets.sequenceParameterSets.first))
  }

  @Test("the level also follows from the luma samples per second of both layers")
  func level() throws {
    let dependent = Headers.parameterSets(layer: 1)
    // 64x48: 16 pictures of it are within every level.
    for (rate, level) in [(25, 30), (90, 30), (91, 60), (20_000, 123)] {
      let vps = try vps {
        $0.timing = VideoParameterSet.TimingInformation(
          numUnitsInTick: 1, timeScale: rate)
      }
      let flat = try flatten(vps: vps, dependent: dependent)
      #expect(try sps(flat).profileTierLevel?.levelIDC == level, "\(rate)")
    }
  }

  @Test("the window is that of the displayed eye, and must be the same for both")
  func windows() throws {
    let dependent = Headers.parameterSets(layer: 1, crop: 2)
    let flat = try flatten(vps: vps(), dependent: dependent)
    #expect(try sps(flat).format.conformanceWindow?.right == 2)
    let error = #expect(throws: FlattenError.self) {
      try flatten(vps: vps(), dependent: dependent, output: .bothEyes)
    }
    guard case .differentFormats? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  /// `pps_multilayer_extension()` with one location offset.
  private func extended(region: Int, phase: Int?) -> (sps: [UInt8], pps: [UInt8]) {
    Headers.parameterSets(layer: 1) { pps in
      pps.u(0, 2)
      pps.ue(1)
      pps.u(0, 6)
      pps.flag(false)
      pps.flag(true)
      for offset in [region, 0, 0, 0] { pps.ue(2 * offset) }  // se(v): negative
      pps.flag(phase != nil)
      if let phase { for value in [phase, 0, 8, 8] { pps.ue(value) } }
      pps.flag(false)
    }
  }

  @Test(
    "a region of the base picture, or a resampled one, is refused; a complete one is not")
  func referenceRegions() throws {
    let whole = try flatten(vps: vps(), dependent: extended(region: 0, phase: 0))
    #expect(whole.dependentFailure == nil)
    for dependent in [extended(region: 2, phase: nil), extended(region: 0, phase: 3)] {
      let error = #expect(throws: FlattenError.self) {
        try flatten(vps: vps(), dependent: dependent)
      }
      guard case .resampledReferenceLayer? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }

  @Test("the MSBs of a POC in the header extension count")
  func pocMSBs() throws {
    let sets = Headers.parameterSets(layer: 1)
    func flatten(cycle bits: Int) throws -> Flattener.AccessUnit {
      try self.flatten(
        vps: vps(), dependent: sets,
        slice: Headers.slice(layer: 1, list0: ([2, 3], 3), extensionBits: bits))
    }
    // poc_msb_cycle_val_present_flag, and ue(v): 0; absent; 2.
    for bits in [0b11 << 14, 0] { #expect(try flatten(cycle: bits).dependentFailure == nil) }
    let error = #expect(throws: FlattenError.self) { try flatten(cycle: 0b1011 << 12) }
    #expect(
      error?.description.contains("base 20, dependent \(20 + 2 * 256)") == true,
      "\(String(describing: error))")
    var counter = PictureOrderCounter()
    let header = NALUnitHeader(type: .blaWLP, layerID: 1)
    #expect(counter.next(header, lsb: 5, log2MaxLSB: 8, msbCycle: 3) == 3 * 256 + 5)
    #expect(counter.next(NALUnitHeader(type: .trailR, layerID: 1), lsb: 6, log2MaxLSB: 8) == 774)
    // Too short for what it begins with.
    #expect(try flatten(cycle: 1 << 15).dependentFailure != nil)
  }

  @Test("a new VPS without a second layer leaves the base eye as it is")
  func staleSets() throws {
    let units = try accessUnits(
      of: weave(Stream.main8.accessUnits(.left), Stream.main8.accessUnits(.right)))
    var flattener = Flattener(output: .dependentEye)
    let first = units[0]
    let plain = try flattener.flatten(first.bytes.span.bytes, nalUnits: first.nalUnits)
      .parameterSets.videoParameterSet
    var splitter = EyeSplitter()
    for (number, unit) in units.enumerated() {
      var nalUnits = unit.nalUnits.map { Array(unit.bytes[$0]) }
      if number == 3 { nalUnits.insert(plain, at: 0) }
      let changed = Headers.accessUnit(nalUnits)
      let base = try splitter.baseEye(changed.bytes.span.bytes, nalUnits: changed.nalUnits)
      #expect(base.pictures.count == 1, "\(number)")
      _ = try? splitter.dependentEye(changed.bytes.span.bytes, nalUnits: changed.nalUnits)
    }
  }
}
