// SPDX-License-Identifier: MPL-2.0

import AVC
import HEVC
import TestKit
import Testing

/// Starts in the middle, losses, and streams in two parts.
@Suite(
  "MVC with gaps", .enabled(if: MVCMedia.isThere, "the folder ../shared/mvc-media is absent"))
struct RandomAccessTests {
  typealias Flattener = MVCFlattener<Int>

  private func push(
    _ flattener: inout Flattener, _ unit: [[UInt8]], _ number: Int
  ) throws -> Flattener.Output {
    try flattener.push(byteStream(unit).span.bytes, alignment: .accessUnit, stamp: number)
  }

  private func flatten(_ units: [[[UInt8]]]) throws -> Flattened {
    var flattener = Flattener(framing: .annexB)
    var flat = Flattened()
    for (number, unit) in units.enumerated() { flat.add(try push(&flattener, unit, number)) }
    flat.add(flattener.end())
    return flat
  }

  /// Without their parameter sets, which are sent first, a part of the access units.
  private func parts(_ name: String, from first: Int) throws -> [[[UInt8]]] {
    let units = accessUnits(try MVCMedia.bytes(name))
    let sets = units[0].filter { [7, 8, 15].contains(type($0)) }
    var part = Array(units[first...])
    part[0] = sets + part[0]
    return part
  }

  @Test("decoding begins at the first intra picture, which becomes an IDR picture")
  func start() throws {
    let units = try parts("b2-intra.264", from: 1)
    let flat = try flatten(units)
    let decoder = try StrictDecoder(flat.bytes)
    #expect(decoder.violations.isEmpty)
    let first = try #require(flat.pictures.first)
    #expect(first.isRandomAccess)
    #expect(first.accessUnit > 0)
    #expect(first.orderCount == 0)
    // What precedes it, in decoding order or in the order of output, is lost.
    let lost = flat.notices.filter { $0.kind == .lost(.base, .missingReferences) }
    let bases = flat.pictures.filter { $0.view == .base }
    #expect(lost.count + bases.count == units.count)
    #expect(lost.contains { $0.accessUnit > first.accessUnit })
  }

  @Test("after a flush, pictures come from the next random access point on")
  func flush() throws {
    let units = accessUnits(try MVCMedia.bytes("b2-idr.264"))
    var flattener = Flattener(framing: .annexB)
    var before = Flattened()
    for number in 0..<6 { before.add(try push(&flattener, units[number], number)) }
    flattener.flush()
    var after = Flattened()
    for number in 6..<units.count { after.add(try push(&flattener, units[number], number)) }
    after.add(flattener.end())
    let first = try #require(after.pictures.first)
    #expect(first.isRandomAccess)
    #expect(type(units[first.stamp].first { [1, 5].contains(type($0)) } ?? []) == 5)
    #expect(try StrictDecoder(after.bytes).violations.isEmpty)
    #expect(after.pictures.allSatisfy { $0.accessUnit == $0.stamp })
  }

  @Test("end in the middle gives all pictures, and the stream can continue")
  func continuing() throws {
    let units = accessUnits(try MVCMedia.bytes("field-p-cabac.264"))
    // The last access unit is a first field.
    let flat = try flatten(Array(units.prefix(5)))
    #expect(flat.pictures.map(\.isFieldPair) == [true, true, true, true, false, false])
    #expect(try StrictDecoder(flat.bytes).violations.isEmpty)
  }

  @Test(
    "without dependent pictures the base view continues",
    arguments: [
      "b2-cabac.264", "p-cabac.264", "field-b2-cabac.264", "paff-mbaff-b2.264", "h7-cavlc.264",
    ])
  func withoutDependent(name: String) throws {
    var units = accessUnits(try MVCMedia.bytes(name))
    for index in units.indices where (3...7).contains(index) || index > units.count - 4 {
      units[index].removeAll { type($0) == 20 }
    }
    let flat = try flatten(units)
    #expect(try StrictDecoder(flat.bytes).violations.isEmpty)
    let whole = try AVCTests.flatten(try MVCMedia.bytes(name))
    let bases = flat.pictures.filter { $0.view == .base }
    #expect(bases.count == whole.pictures.count / 2)
    #expect(bases.contains { !$0.isPaired })
  }

  @Test("without any dependent picture, or any subset SPS, it is a plain stream")
  func plain() throws {
    for kinds in [[20], [14, 15, 20]] {
      var units = accessUnits(try MVCMedia.bytes("b2-cabac.264"))
      for index in units.indices { units[index].removeAll { kinds.contains(type($0)) } }
      let flat = try flatten(units)
      #expect(flat.pictures.count == 20)
      #expect(flat.notices.isEmpty)
      #expect(try StrictDecoder(flat.bytes).violations.isEmpty)
    }
  }

  @Test("a dependent view that begins late begins with an anchor")
  func lateDependent() throws {
    var units = accessUnits(try MVCMedia.bytes("b2-idr.264"))
    for index in 0..<2 { units[index].removeAll { type($0) == 20 } }
    let flat = try flatten(units)
    #expect(try StrictDecoder(flat.bytes).violations.isEmpty)
    let first = try #require(flat.pictures.firstIndex { $0.view == .dependent })
    #expect(flat.pictures[first - 1].isRandomAccess)
    #expect(flat.kinds == [.lost(.dependent, .missingReferences)])
  }

