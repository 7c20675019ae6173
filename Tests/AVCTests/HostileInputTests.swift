// SPDX-License-Identifier: MPL-2.0

import AVC
import StereoVideo
import TestKit
import Testing

import enum HEVC.NALUnitFraming

/// Damaged streams end in an error, a notice or a result, never in a trap.
@Suite("Hostile MVC") struct HostileInputTests {
  typealias Builder = MVCStreamBuilder

  /// Flattens in every way, and reads the result.
  private func run(_ bytes: [UInt8]) {
    for selection in [MVCFlattener<Int>.Selection.bothViews, .base, .dependent] {
      guard let flat = try? flatten(bytes, selection) else { continue }
      if selection == .bothViews { _ = try? StrictDecoder(flat.bytes) }
    }
  }

  @Test(
    "an SPS with a value out of range is refused",
    arguments: [
      Builder.Sequence(id: 32), .init(id: 256), .init(log2MaxFrameNumMinus4: 13),
      .init(orderCountType: 3), .init(log2MaxLSBMinus4: 13),
      .init(orderCountType: 1, cycle: Array(repeating: 1, count: 256)), .init(referenceFrames: 17),
      .init(widthInMBsMinus1: 1 << 20), .init(cpbCount: 33),
    ])
  func sequence(sequence: Builder.Sequence) {
    #expect(throws: SyntaxError.self) { try SequenceParameterSet(nalUnit: sequence.nalUnit) }
  }

  @Test("the largest values of an SPS are read")
  func largest() throws {
    let sequence = Builder.Sequence(
      id: 31, log2MaxFrameNumMinus4: 12, orderCountType: 1,
      cycle: Array(repeating: 0x7FFF_FFFF, count: 255), referenceFrames: 16, allowsGaps: true)
    let sps = try SequenceParameterSet(nalUnit: sequence.nalUnit)
    #expect((sps.id, sps.log2MaxFrameNum, sps.maxNumRefFrames) == (31, 16, 16))
    var slices = [Builder.Slice(kind: 2, isIDR: true)]
    for number in [1, 65535, 0, 32768, 2] { slices.append(.init(frameNum: number)) }
    let units = [sequence.nalUnit, Builder.pps(sps: 31)] + slices.map { $0.nalUnit(sequence) }
    #expect(try flatten(byteStream(units)).pictures.count == 6)
  }

  @Test(
    "a subset SPS of other streams than stereo ones is refused",
    arguments: [
      (Builder.Sequence(profile: 128, views: (1, [])), MVCError.viewCount(1)),
      (.init(profile: 118, views: (3, [])), .viewCount(3)),
      (.init(profile: 100, views: (2, [0, 0, 0, 0])), .unsupportedProfile(100)),
      (.init(profile: 138, views: (2, [0, 0, 0, 0])), .unsupportedProfile(138)),
      (.init(profile: 83, views: (2, [0, 0, 0, 0])), .scalableVideoCoding),
    ])
  func subset(sequence: Builder.Sequence, error: MVCError) {
    #expect(throws: error) { try SubsetSequenceParameterSet(nalUnit: sequence.nalUnit) }
  }

  @Test("numbers of views and references without end are refused")
  func endless() {
    for views in [(1025, []), (2, [2, 0, 0, 0])] as [(Int, [Int])] {
      let sequence = Builder.Sequence(profile: 128, views: views)
      #expect(throws: MVCError.self) { try SubsetSequenceParameterSet(nalUnit: sequence.nalUnit) }
    }
  }

  /// What is said about a second picture with this slice.
  private func notices(
    _ slice: Builder.Slice, _ sequence: Builder.Sequence = .init(), pps: [UInt8] = Builder.pps()
  ) throws -> Set<MVCFlattener<Int>.Notice.Kind> {
    let first = Builder.Slice(kind: 2, isIDR: true)
    let units = [sequence.nalUnit, pps, first.nalUnit(sequence), slice.nalUnit(sequence)]
    return try flatten(byteStream(units)).kinds
  }

  private func isSyntax(_ kinds: Set<MVCFlattener<Int>.Notice.Kind>) -> Bool {
    kinds.contains {
      if case .lost(.base, .syntax) = $0 { true } else { false }
    }
  }

  @Test("slice headers with too many references, modifications or marking commands are refused")
  func slices() throws {
    #expect(try notices(.init(frameNum: 1, lsb: 2)).isEmpty)
    for count in [17, 33, 1000] {
      #expect(isSyntax(try notices(.init(frameNum: 1, lsb: 2, count: count))))
    }
    let many = Array(repeating: (0, 0), count: 3)
    #expect(isSyntax(try notices(.init(frameNum: 1, lsb: 2, count: 2, modifications: many))))
    let endless = Array(repeating: [1, 0], count: 100)
    #expect(isSyntax(try notices(.init(frameNum: 1, lsb: 2, marking: endless))))
    #expect(isSyntax(try notices(.init(frameNum: 1, lsb: 2), pps: Builder.pps(defaults: [33, 1]))))
  }

  @Test("marking commands that name nothing do no harm")
  func namelessMarking() throws {
    for marking in [
      [[1, 500]], [[2, 31]], [[3, 7, 15]], [[4, 16], [6, 15]], [[5]], [[6, 3]],
    ] {
      #expect(try notices(.init(frameNum: 1, lsb: 2, marking: marking)).isEmpty)
    }
  }

