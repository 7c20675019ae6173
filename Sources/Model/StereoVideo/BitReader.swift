// SPDX-License-Identifier: MPL-2.0

/// Reads coded fields, the most significant bit first: the descriptors of H.265 (7.2), which other
/// standards share.
///
/// Every read is checked: past the end of the data, or outside the range given, it throws a
/// ``SyntaxError`` that names the element.
public struct BitReader: Sendable {
  /// The bytes read from; of a NAL unit, without emulation prevention.
  public let bytes: [UInt8]
  /// Position of the next bit, counted from the first of ``bytes``.
  public private(set) var position: Int
  /// The syntax structure being read, for error messages.
  public let structure: StaticString
  private let end: Int

  /// A reader at bit `position` of `bytes`.
  public init(_ bytes: [UInt8], structure: StaticString, position: Int = 0) {
    self.bytes = bytes
    self.structure = structure
    self.end = bytes.count << 3
    self.position = min(max(position, 0), end)
  }

  /// A reader of `range`, as far as that lies inside `bytes`.
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

  /// Number of bits that are left.
  public var remaining: Int { end - position }

  /// `u(n)`: an unsigned integer of `count` bits, most significant first. `count` is 0 to 32.
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

  /// `u(1)` as a truth value.
  public mutating func flag(_ element: StaticString) throws(SyntaxError) -> Bool {
    try u(1, element) != 0
  }

  /// `u(n)` inside `range`.
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

  /// `ue(v)`: an unsigned Exp-Golomb code (9.2) inside `range`.
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

  /// `se(v)`: a signed Exp-Golomb code (9.2.2) inside `range`.
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

  /// The next `count` whole bytes. The position is that of a byte: else they begin at the byte
  /// that it lies in.
  public mutating func bytes(
    _ count: Int, _ element: StaticString
  ) throws(SyntaxError) -> [UInt8] {
    let start = position >> 3
    try skip(bytes: count, element)
    return Array(bytes[start..<start + count])
  }

  /// A reader of the next `count` bytes, which this one passes over.
  public mutating func part(
    _ count: Int, _ element: StaticString
  ) throws(SyntaxError) -> BitReader {
    let start = position
    try skip(bytes: count, element)
    return BitReader(bytes, structure: structure, bits: start..<position)
  }

  /// Passes over `count` bits.
  public mutating func skip(_ count: Int, _ element: StaticString) throws(SyntaxError) {
    guard count >= 0, count <= end - position else { throw failure(element, .endOfData) }
    position += count
  }

  private mutating func skip(bytes count: Int, _ element: StaticString) throws(SyntaxError) {
    guard count >= 0, count <= remaining >> 3 else { throw failure(element, .endOfData) }
    position += count << 3
  }

  /// `byte_alignment()`: a one bit, then zeros to the next byte (7.3.2.12).
  public mutating func byteAlignment() throws(SyntaxError) {
    _ = try u(1, "alignment_bit_equal_to_one", in: 1...1)
    _ = try u((8 - position & 7) & 7, "alignment_bit_equal_to_zero", in: 0...0)
  }

  /// Position of the stop bit of `rbsp_trailing_bits()`: the last one bit of the data.
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

  /// An error at the present position, or at `bit`.
  public func failure(
    _ element: StaticString, _ reason: SyntaxError.Reason, at bit: Int? = nil
  ) -> SyntaxError {
    SyntaxError(
      structure: "\(structure)", element: "\(element)", bitOffset: bit ?? position, reason: reason)
  }
}

extension [UInt8] {
  /// The big-endian integer that begins at `offset`; nil where it does not lie inside the array.
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

  /// Appends the bytes of `value`, the most significant first.
  @inlinable
  public mutating func append<Integer: FixedWidthInteger>(bigEndian value: Integer) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}

/// A coded structure that cannot be read: which syntax element, where, and why.
public struct SyntaxError: Error, Hashable, Sendable {
  /// Why a syntax element could not be read.
  public enum Reason: Hashable, Sendable {
    /// The data ends inside the element: it is truncated.
    case endOfData
    /// The element has a value that the standard, or a limit of this reader, excludes: the data
    /// is damaged.
    case outOfRange(value: Int, allowed: ClosedRange<Int>)
    /// The element asks for a tool or a structure that this reader does not know.
    case unsupported(String)
    /// The structure needs something that is not there, such as a parameter set.
    case missing(String)
  }

  /// The syntax structure, as its standard names it: `seq_parameter_set_rbsp`.
  public var structure: String
  /// The syntax element, as its standard names it: `log2_max_pic_order_cnt_lsb_minus4`.
  public var element: String
  /// Position of the element in bits from the start of the data; of a NAL unit, emulation
  /// prevention bytes are not counted.
  public var bitOffset: Int
  /// What was wrong.
  public var reason: Reason

  /// An error at `bitOffset` in `structure`.
  public init(structure: String, element: String, bitOffset: Int, reason: Reason) {
    self.structure = structure
    self.element = element
    self.bitOffset = bitOffset
    self.reason = reason
  }
}

extension SyntaxError: CustomStringConvertible {
  public var description: String { "\(structure): \(problem) (at bit \(bitOffset))" }

  /// What was wrong with which element, without the place.
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
