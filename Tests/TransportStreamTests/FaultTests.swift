// SPDX-License-Identifier: MPL-2.0

import TestKit
import Testing
import TransportStream

/// Damage costs the PES packets that it touches, and each loss is told.
@Suite("Damaged transport streams") struct FaultTests {
  typealias Writer = TransportWriter

  /// A payload of a PES packet that tells which one it is, and is in three packets.
  private func payload(_ number: Int, count: Int = 500) -> [UInt8] {
    (0..<count).map { UInt8(($0 * 7 + number * 31) & 0x7F) | 0x80 }
  }

  /// Tables, and PES packets of the base view with times of 3600 ticks each.
  private func stream(_ count: Int = 4) -> Writer {
    var writer = Writer()
    writer.associations()
    writer.map([.base, .ac3], descriptors: Writer.hdmv)
    for number in 0..<count {
      writer.pes(0x1011, payload(number), pts: Int64(number) * 3600)
    }
    return writer
  }

  private let base = 0x1011

  @Test("a whole stream")
  func whole() throws {
    let result = try read(stream().bytes)
    #expect(result.notices.isEmpty)
    #expect(result.failure == nil)
    #expect(result.packets.map(\.bytes) == (0..<4).map { payload($0) })
    #expect(result.packets.map(\.presentationTime) == [0, 3600, 7200, 10800])
    #expect(result.packets.map(\.decodingTime) == [0, 3600, 7200, 10800])
    #expect(result.packets.map { $0.position / 188 } == [2, 5, 8, 11])
  }

  @Test("a lost packet ends its PES packet, and the next one is marked")
  func loss() throws {
    var writer = stream()
    writer.packets.remove(at: 6)
    let result = try read(writer.bytes)
    #expect(result.kinds == [.lostPackets(pid: base)])
    #expect(result.packets.map(\.isDamaged) == [false, true, false, false])
    #expect(result.packets.map(\.isDiscontinuity) == [false, false, true, false])
    #expect(payload(1).starts(with: result.packets[1].bytes))
    #expect(result.packets[2].bytes == payload(2))
  }

  @Test("a loss of fifteen packets is no repetition, and a repetition is no loss")
  func repetition() throws {
    var writer = stream(12)
    writer.packets.removeSubrange(5..<20)
    var result = try read(writer.bytes)
    #expect(result.kinds == [.lostPackets(pid: base)])
    #expect(result.packets.map(\.bytes) == [0, 6, 7, 8, 9, 10, 11].map { payload($0) })
    writer = stream()
    for place in [9, 6, 2, 1, 0] { writer.packets.insert(writer.packets[place], at: place) }
    result = try read(writer.bytes)
    #expect(result.notices.isEmpty)
    #expect(result.packets.map(\.bytes) == (0..<4).map { payload($0) })
  }

