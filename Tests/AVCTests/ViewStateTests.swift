// SPDX-License-Identifier: MPL-2.0

import AVC
import StereoVideo
import TestKit
import Testing

/// Marking and picture order counts that no stream at hand has, on headers made for it.
@Suite("Decoding process of a view") struct ViewStateTests {
  typealias Builder = MVCStreamBuilder

  private func flatten(
    _ sequence: Builder.Sequence, _ slices: [Builder.Slice]
  ) throws -> (flat: Flattened, decoder: StrictDecoder) {
    let units = [sequence.nalUnit, Builder.pps()] + slices.map { $0.nalUnit(sequence) }
    let flat = try AVCTests.flatten(byteStream(units))
    return (flat, try StrictDecoder(flat.bytes))
  }

  /// Picture order counts in decoding order, from their places in the order of output.
  private func counts(_ decoder: StrictDecoder) -> [Int] { decoder.frames.map(\.count) }

  @Test("pic_order_cnt_lsb wraps around in both directions")
  func wrapping() throws {
    let sequence = Builder.Sequence(log2MaxLSBMinus4: 0)
    let lsbs = [0, 8, 4, 14, 12, 4, 2, 10]
    let slices = lsbs.enumerated().map { index, lsb in
      Builder.Slice(
        kind: index == 0 ? 2 : 0, isIDR: index == 0, refIDC: index & 1 == 1 || index == 0 ? 1 : 0,
        frameNum: (index + 1) / 2, lsb: lsb)
    }
    let (flat, decoder) = try flatten(sequence, slices)
    #expect(decoder.violations.isEmpty)
    #expect(flat.pictures.map(\.orderCount) == [0, 8, 4, 14, 12, 20, 18, 26])
  }

  @Test("operation 5 removes all references, and counts continue")
  func removeAll() throws {
    let slices = [
      Builder.Slice(kind: 2, isIDR: true), .init(frameNum: 1, lsb: 2),
      .init(frameNum: 2, lsb: 4, marking: [[5]]), .init(frameNum: 1, lsb: 2),
      .init(frameNum: 2, lsb: 4, count: 2),
    ]
    let (flat, decoder) = try flatten(.init(), slices)
    #expect(decoder.violations.isEmpty)
    #expect(flat.pictures.map(\.orderCount) == [0, 2, 4, 6, 8])
    #expect(flat.notices.isEmpty)
  }

  @Test("pic_order_cnt_type 1 and 2 become 0")
  func types() throws {
    var sequence = Builder.Sequence(orderCountType: 1, cycle: [2, 4])
    var slices = [Builder.Slice(kind: 2, isIDR: true, lsb: nil)]
    for number in 1...20 { slices.append(.init(frameNum: number & 15, lsb: nil)) }
    var result = try flatten(sequence, slices)
    #expect(result.decoder.violations.isEmpty)
    #expect(counts(result.decoder).prefix(6) == [0, 2, 6, 8, 12, 14])
    #expect(counts(result.decoder).last == 60)
    sequence = Builder.Sequence(orderCountType: 2)
    result = try flatten(sequence, slices)
    #expect(result.decoder.violations.isEmpty)
    #expect(counts(result.decoder) == (0...20).map { 2 * $0 })
  }

  @Test("a gap of frame_num pushes references out")
  func gap() throws {
    let sequence = Builder.Sequence(referenceFrames: 2, allowsGaps: true)
    let slices = [
      Builder.Slice(kind: 2, isIDR: true), .init(frameNum: 1, lsb: 2),
      // 2 and 3 are missing; the list is 3, 2, neither of which exists.
      .init(frameNum: 4, lsb: 8, count: 2), .init(frameNum: 5, lsb: 10, count: 2),
    ]
    let (flat, decoder) = try flatten(sequence, slices)
    #expect(flat.pictures.count == 4)
    // Nothing is left to refer to in the third picture; in the fourth, there is one.
    #expect(decoder.violations == ["frame 2: 0 of 2 entries of a list"])
  }

  @Test("a PPS that changes between pictures is sent again, a repeated one is not")
  func changedPPS() throws {
    let sequence = Builder.Sequence()
    var units = [sequence.nalUnit]
    let sets = [Builder.pps(), Builder.pps(), Builder.pps(bipred: 2), Builder.pps(), Builder.pps()]
    for (number, set) in sets.enumerated() {
      units.append(set)
      units.append(
        Builder.Slice(
          kind: number == 0 ? 2 : 0, isIDR: number == 0, frameNum: number, lsb: 2 * number
        ).nalUnit(sequence))
    }
    let flat = try AVCTests.flatten(byteStream(units))
    #expect(try StrictDecoder(flat.bytes).violations.isEmpty)
    let sent = flat.pictures.map { nalUnits($0.bytes).filter { type($0) == 8 } }
    #expect(sent.map(\.count) == [1, 0, 1, 1, 0])
    #expect(sent[0] == sent[3] && sent[0] != sent[2])
  }

