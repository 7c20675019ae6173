// SPDX-License-Identifier: MPL-2.0

import HEVC

/// A decoder of single-layer streams that decodes no sample, but takes every rule of H.265 about
/// reference pictures and the picture buffer at its word: POCs (8.3.1), reference picture sets
/// (8.3.2), and output order (C.5.2). It stands for decoders that are less lenient than FFmpeg's.
struct StrictDecoder {
  /// Rules that were broken, with the picture.
  private(set) var violations: [String] = []
  /// The pictures that were output: number of the coded video sequence, and POC.
  private(set) var outputs: [(sequence: Int, poc: Int)] = []

  /// Number of pictures that the stream discards without output, after an end of sequence.
  private(set) var discardedCount = 0

  private struct Picture {
    var poc: Int
    var temporalID: UInt8
    var isSubLayerNonReference: Bool
    var isReference = true
    var isLongTerm = false
    var waitsForOutput: Bool
    var latency = 0
  }

  /// Whether pictures have to come out in the order of their POCs.
  private let ordersOutput: Bool
  private var sets = ParameterSetStore()
  private var buffer: [Picture] = []
  private var previousTID0POC = 0
  private var sequence = -1
  private var associatedIRAP = 0
  private var isAtSequenceStart = true
  private var bounds = VideoParameterSet.SubLayerOrdering(
    maxDecPicBufferingMinus1: 0, maxNumReorderPics: 0, maxLatencyIncreasePlus1: 0)

  /// Decodes a whole byte stream.
  ///
  /// - Parameter ordersOutput: with the pictures of two layers in one stream there is no order of
  ///   output that a stream could promise.
  init(_ stream: [UInt8], ordersOutput: Bool = true) throws {
    self.ordersOutput = ordersOutput
    for unit in try accessUnits(of: stream) {
      var isFirst = true
      for range in unit.nalUnits {
        let nalUnit = Array(unit.bytes[range])
        guard let header = NALUnitHeader(nalUnit.span.bytes) else { continue }
        _ = try sets.add(nalUnit.span.bytes)
        if header.type.isVCL {
          let slice = try SliceSegmentHeader(nalUnit: nalUnit.span.bytes, sets: sets)
          if isFirst { try decode(slice) }
          isFirst = false
        } else if header.type == .endOfSequence || header.type == .endOfBitstream {
          isAtSequenceStart = true
        }
      }
    }
    while bump() {}
  }

  private mutating func check(_ isRight: Bool, _ poc: Int, _ rule: String) {
    if !isRight { violations.append("picture \(sequence):\(poc): \(rule)") }
  }

  private mutating func decode(_ slice: SliceSegmentHeader) throws {
    guard let pps = sets.pictureParameterSet(slice.pictureParameterSetID, layer: 0),
      let sps = sets.sequenceParameterSet(pps.sequenceParameterSetID, layer: 0),
      let ordering = sps.dpb
    else { return }
    let type = slice.header.type
    let begins = type.isIRAP && (type.isIDR || type.isBLA || isAtSequenceStart)
    if begins {
      // NoOutputOfPriorPicsFlag (C.5.2.2)
      if type == .cra || slice.noOutputOfPriorPictures {
        discardedCount += buffer.count { $0.waitsForOutput }
      } else {
        while bump() {}
      }
      buffer = []
      sequence += 1
      bounds = ordering
    }
    check(sequence >= 0, slice.pocLSB, "the stream does not begin at a random access point")
    let size = 1 << sps.log2MaxPOCLSB
    let poc = begins ? slice.pocLSB : picOrderCount(slice.pocLSB, size)
    if slice.header.temporalID == 0, !type.isRADL, !type.isRASL, !type.isSubLayerNonReference {
      previousTID0POC = poc
    }
    isAtSequenceStart = false
    if type.isIRAP {
      associatedIRAP = poc
      check(
        slice.shortTermSet.usedCount == 0
          && !slice.longTermEntries.contains(where: \.isUsedByCurrentPicture),
        poc, "is a random access point with references")
    } else {
      check(type == .trailR || type == .trailN, poc, "is of type \(type)")
      check(poc > associatedIRAP, poc, "is a trailing picture that precedes its IRAP picture")
    }
    deriveReferences(slice, poc, size)
    makeRoom(poc)
    check(!buffer.contains { $0.poc == poc }, poc, "has the POC of another picture in the buffer")
    let current = Picture(
      poc: poc, temporalID: slice.header.temporalID,
      isSubLayerNonReference: type.isSubLayerNonReference, waitsForOutput: slice.isOutput)
    if slice.isOutput {
      for index in buffer.indices where buffer[index].waitsForOutput { buffer[index].latency += 1 }
    }
    buffer.append(current)
    while mustBump, bump() {}
  }

