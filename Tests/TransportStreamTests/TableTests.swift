// SPDX-License-Identifier: MPL-2.0

import StereoVideo
import TestKit
import Testing
import TransportStream

/// Tables say which streams are video, audio and subtitles, and change.
@Suite("Tables of transport streams") struct TableTests {
  typealias Writer = TransportWriter

  private func payload(_ number: UInt8) -> [UInt8] { Array(repeating: 0x80 | number, count: 300) }

  /// Tables of one program.
  private func stream(
    _ streams: [Writer.Stream], descriptors: [UInt8] = [], pid: Int = 0x100
  ) -> Writer {
    var writer = Writer()
    writer.associations([(1, pid)])
    writer.map(streams, pid: pid, descriptors: descriptors)
    writer.pes(0x1011, payload(0), pts: 0)
    return writer
  }

  private func program(_ writer: Writer) throws -> TransportProgram {
    try #require(try read(writer.bytes).programs.first)
  }

  @Test("streams of discs and cameras")
  func disc() throws {
    let types = [0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0xA1, 0xA2, 0x90, 0x91, 0x92, 0x0F, 3]
    let streams =
      [Writer.Stream.base, .dependent]
      + types.enumerated().map { Writer.Stream(type: $1, pid: 0x1100 + $0) }
    let codings: [ElementaryStream.Coding] = [
      .h264, .h264Dependent, .lpcm, .ac3, .dts, .trueHD, .eac3, .dtsHD, .dtsHD, .eac3, .dtsHD,
      .subtitles("PGS"), .subtitles("menus (IGS)"), .subtitles("TextST"), .aac, .mpegAudio,
    ]
    let writer = stream(streams, descriptors: Writer.hdmv)
    let program = try program(writer)
    #expect(program.streams.map(\.coding) == codings)
    #expect(program.streams.map(\.streamType) == [0x1B, 0x20] + types)
    #expect(program.streams[10].identity == .audio(8))
    #expect(program.streams[11].identity == .other)
    #expect(program.streams[14].identity == .audio(9))
    // Files of discs may be known by their packets alone.
    let plain = try read(stream(streams).discBytes)
    #expect(plain.programs.first?.streams.map(\.coding) == codings)
    #expect(Set(codings.map(\.name)).count == 13)
  }

  @Test("streams of broadcasts, by type and by descriptor")
  func broadcast() throws {
    func registration(_ name: String) -> [UInt8] { [5, 4] + name.utf8 }
    let rows: [(Int, [UInt8], ElementaryStream.Coding)] = [
      (0x02, [], .otherVideo("MPEG-2 video")), (0x24, [], .otherVideo("H.265")),
      (0x80, [], .unknown), (0x81, [], .ac3), (0x87, [], .eac3), (0x11, [], .aacLATM),
      (0x06, [0x6A, 1, 0], .ac3), (0x06, [0x7A, 1, 0], .eac3), (0x06, [0x7B, 0], .dts),
      (0x06, registration("Opus"), .opus), (0x06, registration("AC-3"), .ac3), (0x06, [], .unknown),
      (0x06, [0x59, 8] + "deu".utf8 + [0x10, 0, 1, 0, 1], .subtitles("DVB subtitles")),
      (0x06, [0x56, 5] + "fra".utf8 + [8, 0x88], .subtitles("teletext")),
      // A length that lies.
      (0x06, [0x6A, 200], .unknown), (0x06, [0x6A], .unknown),
    ]
    let streams = rows.enumerated().map {
      Writer.Stream(type: $1.0, pid: 0x200 + $0, descriptors: $1.1)
    }
    let program = try program(stream([.base] + streams))
    #expect(program.streams.dropFirst().map(\.coding) == rows.map(\.2))
    #expect(program.streams[13].language == "deu")
    #expect(program.streams[14].language == "fra")
  }

  @Test("languages, and the eye of the base view by the MVC extension descriptor")
  func descriptors() throws {
    for (flags, eye) in [(0x40, Eye.left), (0x00, .right), (0x80, nil)] as [(UInt8, Eye?)] {
      let dependent = Writer.Stream(
        type: 0x20, pid: 0x1012, descriptors: [0x31, 8, 0, 1, 0, 1, flags, 4, 1, 0])
      let program = try program(stream([.base, dependent, .ac3]))
      #expect(program.baseEye == eye)
      #expect(program.streams.map(\.language) == [nil, nil, "eng"])
    }
    for code in ["und", "\0\0\0", "e1g"] {
      let audio = Writer.Stream(type: 3, pid: 0x300, descriptors: [0x0A, 4] + code.utf8 + [0])
      #expect(try program(stream([.base, audio])).streams[1].language == nil)
    }
  }

