// SPDX-License-Identifier: MPL-2.0

extension RawSpan {
  /// The byte at `offset`.
  func byte(_ offset: Int) -> Int { Int(unsafeLoad(fromByteOffset: offset, as: UInt8.self)) }

  /// The unsigned integer of 16 bits at `offset`, most significant byte first.
  func uint16(_ offset: Int) -> Int { byte(offset) << 8 | byte(offset + 1) }
}

/// The header of a transport packet, ISO/IEC 13818-1 (2.4.3.2), with the parts of its adaptation
/// field (2.4.3.4) that matter here.
struct TransportPacket: Sendable {
  /// Size in bytes, without the header of four bytes that discs place before it and the parity
  /// that broadcasts place after it.
  static let size = 188
  static let syncByte = 0x47
  /// The PID of packets without content.
  static let nullPID = 0x1FFF

  let pid: Int
  /// `transport_error_indicator`
  let hasError: Bool
  /// `payload_unit_start_indicator`
  let isStart: Bool
  /// `transport_scrambling_control` is not 0.
  let isScrambled: Bool
  /// `continuity_counter`, 0 to 15.
  let continuity: Int
  /// The payload as offsets of the span that was read; nil if there is none.
  let payload: Range<Int>?
  /// `discontinuity_indicator`
  private(set) var isDiscontinuous = false
  /// `random_access_indicator`
  private(set) var isRandomAccess = false
  /// `program_clock_reference` in ticks of 27 MHz; nil if there is none.
  private(set) var clockReference: Int64?
  /// Whether the lengths are possible.
  private(set) var isValid = true

  /// Reads the packet of 188 bytes whose sync byte is at `start`.
  init(_ bytes: RawSpan, at start: Int) {
    let first = bytes.uint16(start + 1)
    let control = bytes.byte(start + 3)
    pid = first & 0x1FFF
    hasError = first & 0x8000 != 0
    isStart = first & 0x4000 != 0
    isScrambled = control & 0xC0 != 0
    continuity = control & 0xF
    let end = start + Self.size
    var begin = start + 4
    if control & 0x20 != 0 {
      let length = bytes.byte(begin)
      begin += 1 + length
      if begin > end {
        isValid = false
      } else if length > 0 {
        let flags = bytes.byte(start + 5)
        isDiscontinuous = flags & 0x80 != 0
        isRandomAccess = flags & 0x40 != 0
        if flags & 0x10 != 0, length >= 7 {
          let high = Int64(bytes.uint16(start + 6)) << 17 | Int64(bytes.uint16(start + 8)) << 1
          let low = bytes.uint16(start + 10)
          clockReference = (high | Int64(low >> 15)) * 300 + Int64(low & 0x1FF)
        }
      }
    }
    if control & 0x30 == 0 { isValid = false }
    payload = control & 0x10 != 0 && begin < end ? begin..<end : nil
  }
}

/// Finds the packets of a stream by their sync bytes, and finds them again after damage.
///
/// Packets are 188 bytes from one sync byte to the next, 192 on discs and in cameras, or 204.
struct PacketFinder: Sendable {
  /// The distances of sync bytes.
  private static let distances = [188, 192, 204]
  /// The largest distance: a packet begins within this number of bytes.
  static let largestDistance = 204
  /// The number of sync bytes in a row that make packets.
  private static let confirmation = 4
  /// The size of an encrypted unit of a disc: 32 packets, readable in the first 16 bytes alone.
  private static let encryptedUnit = 6144
  /// The number of encrypted units in a row that make an encrypted disc.
  private static let encryptedCount = 8

  /// The distance of sync bytes; nil before they are found.
  private(set) var distance: Int?
  /// Offset of the next packet, or of the place to search, in the bytes that are not consumed.
  private(set) var offset = 0
  /// Whether packets have ever been found.
  private(set) var hasFound = false
  /// Bytes that belong to no packet, since it was last asked.
  private var skipped = 0
  private var isLocked = false
  /// Offset from the start of the stream of the first byte that is not consumed.
  private(set) var consumed = 0
  /// The sync bytes of encrypted units that are there, and whether one is not.
  private var encrypted = (count: 0, isBroken: false)

