// SPDX-License-Identifier: MPL-2.0

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// The programs of an MPEG transport stream (ISO/IEC 13818-1, 2.4.4): which have video, and audio
/// that is not read. GStreamer plays one of them.
package struct TransportStreamPrograms: Equatable, Sendable {
  /// The numbers of the programs with video, in the order of their association table.
  package let withVideo: [Int]
  /// The codings of audio streams beside video that `tsdemux` ignores: types that mean audio on
  /// Blu-ray discs and in what FFmpeg writes, but other things elsewhere.
  package let ignoredAudio: [String]

  /// The tables are repeated several times a second; this many bytes at the start have them.
  private static let examinedSize = 4 << 20

  /// Reads the start of a file; nil if it cannot be read or has no tables.
  package init?(path: String) {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: Self.examinedSize)
    let count = read(file, &bytes, bytes.count)
    guard count > 0 else { return nil }
    self.init(Array(bytes.prefix(count)))
  }

  /// Reads the start of a stream; nil if it has no tables.
  package init?(_ bytes: [UInt8]) {
    guard let packets = Packets(bytes), let association = packets.table(pid: 0, id: 0) else {
      return nil
    }
    var numbers: [Int] = []
    var ignored: [String] = []
    // Number and PID, of two bytes each; number 0 is that of the network.
    for index in stride(from: 0, to: association.count - 3, by: 4) {
      let number = Int(association[index]) << 8 | Int(association[index + 1])
      let pid = Int(association[index + 2] & 0x1F) << 8 | Int(association[index + 3])
      guard number != 0, let map = packets.table(pid: pid, id: 2, number: number) else { continue }
      let program = Program(map)
      // MPEG-1, MPEG-2, MPEG-4, H.264, H.265, H.266, VC-1 (table 2-34).
      let videoTypes: Set<UInt8> = [0x01, 0x02, 0x10, 0x1B, 0x24, 0x33, 0xEA]
      guard program.streams.contains(where: { videoTypes.contains($0.type) }) else { continue }
      numbers.append(number)
      guard !program.registrations.contains("HDMV") else { continue }
      ignored += program.streams.compactMap { stream in
        stream.registrations.isEmpty ? Self.discAudio[stream.type] : nil
      }
    }
    (withVideo, ignoredAudio) = (numbers, ignored)
  }

  private static let discAudio: [UInt8: String] = [0x82: "DTS", 0x83: "TrueHD", 0x85: "DTS-HD"]
}

/// The content of a program's map (2.4.4.8).
private struct Program {
  private(set) var streams: [(type: UInt8, registrations: [String])] = []
  /// The format identifiers of the whole program.
  let registrations: [String]

  init(_ map: [UInt8]) {
    // PCR PID and descriptors of the program.
    guard map.count >= 4 else {
      registrations = []
      return
    }
    var position = 4 + (Int(map[2] & 0x0F) << 8 | Int(map[3]))
    registrations = Self.registrations(map.prefix(position).dropFirst(4))
    while position + 5 <= map.count {
      let end = position + 5 + (Int(map[position + 3] & 0x0F) << 8 | Int(map[position + 4]))
      let descriptors = map.prefix(end).dropFirst(position + 5)
      streams.append((map[position], Self.registrations(descriptors)))
      position = end
    }
  }

  /// Returns the format identifiers of registration descriptors (2.6.8).
  private static func registrations(_ descriptors: ArraySlice<UInt8>) -> [String] {
    var found: [String] = []
    var rest = descriptors
    while rest.count >= 2 {
      let (tag, size) = (rest[rest.startIndex], Int(rest[rest.startIndex + 1]))
      let content = rest.dropFirst(2).prefix(size)
      if tag == 5, content.count >= 4 {
        found.append(String(decoding: content.prefix(4), as: UTF8.self))
      }
      rest = rest.dropFirst(2 + size)
    }
    return found
  }
}

/// The packets at the start of a transport stream (2.4.3), with or without time stamps before them.
private struct Packets {
  private let bytes: [UInt8]
  /// Size of a packet and position of the first one.
  private let size: Int
  private let start: Int

  /// Nil if the bytes are no transport stream.
  init?(_ bytes: [UInt8]) {
    let layout = [(188, 0), (192, 4)].first { size, start in
      (0..<3).allSatisfy { index in
        let position = start + index * size
        return position < bytes.count && bytes[position] == 0x47
      }
    }
    guard let layout else { return nil }
    (size, start) = layout
    self.bytes = bytes
  }

  /// Returns the content of a table's first section without header and checksum; nil if there is
  /// none.
  ///
  /// - Parameter number: the program of a map; nil for another table.
  func table(pid: Int, id: UInt8, number: Int? = nil) -> [UInt8]? {
    var section: [UInt8] = []
    for packet in stride(from: start, through: bytes.count - 188, by: size) {
      guard bytes[packet] == 0x47, let payload = payload(of: packet, pid) else { continue }
      if payload.isStart {
        let skipped = 1 + Int(payload.bytes.first ?? 0)
        section = Array(payload.bytes.dropFirst(skipped))
      } else if !section.isEmpty {
        section += payload.bytes
      }
      guard section.count >= 8 else { continue }
      let length = Int(section[1] & 0x0F) << 8 | Int(section[2])
      guard section[0] == id, length >= 9,
        number.map({ Int(section[3]) << 8 | Int(section[4]) == $0 }) ?? true
      else {
        section = []
        continue
      }
      if section.count >= 3 + length { return Array(section[8..<3 + length - 4]) }
    }
    return nil
  }

  /// Returns the payload of a packet, and whether a section begins in it; nil if it belongs to
  /// another stream or has none.
  private func payload(of packet: Int, _ pid: Int) -> (bytes: ArraySlice<UInt8>, isStart: Bool)? {
    let found = Int(bytes[packet + 1] & 0x1F) << 8 | Int(bytes[packet + 2])
    guard found == pid, bytes[packet + 3] & 0x10 != 0 else { return nil }
    let hasAdaptation = bytes[packet + 3] & 0x20 != 0
    let first = packet + 4 + (hasAdaptation ? 1 + Int(bytes[packet + 4]) : 0)
    guard first < packet + 188 else { return nil }
    return (bytes[first..<packet + 188], bytes[packet + 1] & 0x40 != 0)
  }
}
