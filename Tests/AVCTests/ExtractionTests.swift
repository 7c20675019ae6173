// SPDX-License-Identifier: MPL-2.0

import AVC
import TestKit
import Testing

/// One view alone.
@Suite(
  "Extract a view of MVC",
  .enabled(if: MVCMedia.isThere, "the folder ../shared/mvc-media is absent"))
struct ExtractionTests {
  @Test("the base view's NAL units are not changed", arguments: MVCMedia.names)
  func base(name: String) throws {
    let facts = try #require(MVCMedia.all[name])
    let bytes = try MVCMedia.bytes(name)
    let flat = try flatten(bytes, .base)
    let isSame =
      nalUnits(flat.bytes) == nalUnits(bytes).filter { ![14, 15, 20, 21, 24].contains(type($0)) }
    #expect(isSame)
    #expect(flat.pictures.count == facts.accessUnits)
    #expect(flat.pictures.allSatisfy { $0.view == .base && $0.orderCount == nil })
    #expect(flat.notices.isEmpty)
  }

  @Test("a dependent view with inter-view references is refused")
  func predicted() throws {
    let flat = try flatten(try MVCMedia.bytes("b2-cabac.264"), .dependent)
    #expect(flat.pictures.isEmpty)
    #expect(flat.kinds.contains(.lost(.dependent, .interViewPrediction)))
    #expect(flat.notices.count == 20)
  }

  /// The stream of a base view as both views of a stereo stream without inter-view references.
  private func woven(_ name: String) throws -> (stream: [UInt8], base: [[UInt8]]) {
    let base = nalUnits(try flatten(try MVCMedia.bytes(name), .base).bytes)
    var stream: [[UInt8]] = []
    for unit in base {
      stream.append(unit)
      switch type(unit) {
      case 7: stream.append(try subset(unit))
      case 1: stream.append([unit[0] & 0xE0 | 20, 0x40, 0, 0x43] + unit.dropFirst())
      case 5: stream.append([unit[0] & 0xE0 | 20, 0, 0, 0x47] + unit.dropFirst())
      default: break
      }
    }
    return (byteStream(stream), base)
  }

  /// A subset SPS with the contents of an SPS of the High profile that has no emulation prevention.
  private func subset(_ sps: [UInt8]) throws -> [UInt8] {
    let read = try SequenceParameterSet(nalUnit: sps)
    #expect(read.rbsp == sps)
    var bits = sps.dropFirst().flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
    bits = Array(bits.prefix(read.data.upperBound - 8))
    // bit_equal_to_one, two views with the ids 0 and 1, no references, no MVC VUI
    bits += [1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 0, 1]
    while bits.count & 7 != 0 { bits.append(0) }
    var result: [UInt8] = [0x6F]
    for start in stride(from: 0, to: bits.count, by: 8) {
      result.append(bits[start..<start + 8].reduce(0) { $0 << 1 | $1 })
    }
    result[1] = 118
    return result
  }

  static let names = ["p-cabac.264", "b2-cavlc.264", "field-b2-cabac.264", "h7-reorder.264"]

  @Test(
    "a dependent view of its own gets types 1 and 5, and plain parameter sets", arguments: names)
  func alone(name: String) throws {
    let (stream, base) = try woven(name)
    let flat = try flatten(stream, .dependent)
    #expect(flat.notices.isEmpty)
    #expect(flat.pictures.first?.isRandomAccess == true)
    // The PPSs and slices are those of the base view; the SPS has the profile High.
    let kept = nalUnits(flat.bytes).filter { type($0) != 9 }
    let isSame =
      kept.filter { [1, 5].contains(type($0)) } == base.filter { [1, 5].contains(type($0)) }
    #expect(isSame)
    let set = try #require(kept.first { type($0) == 7 })
    #expect(try SequenceParameterSet(nalUnit: set).profile == 100)
    #expect(kept.first.map(type) == 7)
    #expect(kept.contains { type($0) == 8 })
  }

  @Test(
    "views without inter-view references are flattened", .tags(.judge),
    .enabled(if: Python.hasAV, "needs PyAV"), arguments: names)
  func flattened(name: String) throws {
    let (stream, _) = try woven(name)
    let flat = try flatten(stream)
    let decoder = try StrictDecoder(flat.bytes)
    #expect(decoder.violations.isEmpty)
    #expect(flat.notices.isEmpty)
    #expect(flat.pictures.count == (try #require(MVCMedia.all[name])).views[0].count * 2)
    let verdict = try JudgeTests.verdicts([(name, flat.bytes)], threads: 1)[name]
    #expect(verdict?.right[0] == flat.pictures.count / 2)
  }
}