  @Test("a map in several packets, and several sections in one packet")
  func sections() throws {
    let many = (0..<150).map { Writer.Stream(type: 3, pid: 0x200 + $0) }
    let result = try read(stream([.base] + many).bytes)
    #expect(result.programs.first?.streams.count == 151)
    #expect(result.packets.count == 1)
    var writer = Writer()
    writer.associations()
    let other = Writer.section(Writer.map([.ac3], program: 2))
    let own = Writer.section(Writer.map([.base]))
    // A pointer_field, the end of another section, two sections and stuffing.
    writer.packet(0x100, isStart: true, [3, 1, 2, 3] + other + own + [0xFF, 0xFF])
    // A section that ends in the packet in which the next begins.
    let split = Writer.section(Writer.map([.base, .dependent], version: 1))
    writer.packet(0x100, isStart: true, [0] + Array(split[..<10]))
    writer.packet(0x100, isStart: true, [UInt8(split.count - 10)] + Array(split[10...]) + other)
    #expect(try read(writer.bytes).programs.map(\.streams.count) == [1, 2])
  }

  @Test("damaged tables are dropped, and told")
  func damage() throws {
    var writer = Writer()
    writer.associations()
    writer.map([.base], isDamaged: true)
    #expect(try read(writer.bytes).kinds == [.damagedTable(pid: 0x100)])
    #expect(try read(writer.bytes).failure == .noVideo)
    // A pointer_field and lengths that lie.
    writer.packet(0x100, isStart: true, [200] + Array(repeating: 0, count: 100))
    writer.packet(0x100, isStart: true, [0, 2, 0xBF, 0xFF] + Array(repeating: 0, count: 100))
    var content = Writer.map([.base])
    content[11] = 250
    writer.section(0x100, content)
    content = Writer.map([.base])
    content[content.count - 1] = 50
    writer.section(0x100, content)
    writer.section(0x100, [2, 0xB0, 0, 1])
    writer.section(0, [0, 0xB0, 0, 0, 1, 0xC3, 0, 0, 0])
    writer.map([.base])
    writer.pes(0x1011, payload(1), pts: 0)
    let result = try read(writer.bytes)
    #expect(result.programs.map(\.streams.count) == [1])
    #expect(result.kinds == Array(repeating: .damagedTable(pid: 0x100), count: 3))
    #expect(result.failure == nil)
  }

