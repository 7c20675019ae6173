// SPDX-License-Identifier: MPL-2.0

/// Writes bit fields, most significant bit first, with the descriptors of H.265 (7.2), which other
/// standards share.
public struct BitWriter: Sendable {
  /// The whole bytes written so far.
  public private(set) var bytes: [UInt8] = []
  private var pending: UInt64 = 0
  private var pendingCount = 0

  /// Creates an empty writer.
  public init() {}

  /// Number of bits written.
  public var bitCount: Int { bytes.count << 3 + pendingCount }

  /// Writes `u(n)`: the lowest `count` bits (0 to 32) of `value`, most significant bit first.
  public mutating func u(_ value: Int, _ count: Int) {
    let mask: UInt64 = 1 << UInt64(count) - 1
    pending = pending << UInt64(count) | UInt64(truncatingIfNeeded: value) & mask
    pendingCount += count
    while pendingCount >= 8 {
      pendingCount -= 8
      bytes.append(UInt8(truncatingIfNeeded: pending >> UInt64(pendingCount)))
    }
  }

  /// Writes `u(1)`.
  public mutating func flag(_ value: Bool) { u(value ? 1 : 0, 1) }

  /// Writes `ue(v)`, an unsigned Exp-Golomb code (9.2). `value` is 0 to 2^32 - 2.
  public mutating func ue(_ value: Int) {
    let code = UInt64(clamping: value) &+ 1
    let length = 64 - code.leadingZeroBitCount
    u(0, length - 1)
    u(Int(truncatingIfNeeded: code), length)
  }

  /// Writes whole bytes unchanged.
  public mutating func write(_ content: [UInt8]) {
    guard pendingCount > 0 else {
      bytes += content
      return
    }
    for byte in content { u(Int(byte), 8) }
  }

  /// Copies the bits `range` of `source` unchanged.
  ///
  /// - Precondition: `range` lies inside `source`.
  public mutating func copy(_ range: Range<Int>, of source: [UInt8]) {
    var position = range.lowerBound
    while position < range.upperBound {
      let inByte = position & 7
      let count = min(8 - inByte, range.upperBound - position)
      u(Int(source[position >> 3]) >> (8 - inByte - count), count)
      position += count
    }
  }

  /// Writes `rbsp_trailing_bits()` or `byte_alignment()`: a 1 bit, then 0 bits up to the next byte.
  public mutating func trailingBits() {
    u(1, 1)
    alignWithZeros()
  }

  /// Writes 0 bits up to the next byte.
  public mutating func alignWithZeros() {
    u(0, (8 - pendingCount) & 7)
  }

  /// Writes 1 bits up to the next byte, as before `vps_extension()`.
  public mutating func alignWithOnes() {
    u(0xFF, (8 - pendingCount) & 7)
  }
}
