// SPDX-License-Identifier: MPL-2.0

import StereoVideo
import Testing

/// What is written is what is read.
struct BitWriterTests {
  private enum Field {
    case u(Int, Int)
    case ue(Int)
    case bytes([UInt8])
    case zeros

    static func random(_ generator: inout some RandomNumberGenerator) -> Field {
      switch Int.random(in: 0..<4, using: &generator) {
      case 0:
        let count = Int.random(in: 0...32, using: &generator)
        return .u(Int.random(in: 0..<1 << count, using: &generator), count)
      case 1:
        let length = Int.random(in: 0...32, using: &generator)
        return .ue(Int.random(in: 0...min(1 << length, 0xFFFF_FFFE), using: &generator))
      case 2:
        return .bytes(
          (0..<Int.random(in: 0...9, using: &generator)).map { _ in
            UInt8.random(in: 0...255, using: &generator)
          })
      default: return .zeros
      }
    }
  }

  @Test("random fields come back as they were written, aligned or not")
  func roundTrip() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<300 {
      let fields = (0..<40).map { _ in Field.random(&generator) }
      var writer = BitWriter()
      for field in fields {
        switch field {
        case .u(let value, let count): writer.u(value, count)
        case .ue(let value): writer.ue(value)
        case .bytes(let bytes): writer.write(bytes)
        case .zeros: writer.alignWithZeros()
        }
      }
      let count = writer.bitCount
      writer.trailingBits()
      var reader = BitReader(writer.bytes, structure: "fields")
      for field in fields {
        switch field {
        case .u(let value, let count): #expect(try reader.u(count, "u") == value)
        case .ue(let value): #expect(try reader.ue("ue") == value)
        case .bytes(let bytes):
          for byte in bytes { #expect(try reader.u(8, "byte") == Int(byte)) }
        case .zeros: #expect(try reader.u(-reader.position & 7, "zeros") == 0)
        }
      }
      #expect(reader.position == count)
      try reader.byteAlignment()
      #expect(reader.remaining == 0)
    }
  }

  @Test("only the requested bits of a value are written, for any size or sign")
  func masks() {
    var writer = BitWriter()
    writer.u(-1, 3)
    writer.u(.max, 1)
    writer.u(0x1F0, 4)
    #expect(writer.bytes == [0xF0])
    writer.alignWithOnes()
    #expect(writer.bytes == [0xF0])
    writer.flag(false)
    writer.alignWithOnes()
    #expect(writer.bytes == [0xF0, 0x7F])
  }

  @Test("bits of another array are copied as they are")
  func copies() throws {
    let source: [UInt8] = [0x12, 0x34, 0x56, 0x78]
    for start in 0..<32 {
      for end in start...32 {
        var writer = BitWriter()
        writer.flag(true)
        writer.copy(start..<end, of: source)
        writer.trailingBits()
        var reader = BitReader(writer.bytes, structure: "copy", position: 1)
        var original = BitReader(source, structure: "source", position: start)
        #expect(try reader.u(end - start, "bits") == original.u(end - start, "bits"))
      }
    }
  }
}

/// Numbers lie in bytes with the most significant one first.
struct BigEndianTests {
  @Test("a number comes back, at any place, and none from outside of the bytes")
  func numbers() {
    var bytes: [UInt8] = [9]
    bytes.append(bigEndian: 0x0102_0304 as UInt32)
    bytes.append(bigEndian: -2 as Int16)
    #expect(bytes == [9, 1, 2, 3, 4, 0xFF, 0xFE])
    #expect(bytes.bigEndian(at: 1, as: UInt32.self) == 0x0102_0304)
    #expect(bytes.bigEndian(at: 5, as: Int16.self) == -2)
    #expect(bytes.bigEndian(at: 6, as: UInt8.self) == 0xFE)
    for offset in [6, 7, -1, .min, .max, .max - 1] {
      #expect(bytes.bigEndian(at: offset, as: UInt16.self) == nil)
    }
    #expect([UInt8]().bigEndian(at: 0, as: UInt8.self) == nil)
  }
}