  @Test("odd counts double the numbers")
  func odd() throws {
    var slices = [Builder.Slice(kind: 2, isIDR: true)]
    for number in 1...9 { slices.append(.init(frameNum: number, lsb: number)) }
    let (flat, decoder) = try flatten(.init(), slices)
    #expect(decoder.violations.isEmpty)
    #expect(flat.pictures.map(\.orderCount) == (0...9).map { 2 * $0 })
    // A stream that was shifted says so, and changes at the next IDR picture.
    for index in 1...9 { slices[index].lsb = 2 * index }
    slices += (10...12).map { .init(frameNum: $0, lsb: 2 * $0 - 1) }
    slices += [.init(kind: 2, isIDR: true), .init(frameNum: 1, lsb: 1)]
    let changed = try flatten(.init(), slices)
    #expect(changed.flat.kinds == [.warning(.oddPictureOrderCount)])
    #expect(changed.flat.pictures.suffix(2).map(\.orderCount) == [0, 2])
  }

  @Test("references of the two views stay apart, and the base picture is appended")
  func bothViews() throws {
    let sequence = Builder.Sequence(referenceFrames: 1)
    let subset = Builder.Sequence(profile: 128, referenceFrames: 1, views: (2, [1, 1, 1, 1]))
    var units = [sequence.nalUnit, subset.nalUnit, Builder.pps()]
    for number in 0..<10 {
      units.append(
        Builder.Slice(
          kind: number == 0 ? 2 : 0, isIDR: number == 0, frameNum: number, lsb: 2 * number
        ).nalUnit(sequence))
      // The inter-view reference first: modification_of_pic_nums_idc 5.
      units.append(
        Builder.Slice(
          view: 1, isIDR: number == 0, frameNum: number, lsb: 2 * number,
          count: number == 0 ? 1 : 2, modifications: number == 0 ? [] : [(5, 0)]
        ).nalUnit(subset))
    }
    let flat = try AVCTests.flatten(byteStream(units))
    let decoder = try StrictDecoder(flat.bytes)
    #expect(decoder.violations.isEmpty)
    #expect(flat.notices.isEmpty)
    #expect(decoder.frames.map(\.count) == Array(0..<20))
    // The base picture of the access unit is the picture before, the other one two pictures before.
    var store = ParameterSetStore()
    for unit in nalUnits(flat.pictures[5].bytes + flat.pictures[0].bytes + flat.pictures[1].bytes)
    where [7, 8].contains(type(unit)) {
      try store.add(unit.span.bytes)
    }
    let slice = try #require(nalUnits(flat.pictures[5].bytes).first { type($0) == 1 })
    let header = try SliceHeader(nalUnit: slice.span.bytes, store: &store)
    #expect(header.modifications == [[.shortTerm(difference: -1), .shortTerm(difference: -1)]])
  }

  @Test("more reference frames than a decoder holds cost the dependent view, not the base view")
  func tooMany() throws {
    let sequence = Builder.Sequence(log2MaxFrameNumMinus4: 4, referenceFrames: 12)
    let subset = Builder.Sequence(
      profile: 128, log2MaxFrameNumMinus4: 4, referenceFrames: 12, views: (2, [1, 0, 0, 0]))
    var units = [sequence.nalUnit, subset.nalUnit, Builder.pps()]
    for number in 0..<30 {
      for view in 0..<2 {
        let isFirst = number % 20 == 0
        units.append(
          Builder.Slice(
            kind: isFirst && view == 0 ? 2 : 0, view: view, isIDR: isFirst,
            frameNum: number % 20, lsb: 2 * (number % 20)
          ).nalUnit(view == 0 ? sequence : subset))
      }
    }
    let flat = try AVCTests.flatten(byteStream(units))
    #expect(try StrictDecoder(flat.bytes).violations.isEmpty)
    #expect(flat.pictures.count { $0.view == .base } == 30)
    let dependents = flat.pictures.filter { $0.view == .dependent }.map(\.accessUnit)
    #expect(dependents == Array(0..<8) + Array(20..<28))
    #expect(flat.kinds.contains(.lost(.dependent, .tooManyReferenceFrames(count: 17))))
  }
}