  @Test("streams that cannot be flattened are refused by a sentence")
  func refused() throws {
    let slice = Builder.Slice(frameNum: 1, lsb: 2)
    #expect(
      try notices(slice, pps: Builder.pps(sliceGroups: 2)).contains(.lost(.base, .sliceGroups)))
    let missing = try notices(slice, pps: Builder.pps(sps: 3))
    #expect(missing.contains(.lost(.base, .missingParameterSet("SPS 3"))))
    let partition: [UInt8] = [0, 0, 1, 0x22, 0x80, 0, 0, 1, 0x22, 0x80]
    #expect(try flatten(partition).kinds == [.lost(.base, .dataPartitioning)])
    for error in [
      MVCError.sliceGroups, .viewCount(3), .scalableVideoCoding, .tooManyReferenceFrames(count: 17),
    ] {
      #expect(error.description.count > 30)
    }
  }

  @Test("SVC and views of another size are refused, and the base view continues")
  func otherStreams() throws {
    let sequence = Builder.Sequence()
    let base = Builder.Slice(kind: 2, isIDR: true).nalUnit(sequence)
    let svc: [UInt8] = [0x74, 0x80, 0, 0x07, 0x88, 0x84, 0x21]
    var flat = try flatten(byteStream([sequence.nalUnit, Builder.pps(), base, svc]))
    #expect(flat.pictures.map(\.view) == [.base])
    #expect(flat.kinds == [.lost(.dependent, .scalableVideoCoding)])
    let wide = Builder.Sequence(
      profile: 128, widthInMBsMinus1: 1, views: (2, [1, 0, 1, 0]))
    let dependent = Builder.Slice(view: 1, isIDR: true).nalUnit(wide)
    flat = try flatten(
      byteStream([sequence.nalUnit, wide.nalUnit, Builder.pps(), base, dependent]))
    #expect(flat.pictures.map(\.view) == [.base])
    #expect(flat.kinds == [.lost(.dependent, .differentParameters("size"))])
  }

  @Test("an access unit without end exceeds the budget, and the stream can continue")
  func budget() throws {
    var flattener = MVCFlattener<Int>(framing: .annexB, budget: 1000)
    let endless: [UInt8] = [0, 0, 1, 0x65] + Array(repeating: 0xFF, count: 2000)
    #expect(throws: MVCError.budgetExceeded(limit: 1000)) {
      try flattener.push(endless.span.bytes, alignment: .none, stamp: 0)
    }
    let sequence = Builder.Sequence()
    let units = [
      sequence.nalUnit, Builder.pps(), Builder.Slice(kind: 2, isIDR: true).nalUnit(sequence),
    ]
    var flat = Flattened()
    flat.add(
      try flattener.push(byteStream(units).span.bytes, alignment: .accessUnit, stamp: 1))
    flat.add(flattener.end())
    #expect(flat.pictures.map(\.stamp) == [1])
  }

  @Test("lengths that are wrong are an error")
  func lengths() throws {
    var flattener = MVCFlattener<Int>(framing: .lengthPrefixed(lengthSize: 4))
    let bytes: [UInt8] = [0, 0, 1, 0, 5]
    let error = #expect(throws: MVCError.self) {
      try flattener.push(bytes.span.bytes, alignment: .accessUnit, stamp: 0)
    }
    guard case .lengths? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  // MARK: Damage

  static let damaged = [
    "b2-cavlc.264", "field-b2-temporal.264", "paff-mbaff-h7-slices.264", "p-longterm.264",
    "h7-reorder.264", "p-poc1.264", "b2-matrix.264", "corner-h7-cabac-nonref.264",
  ]

  @Test(
    "a stream cut short at any place",
    .enabled(if: MVCMedia.isThere, "the folder ../shared/mvc-media is absent"), .tags(.long),
    arguments: damaged.sampled(4))
  func truncated(name: String) throws {
    let bytes = try MVCMedia.bytes(name)
    for count in stride(from: 0, to: min(bytes.count, 6000), by: 13) {
      run(Array(bytes.prefix(count)))
    }
  }

  @Test(
    "a stream with wrong bits",
    .enabled(if: MVCMedia.isThere, "the folder ../shared/mvc-media is absent"),
    .tags(.exhaustive), arguments: damaged)
  func flipped(name: String) throws {
    let bytes = try MVCMedia.bytes(name)
    let starts = nalUnitStarts(bytes)
    var dice = Dice(UInt64(bytes.count))
    for _ in 0..<400 {
      var changed = bytes
      for _ in 0...dice.next(below: 4) {
        // Near the beginning of a NAL unit, where the headers are.
        let start = starts[dice.next(below: starts.count)]
        let place = min(start + dice.next(below: 24), bytes.count - 1)
        changed[place] ^= 1 << UInt8(dice.next(below: 8))
      }
      run(changed)
    }
  }

  @Test(
    "NAL units lost, repeated and in another order",
    .enabled(if: MVCMedia.isThere, "the folder ../shared/mvc-media is absent"), .tags(.long),
    arguments: damaged.sampled(4))
  func shuffled(name: String) throws {
    let units = nalUnits(try MVCMedia.bytes(name))
    var dice = Dice(UInt64(units.count))
    for _ in 0..<100 {
      var changed = units
      for _ in 0...dice.next(below: 6) {
        let place = dice.next(below: changed.count)
        switch dice.next(below: 3) {
        case 0: changed.remove(at: place)
        case 1: changed.insert(changed[dice.next(below: changed.count)], at: place)
        default: changed.swapAt(place, dice.next(below: changed.count))
        }
      }
      run(byteStream(changed))
    }
  }

  private func nalUnitStarts(_ bytes: [UInt8]) -> [Int] {
    bytes.indices.dropLast(3).filter { bytes[$0] == 0 && bytes[$0 + 1] == 0 && bytes[$0 + 2] == 1 }
      .map { $0 + 3 }
  }
}

extension MVCStreamBuilder.Sequence: CustomTestStringConvertible {
  var testDescription: String { "\(self)" }
}
