// SPDX-License-Identifier: MPL-2.0

import AVC
import TestKit
import Testing

import enum HEVC.NALUnitFraming

/// Two elementary streams become one, whose access units have both views.
@Suite("Interleaving of two streams") struct InterleaverTests {
  typealias Builder = MVCStreamBuilder

  /// The result of interleaving access units that come in turns, with their numbers as times.
  private struct Interleaved {
    var units: [MVCInterleaver<Int>.Unit] = []
    var droppedCount = 0

    var bytes: [UInt8] { units.flatMap(\.bytes) }

    mutating func add(_ output: MVCInterleaver<Int>.Output) {
      units += output.units
      droppedCount += output.droppedCount
    }
  }

  private func interleave(
    _ base: [(time: Int, units: [[UInt8]])], _ dependent: [(time: Int, units: [[UInt8]])]
  ) throws -> Interleaved {
    var interleaver = MVCInterleaver<Int>(hasTwoStreams: true)
    var result = Interleaved()
    let all = base.map { ($0, MVCView.base) } + dependent.map { ($0, .dependent) }
    for (entry, view) in all.sorted(by: { $0.0.time < $1.0.time }) {
      result.add(
        try interleaver.push(
          byteStream(entry.units).span.bytes, alignment: .none, stamp: entry.time,
          decodingTime: UInt64(entry.time), of: view))
    }
    result.add(interleaver.end())
    return result
  }

  private func numbered(_ units: [[[UInt8]]]) -> [(time: Int, units: [[UInt8]])] {
    units.enumerated().map { (time: $0, units: $1) }
  }

  private let sequence = Builder.Sequence()
  private let subset = Builder.Sequence(profile: 128, views: (2, [1, 0, 1, 0]))

  /// Four access units of each view with their parameter sets.
  private func streams(pps: [UInt8], dependent: [UInt8]) -> (
    base: [[[UInt8]]], dependent: [[[UInt8]]]
  ) {
    var result: (base: [[[UInt8]]], dependent: [[[UInt8]]]) = ([], [])
    for number in 0..<4 {
      var slice = Builder.Slice(
        kind: number == 0 ? 2 : 0, isIDR: number == 0, frameNum: number, lsb: 2 * number)
      result.base.append([[9, 0xF0], slice.nalUnit(sequence)])
      slice.view = 1
      result.dependent.append([[24, 0], slice.nalUnit(subset)])
    }
    result.base[0].insert(contentsOf: [sequence.nalUnit, pps], at: 1)
    result.dependent[0].insert(contentsOf: [subset.nalUnit, dependent], at: 1)
    return result
  }

  private func types(_ unit: MVCInterleaver<Int>.Unit) -> [Int] { nalUnits(unit.bytes).map(type) }

  @Test(
    "the pictures are those of the combined stream",
    .enabled(if: MVCMedia.isThere, "the folder ../shared/mvc-media is absent"), .tags(.long),
    arguments: MVCMedia.names)
  func media(name: String) throws {
    let bytes = try MVCMedia.bytes(name)
    let (base, dependent) = separated(accessUnits(bytes))
    let result = try interleave(numbered(base), numbered(dependent))
    #expect(result.units.allSatisfy { $0.isPaired })
    #expect(result.units.map(\.stamp) == Array(base.indices))
    #expect(result.droppedCount == 0)
    let isSame = try flatten(result.bytes).bytes == flatten(bytes).bytes
    #expect(isSame)
  }

  @Test("the base view is first, and delimiters begin no second access unit")
  func order() throws {
    var (base, dependent) = streams(pps: Builder.pps(), dependent: Builder.pps())
    dependent[1][0] = [9, 0x30]
    dependent[2].insert(sequence.nalUnit, at: 0)
    base[3].append([10])
    dependent[3].append([10])
    let result = try interleave(numbered(base), numbered(dependent))
    #expect(
      result.units.map(types) == [
        [9, 7, 8, 5, 24, 15, 8, 20], [9, 1, 20], [9, 1, 24, 20], [9, 1, 24, 20, 10],
      ])
    #expect(result.units.map(\.isRandomAccess) == [true, false, false, false])
    #expect(result.units.map(\.dependentStamp) == [0, 1, 2, 3])
    let flat = try flatten(result.bytes)
    #expect(flat.pictures.count == 8)
  }

  @Test("PPSs of one id that differ between the streams are repeated before each picture")
  func ambiguous() throws {
    let (base, dependent) = streams(
      pps: Builder.pps(), dependent: Builder.pps(defaults: [2, 2], bipred: 1))
    let result = try interleave(numbered(base), numbered(dependent))
    #expect(types(result.units[1]) == [9, 8, 1, 24, 8, 20])
    var flattener = MVCFlattener<Int>(framing: .annexB, hasTwoStreams: true)
    var wanted = Flattened()
    for (view, units) in [(MVCView.base, base), (.dependent, dependent)] {
      for (number, unit) in units.enumerated() {
        wanted.add(
          try flattener.push(
            byteStream(unit).span.bytes, alignment: .accessUnit, stamp: number, of: view))
      }
    }
    wanted.add(flattener.end())
    #expect(wanted.pictures.count == 8)
    let flat = try flatten(result.bytes)
    #expect(flat.notices.isEmpty)
    let isSame = flat.bytes == wanted.bytes
    #expect(isSame)
  }

  @Test("a lone access unit of the base view stays, one of the dependent view goes")
  func lone() throws {
    let (base, dependent) = streams(pps: Builder.pps(), dependent: Builder.pps())
    let result = try interleave(
      numbered(base).filter { $0.time != 1 }, numbered(dependent).filter { $0.time != 2 })
    #expect(result.units.map(\.stamp) == [0, 2, 3])
    #expect(result.units.map(\.isPaired) == [true, false, true])
    #expect(result.droppedCount == 1)
  }

  @Test("the second stream may appear and disappear")
  func change() throws {
    let (base, dependent) = streams(pps: Builder.pps(), dependent: Builder.pps())
    var interleaver = MVCInterleaver<Int>(hasTwoStreams: false)
    var result = Interleaved()
    func push(_ number: Int, _ view: MVCView) throws {
      let unit = (view == .base ? base : dependent)[number]
      result.add(
        try interleaver.push(
          byteStream(unit).span.bytes, alignment: .accessUnit, stamp: number,
          decodingTime: UInt64(number), of: view))
    }
    try push(0, .base)
    try push(1, .base)
    result.add(interleaver.setTwoStreams(true))
    // Delimiters come before the next picture at the earliest.
    #expect(result.units.map(\.stamp) == [0])
    try push(2, .base)
    try push(2, .dependent)
    try push(3, .base)
    result.add(interleaver.setTwoStreams(false))
    result.add(interleaver.end())
    #expect(result.units.map(\.stamp) == [0, 1, 2, 3])
    #expect(result.units.map(\.isPaired) == [false, false, true, false])
  }

  @Test("an access unit without end exceeds the budget, and the stream can continue")
  func budget() throws {
    var interleaver = MVCInterleaver<Int>(hasTwoStreams: true, budget: 1000)
    let endless: [UInt8] = [0, 0, 1, 0x65] + Array(repeating: 0xFF, count: 2000)
    #expect(throws: MVCError.budgetExceeded(limit: 1000)) {
      try interleaver.push(endless.span.bytes, alignment: .none, stamp: 0)
    }
    let (base, _) = streams(pps: Builder.pps(), dependent: Builder.pps())
    _ = try interleaver.push(byteStream(base[0]).span.bytes, alignment: .none, stamp: 1)
    #expect(interleaver.end().units.map(\.stamp) == [1])
  }
}
