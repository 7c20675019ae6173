// SPDX-License-Identifier: MPL-2.0

/// Writes transport streams packet by packet, with every fault that a test wants.
public struct TransportWriter: Sendable {
  /// A stream of a program map.
  public struct Stream: Sendable {
    public var type: Int
    public var pid: Int
    public var descriptors: [UInt8] = []

    public init(type: Int, pid: Int, descriptors: [UInt8] = []) {
      (self.type, self.pid, self.descriptors) = (type, pid, descriptors)
    }

    public static let base = Stream(type: 0x1B, pid: 0x1011)
    public static let dependent = Stream(type: 0x20, pid: 0x1012)
    public static let ac3 = Stream(type: 0x81, pid: 0x1100, descriptors: [0x0A, 4] + "eng\0".utf8)
  }

  /// The registration descriptor of discs and cameras.
  public static let hdmv: [UInt8] = [5, 4] + "HDMV".utf8

  /// The packets of 188 bytes.
  public var packets: [[UInt8]] = []
  public var counters: [Int: Int] = [:]

  public init() {}

  public var bytes: [UInt8] { packets.flatMap(\.self) }

  /// The packets with a header of four bytes each, as on discs.
  public var discBytes: [UInt8] { Self.disc(packets) }

  public static func disc(_ packets: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    for (index, packet) in packets.enumerated() {
      // As at some time of each second, a byte of the arrival time is that of a sync byte.
      bytes += [0, 0x47] + Self.bytes(index * 3 & 0xFFFF) + packet
    }
    return bytes
  }

  /// The packets of a stream of 188 bytes a packet.
  public static func packets(_ bytes: [UInt8]) -> [[UInt8]] {
    stride(from: 0, to: bytes.count, by: 188).map { Array(bytes[$0..<min($0 + 188, bytes.count)]) }
  }

  // MARK: Packets

  /// Writes one packet with at most 184 bytes of payload.
  ///
  /// - Parameter adaptation: the adaptation field after its length; nil for none but stuffing.
  public mutating func packet(
    _ pid: Int, isStart: Bool = false, _ payload: [UInt8], adaptation: [UInt8]? = nil,
    scrambling: UInt8 = 0, hasError: Bool = false
  ) {
    let counter = counters[pid] ?? 0
    if !payload.isEmpty { counters[pid] = (counter + 1) & 15 }
    var field = adaptation
    let free = 184 - payload.count - (field.map { $0.count + 1 } ?? 0)
    if free > 0 {
      if let given = field {
        field = given + Array(repeating: 0xFF, count: free)
      } else {
        field = free == 1 ? [] : [0] + Array(repeating: 0xFF, count: free - 2)
      }
    }
    let control: UInt8 = (field == nil ? 0x10 : payload.isEmpty ? 0x20 : 0x30)
    let first = UInt8(pid >> 8) | (isStart ? 0x40 : 0) | (hasError ? 0x80 : 0)
    packets.append(
      [0x47, first, UInt8(pid & 0xFF), scrambling << 6 | control | UInt8(counter)]
        + (field.map { [UInt8($0.count)] + $0 } ?? []) + payload)
  }

  /// Writes data that begin a PES packet or a section in as many packets as they need.
  public mutating func write(_ pid: Int, _ data: [UInt8], adaptation: [UInt8]? = nil) {
    var offset = 0
    repeat {
      let field = offset == 0 ? adaptation : nil
      let count = min(184 - (field.map { $0.count + 1 } ?? 0), data.count - offset)
      packet(
        pid, isStart: offset == 0, Array(data[offset..<offset + count]), adaptation: field)
      offset += count
    } while offset < data.count
  }

  // MARK: Tables

  /// Writes a section with its CRC, after a pointer_field of 0.
  public mutating func section(_ pid: Int, _ section: [UInt8], isDamaged: Bool = false) {
    write(pid, [0] + Self.section(section, isDamaged: isDamaged))
  }

