// SPDX-License-Identifier: MPL-2.0

/// Assembles the sections of tables from the packets of one PID, ISO/IEC 13818-1 (2.4.4).
struct SectionAssembler: Sendable {
  /// The largest `section_length` of the tables that are read here.
  private static let maximumLength = 1021

  private var bytes: [UInt8] = []
  private var isCollecting = false
  private var continuity: Int?
  /// The last section that was complete. Tables are repeated, and read again only after a change.
  private var last: [UInt8] = []

  /// Whether a section has been damaged, since it was last asked.
  private(set) var isDamaged = false

  /// Creates an assembler that has nothing.
  init() {}

  /// Returns whether a section has been damaged, and forgets it.
  mutating func takeDamaged() -> Bool {
    defer { isDamaged = false }
    return isDamaged
  }

  /// Discards the section that is being assembled.
  mutating func flush() { (bytes, isCollecting, continuity) = ([], false, nil) }

  /// Adds the payload of a packet and returns the sections that it completes, whose CRC is right,
  /// without those that repeat the section before.
  mutating func add(_ packet: TransportPacket, _ source: RawSpan) -> [[UInt8]] {
    guard let payload = packet.payload else { return [] }
    // Files of two clips have a counter for each.
    if let before = continuity, packet.continuity != (before + 1) & 0xF { isCollecting = false }
    continuity = packet.continuity
    var sections: [[UInt8]] = []
    guard packet.isStart else {
      if isCollecting { collect(source, payload, &sections) }
      return sections
    }
    let next = payload.lowerBound + 1 + source.byte(payload.lowerBound)
    guard next <= payload.upperBound else {
      (isDamaged, isCollecting) = (true, false)
      return []
    }
    if isCollecting {
      collect(source, payload.lowerBound + 1..<next, &sections)
      if !bytes.isEmpty { isDamaged = true }
    }
    bytes.removeAll(keepingCapacity: true)
    isCollecting = true
    collect(source, next..<payload.upperBound, &sections)
    return sections
  }

  private mutating func collect(
    _ source: RawSpan, _ range: Range<Int>, _ sections: inout [[UInt8]]
  ) {
    source.extracting(range).withUnsafeBytes { bytes.append(contentsOf: $0) }
    while isCollecting, bytes.count >= 3 {
      // Stuffing after the last section.
      guard bytes[0] != 0xFF else { break }
      let length = Int(bytes[1] & 0xF) << 8 | Int(bytes[2])
      guard length <= Self.maximumLength else {
        isDamaged = true
        break
      }
      guard bytes.count >= 3 + length else { return }
      let section = Array(bytes[..<(3 + length)])
      bytes.removeFirst(3 + length)
      guard section != last else { continue }
      if CRC32.isRight(section) {
        last = section
        sections.append(section)
      } else {
        isDamaged = true
      }
    }
    if let first = bytes.first, first == 0xFF || bytes.count >= 3 {
      bytes.removeAll(keepingCapacity: true)
      isCollecting = false
    }
  }
}

/// The cyclic redundancy check of tables, ISO/IEC 13818-1 (annex A).
enum CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index) << 24) { value, _ in
      value & 0x8000_0000 != 0 ? value << 1 ^ 0x04C1_1DB7 : value << 1
    }
  }

  /// Returns the value that is placed after `bytes`.
  static func value(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reduce(0xFFFF_FFFF) { $0 << 8 ^ table[Int(UInt8(truncatingIfNeeded: $0 >> 24) ^ $1)] }
  }

  /// Whether the last four bytes of `section` are the check of those before.
  static func isRight(_ section: [UInt8]) -> Bool { value(section[...]) == 0 }
}

/// A program association section, ISO/IEC 13818-1 (2.4.4.3).
struct ProgramAssociation: Sendable {
  /// `version_number`, 0 to 31.
  let version: Int
  /// Whether it is the last section of its table.
  let isLast: Bool
  /// The PIDs of the program maps by the number of the program; 0 is none.
  let programs: [(number: Int, pid: Int)]

  /// Reads a section; nil if it is another table, not valid yet, or has impossible lengths.
  init?(section: [UInt8]) {
    guard let header = SectionHeader(section, table: 0) else { return nil }
    version = header.version
    let bytes = section.span.bytes
    isLast = section[6] >= section[7]
    programs = stride(from: header.content.lowerBound, to: header.content.upperBound - 3, by: 4)
      .map { (number: bytes.uint16($0), pid: bytes.uint16($0 + 2) & 0x1FFF) }
      .filter { $0.number != 0 }
  }
}

/// The header of a section with section_syntax_indicator 1, ISO/IEC 13818-1 (2.4.4.10).
struct SectionHeader: Sendable {
  /// `table_id_extension`: the number of the program in a program map.
  let number: Int
  /// `version_number`, 0 to 31.
  let version: Int
  /// The bytes between header and CRC.
  let content: Range<Int>

  /// Reads the header of `section`; nil if it is another table than `table`, is not valid yet, or
  /// has impossible lengths.
  init?(_ section: [UInt8], table: UInt8) {
    let bytes = section.span.bytes
    guard section.count >= 12, section[0] == table, section[1] & 0x80 != 0, section[5] & 1 == 1
    else { return nil }
    number = bytes.uint16(3)
    version = bytes.byte(5) >> 1 & 0x1F
    content = 8..<section.count - 4
  }
}