  @Test("packets with transport_error_indicator or without anything in them are dropped")
  func errors() throws {
    var writer = stream()
    writer.packets[6][1] |= 0x80
    writer.packets[9][3] = writer.packets[9][3] & 0xCF | 0x20
    writer.packets[9][4] = 250
    let result = try read(writer.bytes)
    #expect(
      result.kinds == [
        .damagedPacket(pid: base), .lostPackets(pid: base),
        .damagedPacket(pid: base), .lostPackets(pid: base),
      ])
    #expect(result.packets.map(\.isDamaged) == [false, true, true, false])
  }

  @Test("discontinuity_indicator announces a new count, and is told")
  func discontinuity() throws {
    var writer = stream(2)
    writer.counters[base] = 11
    writer.pes(base, payload(2), pts: 7200, adaptation: [0x80])
    writer.pes(base, payload(3), pts: 10800, adaptation: [0x40])
    let result = try read(writer.bytes)
    #expect(result.notices.isEmpty)
    #expect(result.packets.map(\.isDiscontinuity) == [false, false, true, false])
    #expect(result.packets.map(\.isRandomAccess) == [false, false, false, true])
  }

  @Test("packets are found after garbage, and again after lost and inserted bytes")
  func resynchronisation() throws {
    var dice = Dice(1)
    let garbage = (0..<1001).map { _ in UInt8(dice.next(below: 256)) }
    let bytes = stream(20).bytes
    for size in [1, 100, 5000] {
      var damaged = garbage + bytes
      damaged.removeSubrange(garbage.count + 20 * 188..<garbage.count + 20 * 188 + 77)
      damaged.insert(contentsOf: garbage.prefix(300), at: garbage.count + 40 * 188 - 77)
      let result = try read(damaged) { 1 + dice.next(below: size) }
      #expect(result.kinds.first == .skipped(byteCount: 1001))
      #expect(result.kinds.contains(.lostPackets(pid: base)))
      let whole = result.packets.filter { !$0.isDamaged }.map(\.bytes)
      #expect(whole.count >= 17)
      #expect(whole.allSatisfy { bytes in (0..<20).contains { payload($0) == bytes } })
    }
  }

  @Test("a wrong sync byte costs one packet")
  func syncByte() throws {
    var writer = stream()
    writer.packets[6][0] = 0x48
    let result = try read(writer.bytes)
    #expect(result.kinds == [.skipped(byteCount: 188), .lostPackets(pid: base)])
    #expect(result.packets.map(\.isDamaged) == [false, true, false, false])
  }

  @Test("few packets are a stream, and the last may be cut off")
  func short() throws {
    for count in [3, 4, 5] {
      let bytes = Array(stream(1).bytes.prefix(count * 188 + 100))
      let result = try read(bytes) { 50 }
      #expect(result.packets.count == 1)
      #expect(result.packets[0].isDamaged == (count < 5))
    }
  }

  @Test("anything else is refused at its end, or after a mebibyte")
  func otherFiles() throws {
    var dice = Dice(1)
    let noise = (0..<(1 << 21)).map { _ in UInt8(dice.next(below: 256)) }
    #expect(throws: TransportStreamError.notTransportStream(byteCount: 10000)) {
      try read(Array(noise.prefix(10000)))
    }
    #expect(throws: TransportStreamError.notTransportStream(byteCount: 0)) { try read([]) }
    var reader = TransportStreamReader()
    var pushed = 0
    #expect(throws: TransportStreamError.self) {
      while pushed < noise.count {
        _ = try reader.push(noise.span.bytes.extracting(pushed..<pushed + 4096))
        pushed += 4096
      }
    }
    #expect(pushed < 1_100_000)
  }

  @Test("an encrypted disc is named")
  func encryptedDisc() throws {
    var dice = Dice(1)
    var bytes = stream(600).discBytes
    for start in stride(from: 0, to: bytes.count, by: 6144) {
      bytes[start] |= 0xC0
      for place in start + 16..<min(start + 6144, bytes.count) {
        bytes[place] = UInt8(dice.next(below: 256))
      }
    }
    #expect(throws: TransportStreamError.encryptedDisc) { try read(bytes) }
  }

  @Test("scrambled packets are dropped, and told once")
  func scrambled() throws {
    var writer = Writer()
    writer.associations()
    writer.map([.base, .ac3], descriptors: Writer.hdmv)
    for number in 0..<3 {
      writer.packet(base, isStart: true, Array(payload(number, count: 184)), scrambling: 2)
    }
    writer.write(base, Writer.pes(payload(3), pts: 0, isScrambled: true))
    let result = try read(writer.bytes)
    #expect(result.kinds == [.encrypted(pid: base)])
    #expect(result.packets.isEmpty)
    #expect(result.failure == .encrypted(pid: base))
  }

  // MARK: PES packets

  @Test("a PES packet without length ends with the next one")
  func unbounded() throws {
    var writer = stream(0)
    for number in 0..<3 {
      writer.pes(
        base, payload(number), pts: 100 + Int64(number), dts: 90 + Int64(number), length: 0)
    }
    var reader = TransportStreamReader()
    var result = Read()
    result.add(try reader.push(writer.bytes.span.bytes))
    #expect(result.packets.count == 2)
    result.add(try reader.end())
    #expect(result.packets.map(\.bytes) == (0..<3).map { payload($0) })
    #expect(result.packets.map(\.presentationTime) == [100, 101, 102])
    #expect(result.packets.map(\.decodingTime) == [90, 91, 92])
    #expect(result.notices.isEmpty)
  }

  @Test("a length that is too small loses nothing, one that is too large marks the PES packet")
  func lengths() throws {
    var writer = stream(1)
    writer.pes(base, payload(1), pts: 3600, length: 100)
    writer.pes(base, payload(2), pts: 7200, length: 5000)
    writer.pes(base, payload(3), pts: 10800, length: 2)
    writer.pes(base, payload(4), pts: 14400)
    let result = try read(writer.bytes)
    #expect(
      result.kinds == [
        .wrongLength(pid: base), .wrongLength(pid: base), .damagedHeader(pid: base),
      ])
    let isSame = result.bytes(.base) == (0..<5).flatMap { payload($0) }
    #expect(isSame)
    #expect(result.packets.map(\.presentationTime) == [0, 3600, nil, 7200, 10800, 14400])
    #expect(result.packets.map(\.isDamaged) == [false, false, false, true, false, false])
  }

  @Test("headers that are wrong lose their times, or their PES packet")
  func headers() throws {
    var writer = stream(1)
    // Marker bits, PTS_DTS_flags 1, fields that do not fit, no start code, MPEG-1.
    let changes: [(Int, UInt8)] = [(9, 0x20), (7, 0x40), (7, 0xBF), (2, 2), (6, 0x40)]
    for (index, change) in changes.enumerated() {
      var pes = Writer.pes(payload(index + 1), pts: Int64(index + 1) * 3600)
      pes[change.0] = change.1
      writer.write(base, pes)
    }
    writer.pes(base, payload(6), pts: 6 * 3600)
    let result = try read(writer.bytes)
    #expect(result.kinds == Array(repeating: .damagedHeader(pid: base), count: 5))
    #expect(result.packets.map(\.presentationTime) == [0, nil, nil, 10800, 21600])
    #expect(result.packets.map(\.bytes) == [0, 1, 2, 3, 6].map { payload($0) })
  }

  @Test("a header may be in two packets, and a payload may be empty")
  func splitHeader() throws {
    var writer = stream(1)
    for size in [1, 5, 8, 9, 13] {
      let pes = Writer.pes(payload(1), pts: 3600)
      writer.packet(base, isStart: true, Array(pes[..<size]))
      var offset = size
      while offset < pes.count {
        writer.packet(base, Array(pes[offset..<min(offset + 100, pes.count)]))
        offset += 100
      }
    }
    writer.pes(base, [], pts: 7200)
    writer.pes(base, [], length: 0)
    writer.pes(base, payload(2), pts: 10800)
    let result = try read(writer.bytes)
    #expect(result.notices.isEmpty)
    #expect(result.packets.map(\.bytes) == [0, 1, 1, 1, 1, 1, 2].map { payload($0) })
    #expect(result.packets.map(\.presentationTime) == [0, 3600, 3600, 3600, 3600, 3600, 10800])
  }

  @Test("a PES packet that is larger than the budget is dropped, and nothing else")
  func budget() throws {
    var writer = stream(1)
    writer.pes(base, payload(1, count: 20000), length: 0)
    writer.pes(base, payload(2), pts: 7200)
    let result = try read(writer.bytes, TransportStreamReader(budget: 10000))
    #expect(result.kinds == [.budgetExceeded(pid: base, limit: 10000)])
    #expect(result.packets.map(\.bytes) == [0, 2].map { payload($0) })
    #expect(result.packets.map(\.isDiscontinuity) == [false, true])
  }

  @Test("padding streams and private data without header are no video")
  func otherPackets() throws {
    var writer = stream(1)
    for id: UInt8 in [0xBE, 0xBF, 0xFF] {
      writer.write(base, [0, 0, 1, id, 0, 100] + payload(1, count: 100))
    }
    let result = try read(writer.bytes)
    #expect(result.notices.isEmpty)
    #expect(result.packets.count == 1)
  }

  // MARK: Both views

  @Test(
    "a lost packet costs one access unit; the rest are pairs",
    .enabled(if: TransportMedia.isThere, "the folder ../shared/mvc-media is absent"))
  func lossOfViews() throws {
    let bytes = try TransportMedia.bytes("b2-cabac-two.ts")
    let whole = try demux(bytes)
    for place in stride(from: 3, to: bytes.count / 188, by: 7) {
      var damaged = bytes
      damaged.removeSubrange(place * 188..<(place + 1) * 188)
      let result = try demux(damaged)
      let good = result.units.filter { unit in
        unit.isPaired && whole.units.contains { $0.bytes == unit.bytes && $0.times == unit.times }
      }
      #expect(good.count >= whole.units.count - 1, "packet \(place)")
      #expect(result.units.count >= whole.units.count - 1)
      #expect(!result.notices.isEmpty)
    }
  }

  @Test(
    "a PES packet that is lost as a whole leaves a lone access unit",
    .enabled(if: TransportMedia.isThere, "the folder ../shared/mvc-media is absent"))
  func lone() throws {
    let packets = TransportWriter.packets(try TransportMedia.bytes("b2-cabac-two.ts"))
    for (pid, kind) in [(0x1011, TransportNotice.Kind.loneDependent), (0x1012, .loneBase)] {
      let own = packets.indices.filter {
        Int(packets[$0][1] & 0x1F) << 8 | Int(packets[$0][2]) == pid
      }
      let starts = own.filter { packets[$0][1] & 0x40 != 0 }
      let lost = own.filter { $0 >= starts[3] && $0 < starts[4] }
      let rest = packets.indices.filter { !lost.contains($0) }.flatMap { packets[$0] }
      let result = try demux(rest)
      #expect(result.kinds.contains(kind))
      #expect(result.units.count == (pid == 0x1011 ? 19 : 20))
      #expect(result.units.count { $0.isPaired } == 19)
    }
  }
}

extension StereoAccessUnit {
  /// The times, comparable.
  var times: [Int64?] { [presentationTime, decodingTime] }
}
