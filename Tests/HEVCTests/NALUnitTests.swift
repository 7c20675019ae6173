// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import Testing

@Suite("NAL units") struct NALUnitTests {
  @Test("start codes of three and four bytes and trailing zeros are no part of a NAL unit")
  func annexB() {
    let stream: [UInt8] = [
      9, 0, 0, 1, 0x40, 1, 7, 0, 0, 0, 1, 0x42, 1, 0, 0, 0, 0, 0, 1, 0x44, 1, 5, 0, 0,
    ]
    let units = AnnexB.nalUnits(in: stream.span.bytes)
    #expect(units == [4..<7, 11..<13, 19..<22])
  }

  @Test("a start code is found at every position")
  func startCodeEverywhere() {
    for count in 3..<100 {
      for place in 0...count - 3 {
        var bytes = [UInt8](repeating: 0xFF, count: count)
        bytes.replaceSubrange(place..<place + 3, with: [0, 0, 1])
        #expect(AnnexB.startCode(in: bytes.span.bytes, from: 0) == place)
        #expect(AnnexB.startCode(in: bytes.span.bytes, from: place + 1) == nil)
      }
    }
  }

  @Test("zeros without end are no start code")
  func zeros() {
    let zeros = [UInt8](repeating: 0, count: 1000)
    #expect(AnnexB.nalUnits(in: zeros.span.bytes).isEmpty)
  }

  @Test("length-prefixed NAL units are found for each size of length", arguments: [1, 2, 4])
  func lengths(size: Int) throws {
    func prefix(_ length: UInt8) -> [UInt8] { Array(repeating: 0, count: size - 1) + [length] }
    let sample = prefix(3) + [1, 2, 3] + prefix(0) + prefix(2) + [4, 5]
    let units = try LengthPrefixed.nalUnits(in: sample.span.bytes, lengthSize: size)
    #expect(units.map { Array(sample[$0]) } == [[1, 2, 3], [4, 5]])
  }

  @Test("a length past the end of the sample is refused with its place")
  func badLength() {
    let sample: [UInt8] = [0, 0, 0, 1, 9, 0, 0, 1, 0, 1]
    let past = #expect(throws: LengthPrefixed.Malformed.self) {
      try LengthPrefixed.nalUnits(in: sample.span.bytes)
    }
    #expect(past?.offset == 5)
    #expect(past?.length == 256)
    let inside = #expect(throws: LengthPrefixed.Malformed.self) {
      try LengthPrefixed.nalUnits(in: Array(sample.prefix(3)).span.bytes)
    }
    #expect(inside?.offset == 0)
    #expect(inside?.length == nil)
  }

  @Test("more NAL units than any access unit has are refused, however small they are")
  func tooMany() throws {
    let most = NALUnitFraming.maximumUnitCount
    func stream(_ count: Int) -> [UInt8] { (0..<count).flatMap { _ in [0, 0, 1, 2] as [UInt8] } }
    func sample(_ count: Int) -> [UInt8] {
      (0..<count).flatMap { _ in [0, 0, 0, 1, 2] as [UInt8] }
    }
    let lengths = NALUnitFraming.lengthPrefixed(lengthSize: 4)
    #expect(try NALUnitFraming.annexB.nalUnits(in: stream(most).span.bytes).count == most)
    #expect(try lengths.nalUnits(in: sample(most).span.bytes).count == most)
    for count in [most + 1, 1_000_000] {
      #expect {
        try NALUnitFraming.annexB.nalUnits(in: stream(count).span.bytes)
      } throws: { ($0 as? LengthPrefixed.Malformed)?.hasTooManyUnits == true }
      #expect {
        try lengths.nalUnits(in: sample(count).span.bytes)
      } throws: { ($0 as? LengthPrefixed.Malformed)?.hasTooManyUnits == true }
    }
    // Any number of parameter sets may come before a picture.
    var assembler = AccessUnitAssembler()
    let sets = (0..<most * 2).flatMap { _ in [0, 0, 1, 0x42, 1, 0xFF] as [UInt8] }
    #expect(throws: AccessUnitAssembler.TooLarge.self) { try assembler.append(sets.span.bytes) }
  }

  @Test("emulation prevention bytes are inserted and removed", arguments: [0, 1, 2, 3, 4])
  func emulation(last: UInt8) {
    let payload: [UInt8] = [0, 0, last, 0, 0, 0, 0, 0, 3, 1, 0, 0, 1, 0x80]
    let unit = RBSP.nalUnit(NALUnitHeader(type: .prefixSEI), payload: payload)
    #expect(AnnexB.startCode(in: unit.span.bytes, from: 0) == nil)
    let rbsp = RBSP(unit)
    #expect(Array(rbsp.bytes.dropFirst(2)) == payload)
    #expect(rbsp.offsetInNALUnit(of: rbsp.bytes.count - 1) == unit.count - 1)
  }

  @Test("access units are the same in chunks of any size", arguments: Stream.allCases)
  func chunks(stream: Stream) throws {
    let bytes = try weave(stream.accessUnits(.left), stream.accessUnits(.right))
    let whole = try accessUnits(of: bytes)
    let pictures = try stream.accessUnits(.left).count
    #expect(whole.count == pictures)
    #expect(whole.flatMap(\.bytes) == bytes)
    for size in [1, 2, 3, 5, 17, 100, 1000] {
      var assembler = AccessUnitAssembler()
      var units: [AccessUnit] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        units += try assembler.append(
          bytes.span.bytes.extracting(start..<min(start + size, bytes.count)))
      }
      units += assembler.finish()
      #expect(units == whole, "in chunks of \(size)")
    }
  }

  @Test("prefix SEI of the base layer between the layers does not cut an access unit")
  func seiBetweenLayers() throws {
    var boundaries = AccessUnitBoundaries()
    func add(_ type: NALUnitType, layer: UInt8 = 0, first: Bool = false) -> Int? {
      boundaries.add(NALUnitHeader(type: type, layerID: layer), isFirstInPicture: first)
    }
    #expect(add(.prefixSEI) == nil)
    #expect(add(.idrNLP, first: true) == nil)
    #expect(add(.prefixSEI) == nil)
    #expect(add(.sequenceParameterSet, layer: 1) == nil)
    #expect(add(.cra, layer: 1, first: true) == nil)
    #expect(add(.suffixSEI, layer: 1) == nil)
    #expect(add(.accessUnitDelimiter) == nil)
    #expect(add(.prefixSEI) == nil)
    #expect(add(.trailR, first: true) == 6)
    #expect(add(.trailR) == nil)
    #expect(add(.trailR, first: true) == 4)
  }

  @Test("a stream without access units is given up at the limit")
  func limit() {
    var assembler = AccessUnitAssembler(limit: 100)
    let chunk: [UInt8] = [0, 0, 1, 0x26, 1] + Array(repeating: 0xFF, count: 200)
    #expect(throws: AccessUnitAssembler.TooLarge.self) {
      try assembler.append(chunk.span.bytes)
    }
  }
}