  @Test("a dependent picture before the first base picture is dropped")
  func dependentFirst() throws {
    let units = accessUnits(try MVCMedia.bytes("b2-cabac.264"))
    let lone = units[1].filter { type($0) == 20 }
    let flat = try flatten([lone] + units)
    #expect(flat.pictures.count == 40)
    #expect(flat.kinds == [.lost(.dependent, .unpaired)])
    #expect(try StrictDecoder(flat.bytes).violations.isEmpty)
  }

  @Test("a prefix NAL unit at the end of the access unit before is that of the next")
  func prefixes() throws {
    var units = accessUnits(try MVCMedia.bytes("b2-cabac.264"))
    let whole = try flatten(units)
    var moved = 0
    for index in units.indices.dropFirst() {
      let prefixes = units[index].filter { type($0) == 14 }
      units[index].removeAll { type($0) == 14 }
      units[index - 1] += prefixes
      moved += prefixes.count
    }
    let flat = try flatten(units)
    #expect(flat.pictures.map(\.bytes) == whole.pictures.map(\.bytes))
  }

  @Test("a base picture with inter_view_flag 0 is in no list of the dependent picture")
  func interViewFlag() throws {
    // Of low delay, so that all dependent pictures but the first have references of their own.
    let units = accessUnits(try MVCMedia.bytes("p-cabac.264")).map { unit in
      unit.flatMap { nalUnit -> [[UInt8]] in
        guard type(nalUnit) == 1 else { return [nalUnit] }
        // non_idr_flag, view_id 0; inter_view_flag 0
        return [[0x6E, 0x40, 0x00, 0x01], nalUnit]
      }
    }
    let flat = try flatten(units)
    #expect(flat.pictures.count == 40)
    let decoder = try StrictDecoder(flat.bytes)
    #expect(decoder.violations.isEmpty)
    #expect(flat.kinds == [.warning(.missingReferences)])
  }

  // MARK: Two streams

  @Test(
    "two streams give the same as one, whatever the order of their packets",
    arguments: ["b2-cabac.264", "b2-cavlc.264", "field-h7.264", "p-cavlc-slices.264"])
  func twoStreams(name: String) throws {
    let units = accessUnits(try MVCMedia.bytes(name))
    let whole = try flatten(units)
    let (base, dependent) = separated(units)
    for seed in 0..<6 {
      var dice = Dice(UInt64(seed))
      var flattener = Flattener(framing: .annexB, hasTwoStreams: true)
      var flat = Flattened()
      var positions = [0, 0]
      while positions != [base.count, dependent.count] {
        var view = dice.next(below: 2)
        if positions[view] == base.count { view ^= 1 }
        let number = positions[view]
        positions[view] += 1
        let bytes = byteStream((view == 0 ? base : dependent)[number])
        flat.add(
          try flattener.push(
            bytes.span.bytes, alignment: .none, stamp: number,
            decodingTime: seed & 1 == 0 ? UInt64(number) * 3003 : nil,
            of: view == 0 ? .base : .dependent))
      }
      flat.add(flattener.end())
      let isSame = flat.pictures.map(\.bytes) == whole.pictures.map(\.bytes)
      #expect(isSame)
      #expect(flat.pictures.map(\.stamp) == flat.pictures.map(\.accessUnit))
    }
  }

  @Test("access units that share a buffer, and with it a time, are paired in order")
  func sharedBuffer() throws {
    let units = accessUnits(try MVCMedia.bytes("b2-cabac.264"))
    let (base, dependent) = separated(units)
    var flattener = Flattener(framing: .annexB, hasTwoStreams: true)
    var flat = Flattened()
    for (number, unit) in base.enumerated() {
      flat.add(
        try flattener.push(
          byteStream(unit).span.bytes, alignment: .none, stamp: number,
          decodingTime: UInt64(number)))
    }
    let all = dependent.flatMap { byteStream($0) }
    flat.add(
      try flattener.push(
        all.span.bytes, alignment: .none, stamp: -1, decodingTime: 0, of: .dependent))
    flat.add(flattener.end())
    #expect(flat.pictures.map(\.bytes) == (try flatten(units)).pictures.map(\.bytes))
  }

  @Test("of two streams with decoding times, lone access units do no harm")
  func loneAccessUnits() throws {
    let (base, dependent) = separated(accessUnits(try MVCMedia.bytes("b2-idr.264")))
    var flattener = Flattener(framing: .annexB, hasTwoStreams: true)
    var flat = Flattened()
    for number in base.indices {
      for (view, unit) in [(MVCView.base, base[number]), (.dependent, dependent[number])] {
        // The dependent view begins later, and ends later.
        if view == .dependent ? number < 3 : number > 16 { continue }
        flat.add(
          try flattener.push(
            byteStream(unit).span.bytes, alignment: .nalUnit, stamp: number,
            decodingTime: UInt64(number), of: view))
      }
    }
    flat.add(flattener.end())
    #expect(try StrictDecoder(flat.bytes).violations.isEmpty)
    #expect(flat.pictures.count { $0.view == .base } == 17)
    #expect(flat.pictures.allSatisfy { $0.accessUnit == $0.stamp })
    #expect(flat.notices.count { $0.kind == .lost(.dependent, .unpaired) } == base.count - 17)
  }
}
