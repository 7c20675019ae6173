// SPDX-License-Identifier: MPL-2.0

import TestKit
import Testing
import TransportStream

/// Times are on one time line, and places are found by time.
@Suite("Times of transport streams") struct TimeTests {
  typealias Writer = TransportWriter

  private static let modulus: Int64 = 1 << 33

  /// Video and audio with these time stamps, in turns.
  private func stream(_ stamps: [(pid: Int, pts: Int64, dts: Int64?)]) -> Writer {
    var writer = Writer()
    writer.associations()
    writer.map([.base, .dependent, .ac3], descriptors: Writer.hdmv)
    for (pid, pts, dts) in stamps { writer.pes(pid, [1, 2, 3], pts: pts, dts: dts) }
    return writer
  }

  private func times(_ packets: [ElementaryPacket], _ pid: Int) -> [Int64?] {
    packets.filter { $0.pid == pid }.map(\.presentationTime)
  }

  @Test("time stamps begin again at 2^33, and the times continue")
  func wrap() throws {
    let start = Self.modulus - 9000
    let stamps = (0..<8).flatMap { number -> [(pid: Int, pts: Int64, dts: Int64?)] in
      let time = start + Int64(number) * 3000
      return [(0x1011, time + 6000, time), (0x1012, time + 6000, time), (0x1100, time - 100, nil)]
    }
    let result = try read(stream(stamps).bytes)
    let wanted = (0..<8).map { start + Int64($0) * 3000 }
    #expect(times(result.packets, 0x1011) == wanted.map { $0 + 6000 })
    #expect(times(result.packets, 0x1012) == wanted.map { $0 + 6000 })
    #expect(times(result.packets, 0x1100) == wanted.map { $0 - 100 })
    #expect(
      result.packets.filter { $0.pid == 0x1011 }.map(\.decodingTime) == wanted.map { $0 as Int64? })
    #expect(result.kinds == [0x1011, 0x1012, 0x1100].map { .clockWrapped(pid: $0) })
  }

  @Test("streams that begin before and after the wrap are on one time line")
  func wrapBetweenStreams() throws {
    let stamps: [(pid: Int, pts: Int64, dts: Int64?)] = [
      (0x1012, 100, nil), (0x1011, Self.modulus - 200, nil), (0x1011, 100, nil),
    ]
    let result = try read(stream(stamps).bytes)
    #expect(result.packets.map(\.presentationTime) == [100, -200, 100])
    let demuxed = try read(stream(stamps.reversed()).bytes)
    #expect(demuxed.packets.map(\.presentationTime) == [100, -200, 100])
  }

  @Test("a jump of the time stamps is taken out for all streams alike", arguments: [-1, 1, 2])
  func jump(direction: Int64) throws {
    // The audio comes to the jump later than the video.
    let video = (0..<20).map { 900_000 + Int64($0) * 3000 }
    let jumped = { (time: Int64) in time + (time < 930_000 ? 0 : direction * 930_000) }
    var stamps: [(pid: Int, pts: Int64, dts: Int64?)] = []
    for number in 0..<20 {
      stamps.append((0x1011, jumped(video[number]), nil))
      if number >= 4 { stamps.append((0x1100, jumped(video[number - 4]), nil)) }
    }
    let result = try read(stream(stamps).bytes)
    #expect(times(result.packets, 0x1011) == video)
    #expect(times(result.packets, 0x1100) == Array(video[..<16]))
    #expect(
      result.kinds
        == [0x1011, 0x1100].map {
          .clockJumped(pid: $0, ticks: direction * 930_000 + 3000)
        })
  }

  @Test("a gap that all streams have is no jump")
  func gap() throws {
    let stamps: [(pid: Int, pts: Int64, dts: Int64?)] = [
      (0x1011, 0, nil), (0x1100, 0, nil), (0x1011, 3000, nil), (0x1100, 500_000, nil),
      (0x1011, 800_000, nil), (0x1100, 1_300_000, nil), (0x1011, 1_790_000, nil),
    ]
    let result = try read(stream(stamps).bytes)
    #expect(result.packets.map(\.presentationTime) == stamps.map(\.pts))
    #expect(result.notices.isEmpty)
  }

  @Test("after a flush, the times are those near the one that is expected")
  func flush() throws {
    var writer = stream([(0x1011, 90000, nil), (0x1011, 93600, nil)])
    var reader = TransportStreamReader()
    _ = try reader.push(writer.bytes.span.bytes)
    for (near, wanted) in [(nil, 5000), (90000, 5000), (Self.modulus, Self.modulus + 5000)]
      as [(Int64?, Int64)]
    {
      reader.flush(position: 188_000, near: near)
      writer.packets = []
      writer.pes(0x1011, [1, 2, 3], pts: 5000)
      writer.pes(0x1011, [1, 2, 3], pts: 8000)
      for _ in 0..<2 { writer.pes(0x1011, [1, 2, 3], pts: nil) }
      var result = Read()
      result.add(try reader.push(writer.bytes.span.bytes))
      #expect(result.packets.first?.presentationTime == wanted)
      #expect(result.packets.first?.position == 188_000)
      #expect(result.packets.map(\.isDiscontinuity) == [true, false, false, false])
    }
  }

  // MARK: Places

  /// A stream of `count` pictures of both views, with an IDR picture every `period` pictures.
  private func long(_ count: Int, period: Int, start: Int64, size: Int) -> Writer {
    var writer = Writer()
    writer.associations()
    writer.map([.base, .dependent], descriptors: Writer.hdmv)
    for number in 0..<count {
      if number % 10 == 0 {
        writer.associations()
        writer.map([.base, .dependent], descriptors: Writer.hdmv)
      }
      let isIDR = number % period == 0
      let filling = Array(repeating: UInt8(0xFF), count: size)
      let time = start + Int64(number) * 3600
      let base: [UInt8] = [0, 0, 0, 1, 9, 0xF0, 0, 0, 0, 1, isIDR ? 0x65 : 0x41, 0x88]
      writer.pes(0x1011, base + filling, pts: time + 3600, dts: time)
      let extensionBytes: [UInt8] = isIDR ? [0, 0, 0x45] : [0x40, 0, 0x41]
      let dependent: [UInt8] = [0, 0, 0, 1, 0x18, 0, 0, 0, 0, 1, 0x74] + extensionBytes + [0x88]
      writer.pes(0x1012, dependent + filling, pts: time + 3600, dts: time)
    }
    return writer
  }

  @Test(
    "first and last time, and random access points by time", arguments: [0, 1 << 33 - 1_000_000])
  func span(start: Int64) throws {
    let bytes = long(3000, period: 25, start: start, size: 1500).discBytes
    try #require(bytes.count > 3 * TransportStreamSpan.searchLimit)
    var readCount = 0
    func read(_ range: Range<Int>) -> [UInt8] {
      readCount += range.count
      return Array(bytes[range])
    }
    let span = try #require(TransportStreamSpan(byteCount: bytes.count, read: read))
    #expect(span.start == start + 3600)
    #expect(span.duration == 3000 * 3600)
    #expect(readCount < 3 << 21)
    for number in [0, 1, 24, 25, 1000, 1012, 2999] {
      readCount = 0
      let time = span.start + Int64(number) * 3600
      let position = span.place(of: time, read: read).position
      #expect(position % 192 <= 4)
      var demuxer = MVCTransportDemuxer()
      _ = try demuxer.push(bytes.span.bytes.extracting(0..<10000))
      demuxer.flush(position: position, near: time)
      let result = try demux(Array(bytes[position...].prefix(200_000)), demuxer)
      let first = try #require(result.units.first)
      #expect(first.isRandomAccess && first.isPaired && first.position == position)
      #expect(first.presentationTime == span.start + Int64(number / 25 * 25) * 3600, "\(number)")
      #expect(readCount < 8 << 21)
    }
  }

  @Test("a stream without video has no span")
  func noSpan() throws {
    let noise = [UInt8](repeating: 0x47, count: 100_000)
    #expect(TransportStreamSpan(byteCount: noise.count) { Array(noise[$0]) } == nil)
    #expect(TransportStreamSpan(byteCount: 0) { _ in [] } == nil)
  }
}
