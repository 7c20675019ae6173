// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import Testing

/// Flattening where a stream jumps, or where its dependent pictures are not what they should be.
@Suite("Flatten damaged streams") struct FlattenDamageTests {
  private func woven(_ stream: Stream) throws -> [AccessUnit] {
    try accessUnits(of: weave(stream.accessUnits(.left), stream.accessUnits(.right)))
  }

  /// One access unit with the dependent picture of another.
  private func mixed(_ base: AccessUnit, _ dependent: AccessUnit) -> AccessUnit {
    func units(of unit: AccessUnit, areDependentSlices: Bool) -> [[UInt8]] {
      unit.nalUnits.map { Array(unit.bytes[$0]) }.filter {
        ($0[1] >> 3 == 1 && $0[0] >> 1 < 32) == areDependentSlices
      }
    }
    let units: [[UInt8]] =
      units(of: base, areDependentSlices: false) + units(of: dependent, areDependentSlices: true)
    let bytes: [UInt8] = units.flatMap { [0, 0, 1] + $0 }
    return AccessUnit(bytes: bytes, nalUnits: AnnexB.nalUnits(in: bytes.span.bytes))
  }

  private func flatten(
    _ flattener: inout Flattener, _ unit: AccessUnit
  ) throws -> Flattener.AccessUnit {
    try flattener.flatten(unit.bytes.span.bytes, nalUnits: unit.nalUnits)
  }

  @Test("mismatched layers are an error at the start, and damage later")
  func differentLayers() throws {
    let units = try woven(.main8)
    var flattener = Flattener(output: .bothEyes)
    #expect(throws: FlattenError.self) { try flatten(&flattener, mixed(units[0], units[1])) }
    flattener = Flattener(output: .bothEyes)
    _ = try flatten(&flattener, units[0])
    let damaged = try flatten(&flattener, mixed(units[1], units[2]))
    #expect(damaged.pictures.map(\.layerID) == [0])
    guard case .differentPictureOrderCounts? = damaged.dependentFailure else {
      Issue.record("\(String(describing: damaged.dependentFailure))")
      return
    }
    let next = try flatten(&flattener, units[2])
    #expect(next.pictures.map(\.layerID) == [0, 1])
    #expect(next.dependentFailure == nil)
  }

  @Test("an access unit says whether the numbering starts again with it")
  func sequences() throws {
    let units = try woven(.main8)
    var flattener = Flattener(output: .bothEyes)
    for unit in units {
      let flat = try flatten(&flattener, unit)
      #expect(flat.beginsSequence == flat.pictures[0].type.isIDR)
    }
  }

  @Test(
    "a CRA picture becomes a BLA picture after a jump, but not mid-stream with leading pictures")
  func cleanRandomAccess() throws {
    let units = try woven(.main10)
    let random = units.indices.dropFirst().first { index in
      units[index].nalUnits.contains { units[index].bytes[$0.lowerBound] >> 1 == 21 }
    }
    let index = try #require(random)
    var flattener = Flattener(output: .bothEyes)
    let flat = try units.map { try flatten(&flattener, $0) }
    // Its leading pictures refer across it, and the other layer's pictures are between them.
    #expect(flat[index].pictures[0].type == .trailR)
    #expect(!flat[index].beginsSequence)
    flattener.reset()
    let jumped = try flatten(&flattener, units[index])
    #expect(jumped.pictures[0].type == .blaWLP)
    #expect(jumped.beginsSequence)
    #expect(jumped.pictures[1].type == .trailR)
    // Its leading picture refers to what is not there.
    let leading = try flatten(&flattener, units[index + 1])
    #expect(leading.pictures.isEmpty)
    #expect(leading.dependentFailure == nil)
  }
}
