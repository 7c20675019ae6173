// SPDX-License-Identifier: MPL-2.0

import AVC

/// A decoder of plain H.264 that decodes no sample, but takes the rules about reference pictures
/// and the picture buffer at their word, where FFmpeg makes do: `frame_num` (7.4.3), picture order
/// counts (8.2.1), list modification (8.2.4.3), marking (8.2.5) and output (C.4). It knows only the
/// tools that flattened streams use: `pic_order_cnt_type` 0, and lists that are modified in full.
struct StrictDecoder {
  /// A frame, or a pair of fields.
  struct Frame {
    /// Number in decoding order.
    var number: Int
    var frameNum: Int
    var sequence: Int
    var counts: [Int?] = [nil, nil]
    /// 0 unused, 1 short-term, 2 long-term, of each field.
    var marks = [0, 0]
    var longIndex = 0
    var isNonReference: Bool

    var count: Int { counts.compactMap { $0 }.min() ?? 0 }
  }

  /// The rules that were broken.
  private(set) var violations: [String] = []
  /// All frames in decoding order.
  private(set) var frames: [Frame] = []
  /// The numbers of the frames in the order of output by "bumping" (C.4.5.3).
  private(set) var output: [Int] = []

  private var store = ParameterSetStore()
  private var last: SliceHeader?
  private var hasDelimiter = false
  private var references: [Int] = []
  private var waiting: [Int] = []
  private var previous = (msb: 0, lsb: 0)
  private var lastReferenceNum = 0
  private var longLimit = 0
  private var sequence = -1
  private var lastIDRPicID: Int?

  init(_ bytes: [UInt8]) throws {
    for unit in nalUnits(bytes) {
      switch type(unit) {
      case 9:
        finishPicture()
        hasDelimiter = true
      case 7, 8:
        try store.add(unit.span.bytes)
      case 1, 5:
        let slice = try SliceHeader(nalUnit: unit.span.bytes, store: &store)
        if let last {
          expect(last.identity == slice.identity, "slices of one picture differ")
          expect(slice.firstMB > last.firstMB, "first_mb_in_slice")
          expect(last.markingCommands == slice.markingCommands, "marking differs in slices")
        } else {
          expect(hasDelimiter, "no access unit delimiter")
          begin(slice)
        }
        hasDelimiter = false
        checkLists(slice)
        last = slice
      case 6: break
      default: expect(false, "NAL unit of type \(type(unit))")
      }
    }
    finishPicture()
    bump(to: 0)
    checkOutput()
  }

  private mutating func expect(_ isRight: Bool, _ what: String) {
    if !isRight { violations.append("frame \(frames.count - 1): \(what)") }
  }

  // MARK: Pictures

  private mutating func begin(_ slice: SliceHeader) {
    let maximum = 1 << slice.sets.sps.log2MaxFrameNum
    if let first = frames.last, case .field(let parity) = slice.structure,
      first.counts[parity.rawValue] == nil, first.frameNum == slice.frameNum, !slice.isIDR,
      first.isNonReference == !slice.isReference
    {
      setCounts(slice)
      return
    }
    if slice.isIDR {
      for number in references { frames[number].marks = [0, 0] }
      references = []
      bump(to: 0)
      sequence += 1
      (previous, lastReferenceNum, longLimit) = ((0, 0), 0, 0)
      expect(slice.identity.idrPicID != lastIDRPicID, "idr_pic_id")
      lastIDRPicID = slice.identity.idrPicID
      expect(slice.frameNum == 0, "frame_num of an IDR picture")
    } else {
      expect(sequence >= 0, "begins without an IDR picture")
      expect(slice.frameNum == (lastReferenceNum + 1) % maximum, "frame_num")
    }
    frames.append(
      Frame(
        number: frames.count, frameNum: slice.frameNum, sequence: sequence,
        isNonReference: !slice.isReference))
    setCounts(slice)
    if slice.isIDR { expect(frames[frames.count - 1].count == 0, "count of an IDR picture") }
  }

  private mutating func setCounts(_ slice: SliceHeader) {
    guard case .sent(let bits) = slice.sets.sps.orderCount else {
      return expect(false, "pic_order_cnt_type")
    }
    let size = 1 << bits
    let lsb = slice.identity.orderCountLSB
    var msb = slice.isIDR ? 0 : previous.msb
    let before = slice.isIDR ? 0 : previous.lsb
    if lsb < before, before - lsb >= size / 2 { msb += size }
    if lsb > before, lsb - before > size / 2 { msb -= size }
    if slice.isReference { previous = (msb, lsb) }
    let index = frames.count - 1
    if case .field(let parity) = slice.structure {
      frames[index].counts[parity.rawValue] = msb + lsb
    } else {
      frames[index].counts = [msb + lsb, msb + lsb + slice.identity.deltaBottom]
    }
  }

  private mutating func finishPicture() {
    guard let slice = last else { return }
    last = nil
    let index = frames.count - 1
    if slice.isReference {
      mark(slice)
      lastReferenceNum = slice.frameNum
    }
    let limit = slice.sets.sps.maxNumRefFrames
    expect(references.count <= limit, "\(references.count) reference frames")
    guard !waiting.contains(index) else { return }
    // C.4.5.2, C.4.5.3: the buffer never holds more frames than it has.
    waiting.append(index)
    let size = slice.sets.sps.vui?.restriction?.frameBuffering ?? 0
    bump(to: slice.sets.sps.vui?.restriction?.reorderFrames ?? 0)
    while Set(references + waiting).count > size, !waiting.isEmpty { bump(to: waiting.count - 1) }
    expect(Set(references + waiting).count <= size, "the picture buffer is full")
  }

