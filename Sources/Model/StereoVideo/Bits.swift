// SPDX-License-Identifier: MPL-2.0

/// Reads bit fields, most significant bit first, with the descriptors of H.265 (7.2), which other
/// standards share.
///
/// Every read is checked: past the end of the data or outside the given range, it throws a
/// ``SyntaxError`` that names the element.
public struct BitReader: Sendable {
  /// The bytes to read; for a NAL unit, with emulation prevention removed.
  public let bytes: [UInt8]
  /// Position of the next bit, counted from the start of ``bytes``.
  public private(set) var position: Int
  /// The syntax structure being read, for error messages.
  public let structure: StaticString
  private let end: Int

  /// Creates a reader that starts at bit `position` of `bytes`.
  public init(_ bytes: [UInt8], structure: StaticString, position: Int = 0) {
    self.bytes = bytes
    self.structure = structure
    self.end = bytes.count << 3
    self.position = min(max(position, 0), end)
  }

  /// Creates a reader for `range`, clamped to the bounds of `bytes`.
  public init(_ bytes: [UInt8], in range: Range<Int>, structure: StaticString) {
    let range = range.clamped(to: bytes.startIndex..<bytes.endIndex)
    self.init(bytes, structure: structure, bits: range.lowerBound << 3..<range.upperBound << 3)
  }

  private init(_ bytes: [UInt8], structure: StaticString, bits: Range<Int>) {
    self.bytes = bytes
    self.structure = structure
    position = bits.lowerBound
    end = bits.upperBound
  }

  /// Number of remaining bits.
  public var remaining: Int { end - position }

  /// Reads `u(n)`: an unsigned integer of `count` bits (0 to 32), most significant bit first.
  public mutating func u(_ count: Int, _ element: StaticString) throws(SyntaxError) -> Int {
    guard count <= end - position, count >= 0, count <= 32 else {
      throw failure(element, .endOfData)
    }
    var value: UInt64 = 0
    let stop = position + count
    var index = position >> 3
    while index << 3 < stop {
      value = value << 8 | UInt64(bytes[index])
      index += 1
    }
    value >>= UInt64((8 - stop & 7) & 7)
    position = stop
    return Int(truncatingIfNeeded: value & (1 << UInt64(count) - 1))
  }

  /// Reads `u(1)` as a Boolean.
  public mutating func flag(_ element: StaticString) throws(SyntaxError) -> Bool {
    try u(1, element) != 0
  }

  /// Reads `u(n)` and checks that the value is in `range`.
  public mutating func u(
    _ count: Int, _ element: StaticString, in range: ClosedRange<Int>
  ) throws(SyntaxError) -> Int {
    let start = position
    let value = try u(count, element)
    guard range.contains(value) else {
      throw failure(element, .outOfRange(value: value, allowed: range), at: start)
    }
    return value
  }

  /// Reads `ue(v)`, an unsigned Exp-Golomb code (9.2), and checks that the value is in `range`.
  public mutating func ue(
    _ element: StaticString, in range: ClosedRange<Int> = 0...0xFFFF_FFFE
  ) throws(SyntaxError) -> Int {
    let start = position
    var zeros = 0
    while true {
      if try u(1, element) == 1 { break }
      zeros += 1
      guard zeros < 32 else {
        throw failure(element, .outOfRange(value: 0xFFFF_FFFF, allowed: range), at: start)
      }
    }
    let value = try (1 << zeros) - 1 + u(zeros, element)
    guard range.contains(value) else {
      throw failure(element, .outOfRange(value: value, allowed: range), at: start)
    }
    return value
  }

  /// Reads `se(v)`, a signed Exp-Golomb code (9.2.2), and checks that the value is in `range`.
  public mutating func se(
    _ element: StaticString, in range: ClosedRange<Int> = -0x7FFF_FFFF...0x7FFF_FFFF
  ) throws(SyntaxError) -> Int {
    let start = position
    let code = try ue(element)
    let value = code & 1 == 1 ? (code + 1) >> 1 : -(code >> 1)
    guard range.contains(value) else {
      throw failure(element, .outOfRange(value: value, allowed: range), at: start)
    }
    return value
  }

  /// Reads `count` whole bytes. The position should be byte-aligned; otherwise the result starts at
  /// the byte that contains it.
  public mutating func bytes(
    _ count: Int, _ element: StaticString
  ) throws(SyntaxError) -> [UInt8] {
    let start = position >> 3
    try skip(bytes: count, element)
    return Array(bytes[start..<start + count])
  }