  /// Whether the stream, in which no packet was found, looks like an encrypted disc.
  var isEncryptedDisc: Bool { !encrypted.isBroken && encrypted.count >= Self.encryptedCount }
  /// Number of bytes in which packets were searched in vain.
  var searchedCount: Int { isLocked ? 0 : skipped }
  /// Whether packets have a header of four bytes before the sync byte, as on discs.
  var hasExtraHeaders: Bool { distance == 192 }

  /// Returns the offset of the next packet that is complete; nil if more bytes are needed.
  mutating func next(in bytes: RawSpan, isEnd: Bool) -> Int? {
    while true {
      if isLocked, let distance {
        guard offset + TransportPacket.size <= bytes.byteCount else { return nil }
        let found = offset
        if bytes.byte(found) == TransportPacket.syncByte {
          offset += distance
          return found
        }
        isLocked = false
      }
      guard search(bytes, isEnd: isEnd) else { return nil }
    }
  }

  /// Returns the number of bytes that belonged to no packet and that the next packet follows; nil
  /// if there are none.
  mutating func takeSkipped() -> Int? {
    guard isLocked, skipped > 0 else { return nil }
    defer { skipped = 0 }
    return skipped
  }

  /// Returns how many of `count` bytes are not needed any more, and forgets them.
  mutating func consume(_ count: Int) -> Int {
    let done = min(offset, count)
    offset -= done
    consumed += done
    return done
  }

  /// Forgets the bytes before a discontinuity, but not the distance.
  ///
  /// - Parameter position: offset of the next byte from the start of the stream.
  mutating func flush(position: Int) {
    (isLocked, offset, skipped, consumed) = (false, 0, 0, position)
  }

  private mutating func search(_ bytes: RawSpan, isEnd: Bool) -> Bool {
    if !hasFound, consumed + offset == 0, bytes.byteCount > 4 {
      // A byte of the header of discs may look like a sync byte for a long time.
      switch decide(at: 4, bytes, isEnd: isEnd) {
      case .packets(let found) where found == 192:
        offset = 4
        lock(found)
        return true
      case .needsMore: return false
      default: break
      }
    }
    while offset < bytes.byteCount {
      let isSync = bytes.byte(offset) == TransportPacket.syncByte
      switch decide(at: offset, bytes, isEnd: isEnd) {
      case .packets(let found):
        // The header of the first packet is before it.
        if !hasFound, found == 192 { skipped = max(skipped - 4, 0) }
        lock(found)
        return true
      case .needsMore: return false
      case .noPackets: break
      }
      if !hasFound, (consumed + offset) % Self.encryptedUnit == 4 {
        if isSync { encrypted.count += 1 } else { encrypted.isBroken = true }
      }
      offset += 1
      skipped += 1
    }
    return false
  }

  private mutating func lock(_ found: Int) {
    (distance, isLocked, hasFound) = (found, true, true)
  }

  private enum Decision {
    case packets(distance: Int)
    case noPackets
    case needsMore
  }

  /// Decides whether packets begin at `start`.
  private func decide(at start: Int, _ bytes: RawSpan, isEnd: Bool) -> Decision {
    guard isHeader(start, bytes) else { return .noPackets }
    var needsMore = false
    // Packets of the same size as before are the most likely.
    for index in -1..<Self.distances.count {
      guard let candidate = index < 0 ? distance : Self.distances[index] else { continue }
      var position = start + candidate
      var count = 1
      while count < Self.confirmation, position < bytes.byteCount, isHeader(position, bytes) {
        position += candidate
        count += 1
      }
      if count == Self.confirmation { return .packets(distance: candidate) }
      guard position >= bytes.byteCount else { continue }
      needsMore = true
      // The end of the stream confirms, if it does not come far too soon.
      let isComplete = start + TransportPacket.size <= bytes.byteCount
      if isEnd, isComplete, count > 1 || candidate == distance || skipped == 0 || skipped == 4 {
        return .packets(distance: candidate)
      }
    }
    return needsMore && !isEnd ? .needsMore : .noPackets
  }

  /// Whether the header of a packet may be at `start`, as far as its bytes have come.
  private func isHeader(_ start: Int, _ bytes: RawSpan) -> Bool {
    guard bytes.byte(start) == TransportPacket.syncByte else { return false }
    guard start + 3 < bytes.byteCount else { return true }
    return bytes.byte(start + 3) & 0x30 != 0
  }
}
