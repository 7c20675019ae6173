// SPDX-License-Identifier: MPL-2.0

import AVC
import TestKit
import Testing

/// The second view in movies whose sample entry does not name it.
@Suite(.enabled(if: MVCMedia.isThere, "the folder ../shared/mvc-media is absent"))
struct SecondViewProbeTests {
  private let units: [[[UInt8]]]
  private let description: MVCDescription

  init() throws {
    units = accessUnits(try MVCMedia.bytes("b2-cabac.264"))
    let first = byteStream(units[0])
    let description = MVCDescription(accessUnit: first.span.bytes)
    self.description = try #require(description)
  }

  private func sample(_ units: [[UInt8]]) -> [UInt8] {
    MVCDescription.sample(byteStream(units).span.bytes)
  }

  private func probe(_ avcC: [UInt8], _ samples: [[[UInt8]]]) throws -> [UInt8]? {
    var probe = try #require(SecondViewProbe(avcC: avcC))
    for units in samples { probe.add(sample(units).span.bytes) }
    return probe.mvcC
  }

  @Test("it is found at the end of avcC, among its SPSs, and in the samples")
  func places() throws {
    let (avcC, mvcC) = (description.records.avcC, try #require(description.records.mvcC))
    let withoutSets = units[0].filter { ![7, 8, 15].contains(type($0)) }
    #expect(try probe(description.records.block, [withoutSets]) == mvcC)
    #expect(try probe(avcC, [units[0]]) == mvcC)
    // FFmpeg cuts the access unit before the second view's parameter sets.
    let second = try #require(withoutSets.firstIndex { type($0) == 20 })
    let subset = units[0].filter { type($0) == 15 }
    let cut = [Array(withoutSets[..<second]) + subset, Array(withoutSets[second...]) + units[1]]
    #expect(try probe(avcC, cut) != nil)
    // Six bytes, the number of SPSs in the last one, and the sizes of 16 bits.
    var record = avcC
    let size = 2 + Int(record[6]) << 8 + Int(record[7])
    record[5] += 1
    record.insert(
      contentsOf: [0, UInt8(subset[0].count)] + subset[0], at: 6 + size)
    #expect(try probe(record, [withoutSets]) != nil)
  }

  @Test("plain H.264, records without pictures and pictures without records have no second view")
  func none() throws {
    let base = units.prefix(4).map { $0.filter { ![14, 15, 20].contains(type($0)) } }
    #expect(try probe(description.records.avcC, base) == nil)
    #expect(try probe(description.records.block, base) == nil)
    let withoutSets = units.map { $0.filter { ![7, 8, 15].contains(type($0)) } }
    #expect(try probe(description.records.avcC, withoutSets) == nil)
    #expect(SecondViewProbe(avcC: [1, 100]) == nil)
    var torn = try #require(SecondViewProbe(avcC: description.records.avcC))
    torn.add([0xFF, 0xFF, 0xFF, 0xFF, 20].span.bytes)
    torn.add([UInt8]().span.bytes)
    #expect(torn.mvcC == nil)
  }

  @Test("damaged access units have a place in the order of output, and second fields have none")
  func order() throws {
    var order = DisplayOrder()
    for (number, unit) in units.enumerated() {
      // Without its parameter sets, a stream has no order but that of decoding.
      _ = order.add(number == 3 ? [0, 0, 0, 1, 0x65] : byteStream(unit))
    }
    #expect(order.frameCount == units.count)
    #expect(order.positions().sorted() == Array(units.indices))
    var fields = DisplayOrder()
    let all = accessUnits(try MVCMedia.bytes("field-p-cabac.264"))
    let firsts = all.map { fields.add(byteStream($0)) }
    #expect(firsts == all.indices.map { $0 % 2 == 0 })
    var empty = DisplayOrder()
    #expect(empty.positions().isEmpty && empty.frameRate == nil)
    #expect(empty.add([]) && empty.add([0, 0, 1]))
  }
}