  /// Returns a reader for the next `count` bytes and skips them.
  public mutating func part(
    _ count: Int, _ element: StaticString
  ) throws(SyntaxError) -> BitReader {
    let start = position
    try skip(bytes: count, element)
    return BitReader(bytes, structure: structure, bits: start..<position)
  }

  /// Skips `count` bits.
  public mutating func skip(_ count: Int, _ element: StaticString) throws(SyntaxError) {
    guard count >= 0, count <= end - position else { throw failure(element, .endOfData) }
    position += count
  }

  private mutating func skip(bytes count: Int, _ element: StaticString) throws(SyntaxError) {
    guard count >= 0, count <= remaining >> 3 else { throw failure(element, .endOfData) }
    position += count << 3
  }

  /// Reads `byte_alignment()`: a 1 bit, then 0 bits up to the next byte (7.3.2.12).
  public mutating func byteAlignment() throws(SyntaxError) {
    _ = try u(1, "alignment_bit_equal_to_one", in: 1...1)
    _ = try u((8 - position & 7) & 7, "alignment_bit_equal_to_zero", in: 0...0)
  }

  /// Position of the stop bit of `rbsp_trailing_bits()`: the last 1 bit of the data.
  public var trailingBitsPosition: Int {
    var index = end >> 3 - 1
    while index >= 0 {
      let byte = bytes[index]
      if byte != 0 { return index << 3 + 7 - byte.trailingZeroBitCount }
      index -= 1
    }
    return 0
  }

  /// `more_rbsp_data()`: whether syntax elements follow before the trailing bits (7.2).
  public var moreRBSPData: Bool { position < trailingBitsPosition }

  /// Returns an error at bit `bit`, or at the current position.
  public func failure(
    _ element: StaticString, _ reason: SyntaxError.Reason, at bit: Int? = nil
  ) -> SyntaxError {
    SyntaxError(
      structure: "\(structure)", element: "\(element)", bitOffset: bit ?? position, reason: reason)
  }
}

extension [UInt8] {
  /// Returns the big-endian integer at `offset`; nil if it does not lie inside the array.
  @inlinable @inline(__always)
  public func bigEndian<Integer: FixedWidthInteger>(
    at offset: Int, as type: Integer.Type = Integer.self
  ) -> Integer? {
    let size = MemoryLayout<Integer>.size
    guard offset >= 0, size <= count, offset <= count - size else { return nil }
    return withUnsafeBytes {
      Integer(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: Integer.self))
    }
  }

  /// Appends the bytes of `value`, most significant byte first.
  @inlinable
  public mutating func append<Integer: FixedWidthInteger>(bigEndian value: Integer) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}

/// A syntax error: which element could not be read, where, and why.
public struct SyntaxError: Error, Hashable, Sendable {
  /// Why a syntax element could not be read.
  public enum Reason: Hashable, Sendable {
    /// The data ends inside the element: it is truncated.
    case endOfData
    /// The element has a value that the standard or a limit of this reader excludes: the data is
    /// damaged.
    case outOfRange(value: Int, allowed: ClosedRange<Int>)
    /// The element requires a coding tool or structure that this reader does not support.
    case unsupported(String)
    /// The structure requires something that is not present, such as a parameter set.
    case missing(String)
  }

  /// The syntax structure, as its standard names it: `seq_parameter_set_rbsp`.
  public var structure: String
  /// The syntax element, as its standard names it: `log2_max_pic_order_cnt_lsb_minus4`.
  public var element: String
  /// Position of the element in bits from the start of the data, not counting emulation prevention
  /// bytes of a NAL unit.
  public var bitOffset: Int
  /// Why the element could not be read.
  public var reason: Reason

  /// Creates an error at `bitOffset` in `structure`.
  public init(structure: String, element: String, bitOffset: Int, reason: Reason) {
    self.structure = structure
    self.element = element
    self.bitOffset = bitOffset
    self.reason = reason
  }
}

extension SyntaxError: CustomStringConvertible {
  /// Structure, element, reason and bit offset, for messages.
  public var description: String { "\(structure): \(problem) (at bit \(bitOffset))" }

  /// The element and the reason, without the position.
  public var problem: String {
    switch reason {
    case .endOfData: "\(element): the data ends here"
    case .outOfRange(let value, let allowed):
      "\(element): \(value) is outside \(allowed.lowerBound)...\(allowed.upperBound)"
    case .unsupported(let what): "\(element): \(what) is not supported"
    case .missing(let what): "\(element): needs \(what), which is missing"
    }
  }
}

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