  @Test("a new version changes the streams; the ones that stay continue")
  func change() throws {
    var writer = stream([.base, .ac3])
    writer.pes(0x1011, payload(1), length: 0)
    writer.pes(0x1100, payload(2), pts: 0)
    writer.map([.base, .ac3], version: 1, isNext: true)
    writer.map([.base, .dependent], version: 1)
    writer.pes(0x1012, payload(3), pts: 3600)
    writer.pes(0x1011, payload(4), pts: 3600)
    writer.pes(0x1100, payload(5), pts: 3600)
    let result = try read(writer.bytes)
    #expect(
      result.programs.map { $0.streams.map(\.pid) } == [[0x1011, 0x1100], [0x1011, 0x1012]])
    #expect(result.notices.isEmpty)
    #expect(
      result.packets.map(\.identity) == [.base, .audio(0), .dependent, .base, .base])
    #expect(result.bytes(.base) == payload(0) + payload(1) + payload(4))
  }

  @Test("of several programs, the first with H.264, or the one that is asked for")
  func programs() throws {
    var writer = Writer()
    writer.associations([(0, 0x10), (5, 0x500), (7, 0x700), (9, 0x900)])
    writer.map([Writer.Stream(type: 2, pid: 0x501)], program: 5, pid: 0x500)
    writer.map([Writer.Stream(type: 0x1B, pid: 0x701)], program: 7, pid: 0x700)
    writer.map([Writer.Stream(type: 0x1B, pid: 0x901)], program: 9, pid: 0x900)
    writer.pes(0x701, payload(7), pts: 0)
    writer.pes(0x901, payload(9), pts: 0)
    var result = try read(writer.bytes)
    #expect(result.programs.map(\.number) == [7])
    #expect(result.packets.map(\.bytes) == [payload(7)])
    result = try read(writer.bytes, TransportStreamReader(program: 9))
    #expect(result.packets.map(\.bytes) == [payload(9)])
    result = try read(writer.bytes, TransportStreamReader(program: 5))
    #expect(result.failure == .noVideo)
    #expect(result.programs.map(\.number) == [5])
    result = try read(writer.bytes, TransportStreamReader(program: 6))
    #expect(result.failure == .noProgram(number: 6, available: [5, 7, 9]))
  }

  @Test("a recording that continues with another program")
  func otherProgram() throws {
    var writer = Writer()
    writer.associations([(1, 0x100), (2, 0x200)])
    writer.map([.base])
    writer.map([Writer.Stream(type: 0x1B, pid: 0x1021)], program: 2, pid: 0x200)
    writer.pes(0x1011, payload(0), pts: 0)
    writer.associations([(2, 0x200)], version: 1)
    writer.map([Writer.Stream(type: 0x1B, pid: 0x1021)], program: 2, pid: 0x200)
    writer.pes(0x1021, payload(2), pts: 3600)
    let result = try read(writer.bytes)
    #expect(result.programs.map(\.number) == [1, 2])
    #expect(result.packets.map(\.bytes) == [payload(0), payload(2)])
  }

  @Test("reasons why there is no video")
  func failures() throws {
    var writer = Writer()
    for _ in 0..<5 { writer.pes(0x1011, payload(0), pts: 0) }
    #expect(try read(writer.bytes).failure == .noTables)
    writer.associations()
    #expect(try read(writer.bytes).failure == .noVideo)
    writer.map([.dependent])
    #expect(try read(writer.bytes).failure == .noVideo)
    writer.map([.base])
    #expect(try read(writer.bytes).failure == .noPackets(pid: 0x1011))
    for error in [
      TransportStreamError.notTransportStream(byteCount: 9), .encryptedDisc, .encrypted(pid: 1),
      .noTables, .noProgram(number: 1, available: [2, 3]), .noVideo, .noPackets(pid: 7),
    ] {
      #expect(error.description.count > 25)
    }
  }

  @Test("audio is left out if it is not wanted")
  func withoutAudio() throws {
    var writer = stream([.base, .ac3])
    writer.pes(0x1100, payload(2), pts: 0)
    let result = try read(writer.bytes, TransportStreamReader(hasAudio: false))
    #expect(result.packets.map(\.identity) == [.base])
    #expect(result.programs.first?.streams.count == 2)
  }

  // MARK: Two clips

  /// The packets of two clips with tables of their own, in turns of `count` packets, the dependent
  /// view's first, as in an SSIF file.
  private func interleaved(_ bytes: [UInt8], count: Int) -> [[UInt8]] {
    var clips = [Writer(), Writer()]
    for (view, stream) in [Writer.Stream.dependent, .base].enumerated() {
      clips[view].associations()
      clips[view].map([stream], descriptors: Writer.hdmv)
    }
    for packet in Writer.packets(bytes).dropFirst(2) {
      let pid = Int(packet[1] & 0x1F) << 8 | Int(packet[2])
      guard pid == 0x1011 || pid == 0x1012 else { continue }
      let view = pid == 0x1012 ? 0 : 1
      // Tables are repeated.
      if packet[1] & 0x40 != 0 {
        clips[view].associations()
        clips[view].map([view == 0 ? .dependent : .base], descriptors: Writer.hdmv)
      }
      clips[view].packets.append(packet)
    }
    var result: [[UInt8]] = []
    while clips.contains(where: { !$0.packets.isEmpty }) {
      for view in 0..<2 {
        result += clips[view].packets.prefix(count)
        clips[view].packets.removeFirst(min(count, clips[view].packets.count))
      }
    }
    return result
  }

  @Test(
    "the packets of two clips, each with tables of its own",
    .enabled(if: TransportMedia.isThere, "the folder ../shared/mvc-media is absent"),
    arguments: [1, 5, 32, 100])
  func clips(count: Int) throws {
    let bytes = try TransportMedia.bytes("b2-cabac-two.ts")
    let whole = try demux(bytes)
    let result = try demux(Writer.disc(interleaved(bytes, count: count)))
    #expect(result.notices.isEmpty)
    let isSame = result.bytes == whole.bytes
    #expect(isSame)
    let hasSameTimes = result.times == whole.times
    #expect(hasSameTimes)
    #expect(result.programs.last?.dependent?.pid == 0x1012)
    #expect(result.programs.count == 2)
  }

  @Test(
    "of two clips, the base view may come first, and wait for the other",
    .enabled(if: TransportMedia.isThere, "the folder ../shared/mvc-media is absent"))
  func baseFirst() throws {
    let bytes = try TransportMedia.bytes("b2-cabac-two.ts")
    let whole = try demux(bytes)
    let parts = interleaved(bytes, count: 64)
    let swapped = Array(parts[64..<128] + parts[..<64] + parts[128...])
    let result = try demux(
      Writer.disc(swapped), MVCTransportDemuxer(expectsDependent: true))
    #expect(result.notices.isEmpty)
    let isSame = result.bytes == whole.bytes
    #expect(isSame)
    // Otherwise the first pictures are those of one view.
    let alone = try demux(Writer.disc(swapped))
    #expect(alone.units.count == 20)
    #expect(alone.units.last?.isPaired == true)
    #expect(alone.units.first?.isPaired == false)
  }
}