  /// A section from the table id on, with the length and the CRC filled in.
  public static func section(_ content: [UInt8], isDamaged: Bool = false) -> [UInt8] {
    var section = content
    let length = section.count - 3 + 4
    section[1] = section[1] & 0xF0 | UInt8(length >> 8)
    section[2] = UInt8(length & 0xFF)
    var crc: UInt32 = 0xFFFF_FFFF
    for byte in section {
      crc ^= UInt32(byte) << 24
      for _ in 0..<8 { crc = crc & 0x8000_0000 != 0 ? crc << 1 ^ 0x04C1_1DB7 : crc << 1 }
    }
    if isDamaged { crc ^= 1 }
    return section + [
      UInt8(crc >> 24), UInt8(crc >> 16 & 255), UInt8(crc >> 8 & 255), UInt8(crc & 255),
    ]
  }

  /// Writes a program association table.
  ///
  /// - Parameter programs: the PIDs of the maps by program.
  public mutating func associations(
    _ programs: [(number: Int, pid: Int)] = [(1, 0x100)], version: Int = 0
  ) {
    var content: [UInt8] = [0, 0xB0, 0, 0, 1, 0xC1 | UInt8(version << 1), 0, 0]
    for (number, pid) in programs { content += Self.bytes(number) + Self.bytes(0xE000 | pid) }
    section(0, content)
  }

  /// Writes a program map.
  public mutating func map(
    _ streams: [Stream], program: Int = 1, pid: Int = 0x100, version: Int = 0,
    descriptors: [UInt8] = [], isNext: Bool = false, isDamaged: Bool = false
  ) {
    section(
      pid,
      Self.map(
        streams, program: program, version: version, descriptors: descriptors, isNext: isNext),
      isDamaged: isDamaged)
  }

  /// A program map without its length and CRC.
  public static func map(
    _ streams: [Stream], program: Int = 1, version: Int = 0, descriptors: [UInt8] = [],
    isNext: Bool = false
  ) -> [UInt8] {
    var content: [UInt8] = [2, 0xB0, 0] + bytes(program)
    content += [0xC0 | UInt8(version << 1) | (isNext ? 0 : 1), 0, 0, 0xF0, 1]
    content += bytes(0xF000 | descriptors.count) + descriptors
    for stream in streams {
      content += [UInt8(stream.type)] + bytes(0xE000 | stream.pid)
      content += bytes(0xF000 | stream.descriptors.count) + stream.descriptors
    }
    return content
  }

  /// A number of 16 bits.
  public static func bytes(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }

  // MARK: PES

  /// Writes a PES packet.
  public mutating func pes(
    _ pid: Int, _ payload: [UInt8], pts: Int64? = nil, dts: Int64? = nil, length: Int? = nil,
    adaptation: [UInt8]? = nil
  ) {
    write(pid, Self.pes(payload, pts: pts, dts: dts, length: length), adaptation: adaptation)
  }

  /// A PES packet.
  ///
  /// - Parameters:
  ///   - length: PES_packet_length; nil for the right one.
  ///   - isScrambled: whether PES_scrambling_control says so.
  public static func pes(
    _ payload: [UInt8], pts: Int64? = nil, dts: Int64? = nil, length: Int? = nil,
    isScrambled: Bool = false
  ) -> [UInt8] {
    var stamps: [UInt8] = []
    if let pts { stamps += stamp(pts, prefix: dts == nil ? 2 : 3) }
    if let dts { stamps += stamp(dts, prefix: 1) }
    let length = length ?? 3 + stamps.count + payload.count
    let flags: UInt8 = pts == nil ? 0 : dts == nil ? 0x80 : 0xC0
    return [0, 0, 1, 0xE0, UInt8(length >> 8 & 255), UInt8(length & 255)]
      + [isScrambled ? 0x94 : 0x84, flags, UInt8(stamps.count)] + stamps + payload
  }

  public static func stamp(_ value: Int64, prefix: UInt8) -> [UInt8] {
    let value = UInt64(bitPattern: value) & (1 << 33 - 1)
    return [
      prefix << 4 | UInt8(value >> 30) << 1 | 1, UInt8(value >> 22 & 255),
      UInt8(value >> 15 & 127) << 1 | 1, UInt8(value >> 7 & 255), UInt8(value & 127) << 1 | 1,
    ]
  }
}
