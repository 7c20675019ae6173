// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Testing

@Suite("Configurations of audio codings, as movies and as streams have them")
struct AudioConfigurationTests {
  /// Stereo, PreSkip 312, 44100 Hz, a gain of -256.
  private static let dOps: [UInt8] = [0, 2, 1, 0x38, 0, 0, 0xAC, 0x44, 0xFF, 0, 0]
  private static let opusHead: [UInt8] =
    Array("OpusHead".utf8) + [1, 2, 0x38, 1, 0x44, 0xAC, 0, 0, 0, 0xFF, 0]

  @Test("dOps and the header of Ogg are the same with other byte orders")
  func opus() {
    #expect(OpusHead.header(dOps: Self.dOps) == Self.opusHead)
    #expect(OpusHead.dOps(header: Self.opusHead) == Self.dOps)
    // A channel mapping table stays as it is.
    let table: [UInt8] = [4, 2, 0, 4, 1, 2, 3, 5]
    let dOps = Array(Self.dOps.dropLast()) + [1] + table
    let head = Array(Self.opusHead.dropLast()) + [1] + table
    #expect(OpusHead.header(dOps: dOps) == head)
    #expect(OpusHead.dOps(header: head) == dOps)
  }

  @Test("truncated data is no Opus configuration", arguments: 0..<19)
  func shortOpus(count: Int) {
    #expect(OpusHead.dOps(header: Array(Self.opusHead.prefix(count))) == nil)
    #expect((OpusHead.header(dOps: Array(Self.dOps.prefix(count))) == nil) == (count < 11))
  }

  @Test("metadata blocks of FLAC are Ogg's header packets without Ogg's prefixes")
  func flac() throws {
    let information: [UInt8] = [0, 0, 0, 34] + Array(repeating: 7, count: 34)
    let blocks = information + [0x84, 0, 0, 2, 8, 9]
    let packets = FLACHeaders.packets(metadataBlocks: blocks)
    #expect(packets.count == 2)
    let start = [0x7F] + Array("FLAC".utf8) + [1, 0, 0, 1] + Array("fLaC".utf8)
    #expect(packets.first == start + information)
    #expect(packets.last == [0x84, 0, 0, 2, 8, 9])
    #expect(FLACHeaders.metadataBlocks(packets: packets) == blocks)
    // A file of its own.
    #expect(
      FLACHeaders.metadataBlocks(packets: [Array("fLaC".utf8) + information])
        == [0x80] + information.dropFirst())
    #expect(FLACHeaders.packets(metadataBlocks: Array(blocks.dropLast())).count == 1)
    #expect(FLACHeaders.packets(metadataBlocks: []).isEmpty)
    #expect(FLACHeaders.metadataBlocks(packets: [[0x84, 0, 0, 2, 8, 9]]) == nil)
  }

  @Test("a configuration of ALAC is found with and without its box")
  func alac() {
    let cookie = (0..<24).map { UInt8($0) }
    let box = ALACBox.box(magicCookie: cookie)
    let head: [UInt8] = [0, 0, 0, 36] + Array("alac".utf8) + [0, 0, 0, 0]
    #expect(box == head + cookie)
    #expect(ALACBox.magicCookie(box) == cookie)
    #expect(ALACBox.magicCookie(cookie) == cookie)
    #expect(ALACBox.magicCookie(Array(cookie.dropLast())) == nil)
    #expect(ALACBox.magicCookie(Array(box.dropLast())) == nil)
  }
}
