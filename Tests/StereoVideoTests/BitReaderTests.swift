// SPDX-License-Identifier: MPL-2.0

import StereoVideo
import Testing

/// Fields are read as the descriptors of H.265 (7.2, 9.2) say, and never outside of the data.
struct BitReaderTests {
  private func reader(_ bytes: [UInt8], position: Int = 0) -> BitReader {
    BitReader(bytes, structure: "test_structure", position: position)
  }

  @Test("u(n) of every length at every position has the bits that are there")
  func unsigned() throws {
    let bytes: [UInt8] = [0xB3, 0x0F, 0xC5, 0x5A, 0x81, 0x7E]
    let bits = bytes.flatMap { byte in (0..<8).map { Int(byte >> (7 - $0)) & 1 } }
    for start in 0..<bits.count {
      for count in 0...min(32, bits.count - start) {
        var reader = reader(bytes, position: start)
        let expected = bits[start..<start + count].reduce(0) { $0 << 1 | $1 }
        #expect(try reader.u(count, "field") == expected)
        #expect(reader.position == start + count)
        #expect(reader.remaining == bits.count - start - count)
      }
    }
  }

  @Test("an element that is cut off is named with its position, and nothing is skipped")
  func endOfData() {
    var reader = reader([0xFF, 0xFF], position: 3)
    for count in [14, 32, 33, -1, .max, .min] {
      let error = #expect(throws: SyntaxError.self) { try reader.u(count, "field") }
      #expect(error?.reason == .endOfData)
      #expect(error?.bitOffset == 3)
      #expect(error?.description == "test_structure: field: the data ends here (at bit 3)")
      if count != 32 {
        #expect(throws: SyntaxError.self) { try reader.skip(count == 33 ? 14 : count, "field") }
      }
      #expect(throws: SyntaxError.self) { try reader.bytes(count, "field") }
      #expect(throws: SyntaxError.self) { try reader.part(count, "field") }
    }
    #expect(reader.position == 3)
  }

  @Test("Exp-Golomb codes have the values of table 9-2 and 9-3")
  func exponentialGolomb() throws {
    let codes: [(bits: [Int], unsigned: Int, signed: Int)] = [
      ([1], 0, 0), ([0, 1, 0], 1, 1), ([0, 1, 1], 2, -1), ([0, 0, 1, 0, 0], 3, 2),
      ([0, 0, 1, 1, 1], 6, -3), ([0, 0, 0, 1, 0, 0, 0], 7, 4),
    ]
    for code in codes {
      var writer = BitWriter()
      for bit in code.bits { writer.u(bit, 1) }
      writer.trailingBits()
      var unsigned = reader(writer.bytes)
      #expect(try unsigned.ue("field") == code.unsigned)
      var signed = reader(writer.bytes)
      #expect(try signed.se("field") == code.signed)
      #expect(signed.position == code.bits.count)
    }
    // 2^32 - 2 is the largest value that there is; a longer code is none.
    var largest = reader([0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF])
    #expect(throws: SyntaxError.self) { try largest.ue("field") }
    largest = reader([0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE])
    #expect(try largest.ue("field") == 0xFFFF_FFFE)
  }

  @Test("a value outside its range is reported with the range and the element's position")
  func range() {
    var reader = reader([0b0010_0111, 0xFF])
    let error = #expect(throws: SyntaxError.self) { try reader.ue("field", in: 0...2) }
    #expect(error?.reason == .outOfRange(value: 3, allowed: 0...2))
    #expect(error?.bitOffset == 0)
    #expect(throws: SyntaxError.self) { try reader.u(3, "field", in: 0...6) }
    #expect(throws: SyntaxError.self) { try reader.se("field", in: 3...4) }
  }

  @Test("a part ends at its end, and the reader continues after it")
  func parts() throws {
    var outer = reader([1, 2, 3, 4])
    #expect(try outer.u(8, "first") == 1)
    var part = try outer.part(2, "part")
    #expect(try part.bytes(2, "content") == [2, 3])
    #expect(throws: SyntaxError.self) { try part.u(1, "beyond") }
    #expect(try outer.u(8, "last") == 4)
    #expect(outer.remaining == 0)

    var middle = BitReader([0x80, 0x90, 0x80], in: 1..<2, structure: "test_structure")
    #expect(middle.position == 8)
    #expect(middle.trailingBitsPosition == 11)
    #expect(try middle.u(8, "field") == 0x90)
    #expect(throws: SyntaxError.self) { try middle.flag("beyond") }
    #expect(BitReader([1], in: 5..<9, structure: "test_structure").remaining == 0)
  }

  @Test("syntax elements follow up to the trailing bits")
  func trailingBits() throws {
    var reader = reader([0b1010_1000, 0, 0])
    #expect(reader.trailingBitsPosition == 4)
    #expect(reader.moreRBSPData)
    try reader.skip(4, "field")
    #expect(!reader.moreRBSPData)
    #expect(throws: SyntaxError.self) { try BitReader([0x40], structure: "").aligned() }
    #expect(try BitReader([0x80, 7], structure: "").aligned() == 8)
    #expect(!self.reader([0, 0]).moreRBSPData)
    #expect(!self.reader([]).moreRBSPData)
  }
}

extension BitReader {
  /// The position after `byte_alignment()`.
  fileprivate func aligned() throws(SyntaxError) -> Int {
    var reader = self
    try reader.byteAlignment()
    return reader.position
  }
}