  private func picOrderCount(_ lsb: Int, _ size: Int) -> Int {
    let last = previousTID0POC & (size - 1)
    var msb = previousTID0POC - last
    if lsb < last, last - lsb >= size / 2 { msb += size }
    if lsb > last, lsb - last > size / 2 { msb -= size }
    return msb + lsb
  }

  // MARK: Reference picture sets (8.3.2)

  private mutating func deriveReferences(_ slice: SliceSegmentHeader, _ poc: Int, _ size: Int) {
    let entries = slice.shortTermSet.negative + slice.shortTermSet.positive
    check(
      entries.count + slice.longTermEntries.count <= bounds.maxDecPicBufferingMinus1, poc,
      "names \(entries.count + slice.longTermEntries.count) reference pictures")
    var kept: Set<Int> = []
    for entry in slice.longTermEntries {
      var found = buffer.indices.filter {
        buffer[$0].isReference && buffer[$0].poc & (size - 1) == entry.pocLSB
      }
      if let cycle = entry.deltaPOCMSBCycle {
        let full = poc - cycle * size - (poc & (size - 1)) + entry.pocLSB
        found = found.filter { buffer[$0].poc == full }
      }
      check(found.count <= 1, poc, "names several pictures by LSBs \(entry.pocLSB)")
      guard let index = found.first else {
        check(!entry.isUsedByCurrentPicture, poc, "refers to a lost long-term \(entry.pocLSB)")
        continue
      }
      checkUse(entry.isUsedByCurrentPicture, of: buffer[index], slice, poc)
      buffer[index].isLongTerm = true
      kept.insert(index)
    }
    for entry in entries {
      let wanted = poc + entry.deltaPOC
      guard let index = buffer.firstIndex(where: { $0.isReference && $0.poc == wanted }) else {
        check(!entry.isUsedByCurrentPicture, poc, "refers to a lost short-term \(wanted)")
        continue
      }
      check(!kept.contains(index), poc, "names \(wanted) twice")
      check(!buffer[index].isLongTerm, poc, "takes the long-term \(wanted) for a short-term one")
      checkUse(entry.isUsedByCurrentPicture, of: buffer[index], slice, poc)
      if !buffer[index].isLongTerm { kept.insert(index) }
    }
    for index in buffer.indices where !kept.contains(index) { buffer[index].isReference = false }
  }

  private mutating func checkUse(
    _ isUsed: Bool, of picture: Picture, _ slice: SliceSegmentHeader, _ poc: Int
  ) {
    if !slice.header.type.isIRAP, poc > associatedIRAP {
      check(picture.poc >= associatedIRAP, poc, "names \(picture.poc) before its IRAP picture")
    }
    guard isUsed else { return }
    check(
      picture.temporalID <= slice.header.temporalID, poc, "refers to a higher sub-layer")
    check(
      !picture.isSubLayerNonReference || picture.temporalID < slice.header.temporalID, poc,
      "refers to the non-reference picture \(picture.poc)")
  }

  // MARK: The picture buffer (C.5.2)

  private var mustBump: Bool {
    let waiting = buffer.filter(\.waitsForOutput)
    let latency = bounds.maxLatencyIncreasePlus1
    return waiting.count > bounds.maxNumReorderPics
      || latency > 0
        && waiting.contains { $0.latency >= bounds.maxNumReorderPics + latency - 1 }
  }

  private mutating func makeRoom(_ poc: Int) {
    buffer.removeAll { !$0.isReference && !$0.waitsForOutput }
    while mustBump || buffer.count > bounds.maxDecPicBufferingMinus1 {
      guard bump() else { break }
    }
    check(
      buffer.count <= bounds.maxDecPicBufferingMinus1, poc,
      "finds \(buffer.count) pictures in a buffer of \(bounds.maxDecPicBufferingMinus1 + 1)")
  }

  /// Outputs the first picture; false where none waits.
  private mutating func bump() -> Bool {
    let waiting = buffer.indices.filter { buffer[$0].waitsForOutput }
    guard let first = waiting.min(by: { buffer[$0].poc < buffer[$1].poc }) else { return false }
    let poc = buffer[first].poc
    if ordersOutput, let last = outputs.last, last.sequence == sequence {
      check(poc > last.poc, poc, "comes out after \(last.poc)")
    }
    outputs.append((sequence, poc))
    buffer[first].waitsForOutput = false
    buffer.removeAll { !$0.isReference && !$0.waitsForOutput }
    return true
  }
}