  /// Outputs frames until at most `count` wait.
  private mutating func bump(to count: Int) {
    while waiting.count > count {
      let next = waiting.min { frames[$0].count < frames[$1].count } ?? 0
      waiting.removeAll { $0 == next }
      output.append(next)
    }
  }

  private mutating func checkOutput() {
    let wanted = frames.indices.sorted {
      (frames[$0].sequence, frames[$0].count) < (frames[$1].sequence, frames[$1].count)
    }
    if output != wanted { violations.append("the order of output is not that of the counts") }
    let keys = Set(
      frames.flatMap { frame in frame.counts.compactMap { $0.map { [frame.sequence, $0] } } })
    // Both fields of a frame may have the same count.
    let expected = frames.reduce(0) { $0 + Set($1.counts.compactMap { $0 }).count }
    if keys.count != expected { violations.append("two frames have the same count") }
  }

  // MARK: References

  private func picNum(_ frame: Int, _ parity: Int?, _ slice: SliceHeader) -> Int {
    let maximum = 1 << slice.sets.sps.log2MaxFrameNum
    let number = frames[frame].frameNum
    let wrapped = number > slice.frameNum ? number - maximum : number
    guard case .field(let own) = slice.structure, let parity else { return wrapped }
    return 2 * wrapped + (parity == own.rawValue ? 1 : 0)
  }

  private func longTermPicNum(_ frame: Int, _ parity: Int?, _ slice: SliceHeader) -> Int {
    guard case .field(let own) = slice.structure, let parity else { return frames[frame].longIndex }
    return 2 * frames[frame].longIndex + (parity == own.rawValue ? 1 : 0)
  }

  /// The frames or fields with this number, of which there must be one.
  private func named(
    _ mark: Int, _ slice: SliceHeader, _ isNamed: (Int, Int?) -> Bool
  ) -> [(frame: Int, parity: Int?)] {
    references.flatMap { frame -> [(frame: Int, parity: Int?)] in
      let parities: [Int?] = slice.structure.isField ? [0, 1] : [nil]
      return parities.compactMap { parity in
        let marks = parity.map { [frames[frame].marks[$0]] } ?? frames[frame].marks
        return marks.allSatisfy { $0 == mark } && isNamed(frame, parity) ? (frame, parity) : nil
      }
    }
  }

  private mutating func checkLists(_ slice: SliceHeader) {
    let field = slice.structure.isField
    let maximum = (1 << slice.sets.sps.log2MaxFrameNum) * (field ? 2 : 1)
    let current = field ? 2 * slice.frameNum + 1 : slice.frameNum
    for (count, modifications) in zip(slice.activeCounts, slice.modifications) {
      expect(modifications.count == count, "\(modifications.count) of \(count) entries of a list")
      var predicted = current
      for modification in modifications {
        switch modification {
        case .shortTerm(let difference):
          predicted += difference
          if predicted < 0 { predicted += maximum }
          if predicted >= maximum { predicted -= maximum }
          let number = predicted > current ? predicted - maximum : predicted
          let found = named(1, slice) { picNum($0, $1, slice) == number }
          expect(found.count == 1, "\(found.count) short-term references \(number)")
        case .longTerm(let number):
          let found = named(2, slice) { longTermPicNum($0, $1, slice) == number }
          expect(found.count == 1, "\(found.count) long-term references \(number)")
        case .interView: expect(false, "an inter-view reference")
        }
      }
    }
  }

  private mutating func mark(_ slice: SliceHeader) {
    let index = frames.count - 1
    var kind = 1
    let field = slice.structure.isField
    let current = field ? 2 * slice.frameNum + 1 : slice.frameNum
    if slice.isIDR {
      if slice.isLongTermIDR { (kind, longLimit) = (2, 1) }
    } else if let commands = slice.markingCommands {
      for command in commands {
        switch command {
        case .removeShortTerm(let difference):
          unmark(named(1, slice) { picNum($0, $1, slice) == current - difference - 1 })
        case .removeLongTerm(let number):
          unmark(named(2, slice) { longTermPicNum($0, $1, slice) == number })
        case .makeLongTerm(let difference, let longIndex):
          let found = named(1, slice) { picNum($0, $1, slice) == current - difference - 1 }
          expect(found.count == 1 && longIndex < longLimit, "operation 3")
          for (frame, parity) in found {
            takeIndex(longIndex, frame)
            for field in parity.map({ [$0] }) ?? [0, 1] { frames[frame].marks[field] = 2 }
          }
        case .limitLongTerm(let limit):
          expect(limit <= slice.sets.sps.maxNumRefFrames, "operation 4")
          longLimit = limit
        case .makeCurrentLongTerm(let longIndex):
          expect(longIndex < longLimit, "operation 6")
          takeIndex(longIndex, index)
          kind = 2
        case .removeAll: expect(false, "operation 5")
        }
      }
    } else if !references.contains(index) {
      expect(references.count < slice.sets.sps.maxNumRefFrames, "the sliding window acts")
    }
    for parity in slice.structure.parities { frames[index].marks[parity.rawValue] = kind }
    references.removeAll { frames[$0].marks == [0, 0] || $0 == index }
    references.append(index)
  }

  private mutating func takeIndex(_ longIndex: Int, _ frame: Int) {
    expect(
      !references.contains {
        $0 != frame && frames[$0].marks.contains(2) && frames[$0].longIndex == longIndex
      }, "a long-term index is taken from another frame")
    frames[frame].longIndex = longIndex
  }

  private mutating func unmark(_ found: [(frame: Int, parity: Int?)]) {
    expect(found.count == 1, "operation 1 or 2 names \(found.count) pictures")
    for (frame, parity) in found {
      for field in parity.map({ [$0] }) ?? [0, 1] { frames[frame].marks[field] = 0 }
    }
    references.removeAll { frames[$0].marks == [0, 0] }
  }
}
