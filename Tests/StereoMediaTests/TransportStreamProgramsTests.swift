// SPDX-License-Identifier: MPL-2.0

import StereoMedia
import Testing

/// The programs of transport streams, from packets made by hand.
struct TransportStreamProgramsTests {
  private static func packet(
    _ pid: Int, _ section: [UInt8], adaptation: Int = 0, isStart: Bool = true
  ) -> [UInt8] {
    var packet: [UInt8] = [0x47, (isStart ? 0x40 : 0) | UInt8(pid >> 8), UInt8(pid & 0xFF)]
    packet.append(adaptation > 0 ? 0x30 : 0x10)
    if adaptation > 0 { packet += [UInt8(adaptation)] + Array(repeating: 0, count: adaptation) }
    if isStart { packet.append(0) }
    packet += section.prefix(188 - packet.count)
    return packet + Array(repeating: 0xFF, count: 188 - packet.count)
  }

  private static func section(_ id: UInt8, _ number: Int, _ content: [UInt8]) -> [UInt8] {
    let length = content.count + 9
    return [
      id, 0xB0 | UInt8(length >> 8), UInt8(length & 0xFF), UInt8(number >> 8), UInt8(number & 0xFF),
      0xC1, 0, 0,
    ] + content + [0, 0, 0, 0]
  }

  private static func map(_ number: Int, _ types: [UInt8], descriptors: Int = 0) -> [UInt8] {
    let padding = [UInt8](repeating: 0, count: descriptors)
    let streams = types.flatMap { type -> [UInt8] in
      [type, 0xE1, 0, 0xF0 | UInt8(descriptors >> 8), UInt8(descriptors & 0xFF)] + padding
    }
    return section(2, number, [0xE1, 0, 0xF0, 0] + streams)
  }

  private static let association = section(
    0, 1, [0, 0, 0xE0, 0x10, 0, 7, 0xE1, 1, 1, 0, 0xE1, 2, 0, 9, 0xE1, 3])

  @Test("programs with video are listed, others and the network are not")
  func programs() {
    let packets = [
      Self.packet(0, Self.association), Self.packet(0x101, Self.map(7, [0x1B, 0x0F])),
      Self.packet(0x102, Self.map(256, [0x0F, 0x24]), adaptation: 20),
      Self.packet(0x103, Self.map(9, [0x0F])),
    ]
    let stream = packets.flatMap(\.self)
    #expect(TransportStreamPrograms(stream)?.withVideo == [7, 256])
    // Blu-ray's packets have four bytes before them.
    let stamped = packets.flatMap { packet -> [UInt8] in [1, 2, 3, 4] + packet }
    #expect(TransportStreamPrograms(stamped)?.withVideo == [7, 256])
  }

  @Test("a table in several packets, among packets of other streams")
  func longTable() {
    let map = Self.map(7, [0x0F, 0x0F, 0x1B], descriptors: 120)
    let rest = Array(map.dropFirst(183))
    let stream =
      Self.packet(0, Self.association) + Self.packet(0x101, map) + Self.packet(0x1F0, [1, 2])
      + Self.packet(0x101, rest, isStart: false)
      + Self.packet(0x101, Array(rest.dropFirst(184)), isStart: false)
    #expect(TransportStreamPrograms(stream)?.withVideo == [7])
  }

  @Test("bytes that are no transport stream, cut-off and damaged tables do no harm")
  func damaged() {
    #expect(TransportStreamPrograms([]) == nil)
    #expect(TransportStreamPrograms(Array(repeating: 0, count: 1000)) == nil)
    let stream =
      Self.packet(0, Self.association) + Self.packet(0x101, Self.map(7, [0x1B]))
      + Self.packet(0x102, Self.map(256, [0x1B]))
    for count in 0..<stream.count { _ = TransportStreamPrograms(Array(stream.prefix(count))) }
    for index in stream.indices {
      for value in [0, 0x47, 0xFF] as [UInt8] {
        var damaged = stream
        damaged[index] = value
        _ = TransportStreamPrograms(damaged)
      }
    }
  }
}
