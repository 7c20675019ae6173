// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Reads the content of one box, and the boxes in it, without ever leaving it.
struct BoxReader: Sendable {
  /// What the box is part of; shared with every reader of the same bytes.
  let bytes: [UInt8]
  private(set) var position: Int
  let end: Int
  /// The boxes that this one is in.
  private let ancestors: BoxPath?
  private let name: BoxPath.Name
  /// This box as what others are in; made when the first of them is read.
  private var own: BoxPath?
  private var childCount = 0
  /// Where `bytes` begins in the file.
  let base: UInt64
  /// Where the box's header begins in `bytes`.
  let start: Int
  /// Where its content begins in `bytes`.
  private let contentStart: Int
  let type: FourCC

  /// How many boxes a box may hold. More are no movie's, but would cost many times the bytes that
  /// they have in the file.
  static let maximumChildCount = 1 << 16

  /// A reader of a whole array that holds a box's content, which begins at `base` in the file.
  init(_ bytes: [UInt8], type: FourCC, path: String, base: UInt64 = 0) {
    self.bytes = bytes
    position = 0
    end = bytes.count
    ancestors = nil
    name = .text(path)
    self.base = base
    start = 0
    contentStart = 0
    self.type = type
  }

  private init(
    of parent: BoxReader, start: Int, contentStart: Int, end: Int, type: FourCC,
    in ancestors: BoxPath?
  ) {
    bytes = parent.bytes
    base = parent.base
    self.start = start
    self.contentStart = contentStart
    position = contentStart
    self.end = end
    self.type = type
    self.ancestors = ancestors
    name = .type(type, number: nil)
  }

  private init(_ other: BoxReader, name: BoxPath.Name, position: Int) {
    bytes = other.bytes
    base = other.base
    start = other.start
    contentStart = other.contentStart
    self.position = position
    end = other.end
    type = other.type
    ancestors = other.ancestors
    self.name = name
  }

  /// The names of the boxes that this one is in, and its own.
  var path: String { BoxPath.text(name, in: ancestors) }

  var remaining: Int { end - position }

  /// Where the box begins in the file.
  var fileOffset: UInt64 { base &+ UInt64(clamping: start) }

  func error(_ reason: String) -> ISOBMFFError {
    ISOBMFFError(path: path, offset: fileOffset, reason: reason)
  }

  /// The next big-endian integer; `field` names it in the error if the box ends before it.
  mutating func read<Integer: FixedWidthInteger>(
    _ field: StaticString, as type: Integer.Type = Integer.self
  ) throws(ISOBMFFError) -> Integer {
    let size = MemoryLayout<Integer>.size
    guard size <= remaining, let value = bytes.bigEndian(at: position, as: Integer.self) else {
      throw shortage(of: size, field)
    }
    position += size
    return value
  }

  mutating func readFourCC(_ field: StaticString) throws(ISOBMFFError) -> FourCC {
    FourCC(rawValue: try read(field))
  }

  /// An unsigned integer of 64 bits, or of 32 as older versions of most boxes have it.
  mutating func read(_ field: StaticString, wide: Bool) throws(ISOBMFFError) -> UInt64 {
    wide ? try read(field) : UInt64(try read(field, as: UInt32.self))
  }

  mutating func readBytes(
    _ count: Int, _ field: StaticString
  ) throws(ISOBMFFError) -> [UInt8] {
    try require(count, field)
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  mutating func skip(_ count: Int, _ field: StaticString) throws(ISOBMFFError) {
    try require(count, field)
    position += count
  }

  /// Everything that is left.
  mutating func readRest() -> [UInt8] {
    defer { position = end }
    return Array(bytes[position..<end])
  }

  /// The UTF-8 text up to a zero or the box's end.
  mutating func readCString() -> String {
    let text = bytes[position..<end].prefix { $0 != 0 }
    position = min(end, text.endIndex + 1)
    return String(decoding: text, as: UTF8.self)
  }

  /// The version and flags that a full box begins with (ISO/IEC 14496-12 4.2).
  mutating func readVersion() throws(ISOBMFFError) -> (version: UInt8, flags: UInt32) {
    let word: UInt32 = try read("version and flags")
    return (UInt8(truncatingIfNeeded: word >> 24), word & 0xFF_FFFF)
  }

  /// A table of `count` rows of `stride` bytes, checked to be inside the box.
  mutating func readTable(
    _ field: StaticString, count: UInt32, stride: Int
  ) throws(ISOBMFFError) -> BigEndianTable {
    let needed = Int(count).multipliedReportingOverflow(by: stride)
    guard !needed.overflow, needed.partialValue <= remaining else {
      let size = end - start
      throw error(
        "\(field) \(count) needs \(needed.partialValue + position - start) bytes, box has \(size)")
    }
    defer { position += needed.partialValue }
    return BigEndianTable(bytes: bytes, start: position, count: Int(count), stride: stride)
  }

  /// The next box inside this one; nil at the end, at QuickTime's zero terminator, and before
  /// padding too short for a box.
  mutating func nextBox() throws(ISOBMFFError) -> BoxReader? {
    guard remaining >= 8 else { return nil }
    let boxStart = position
    let shortSize: UInt32 = try read("size")
    guard shortSize > 0 else {
      position = end
      return nil
    }
    let boxType = try readFourCC("type")
    var size = UInt64(shortSize)
    if shortSize == 1 {
      size = try read("64-bit size")
    }
    let header = position - boxStart
    guard size >= UInt64(header) else {
      throw childError(
        boxType, at: boxStart,
        "its size \(size) is smaller than its own header of \(header) bytes")
    }
    guard let length = Int(exactly: size), length <= end - boxStart else {
      throw childError(
        boxType, at: boxStart,
        "its size is \(size) bytes, but only \(end - boxStart) are left in \(path)")
    }
    childCount += 1
    guard childCount <= Self.maximumChildCount else {
      throw error("it holds more than \(Self.maximumChildCount) boxes")
    }
    let contentStart = position
    position = boxStart + length
    return BoxReader(
      of: self, start: boxStart, contentStart: contentStart, end: position, type: boxType,
      in: asAncestor())
  }

  private mutating func asAncestor() -> BoxPath {
    if let own { return own }
    let made = BoxPath(name, in: ancestors)
    own = made
    return made
  }

  private func childError(_ type: FourCC, at start: Int, _ reason: String) -> ISOBMFFError {
    ISOBMFFError(
      path: "\(path)/\(type)", offset: base &+ UInt64(clamping: start), reason: reason)
  }

  /// This box with its number among boxes of its type in its path, such as `trak[1]`.
  func numbered(_ number: Int) -> BoxReader {
    BoxReader(self, name: .type(type, number: number), position: position)
  }

  /// This box from `offset` bytes behind its header's end on, or from its end.
  func rewound(to offset: Int) -> BoxReader {
    BoxReader(self, name: name, position: min(end, contentStart + max(0, offset)))
  }

  /// The box as it is, from the reader's position on.
  var opaque: OpaqueBox {
    OpaqueBox(type, payload: Array(bytes[position..<end]))
  }

  private func require(_ count: Int, _ field: StaticString) throws(ISOBMFFError) {
    guard count >= 0, count <= remaining else { throw shortage(of: count, field) }
  }

  private func shortage(of count: Int, _ field: StaticString) -> ISOBMFFError {
    error("\(field) needs \(count) bytes, but only \(remaining) are left in the box")
  }
}

extension BoxReader {
  /// What is left of the box, for fields that are not whole bytes.
  func bits(_ structure: StaticString) -> BitReader {
    BitReader(bytes, in: position..<end, structure: structure)
  }

  /// What was wrong with the fields that ``bits(_:)`` gave.
  func error(_ error: SyntaxError) -> ISOBMFFError {
    ISOBMFFError(
      path: path, offset: base &+ UInt64(clamping: error.bitOffset / 8),
      reason: error.problem)
  }
}

/// Rows of big-endian numbers inside a larger array of bytes, read where they lie.
struct BigEndianTable: Sendable {
  private let bytes: [UInt8]
  private let start: Int
  private let stride: Int
  let count: Int

  static let empty = BigEndianTable(bytes: [], start: 0, count: 0, stride: 4)

  /// The rows have to lie inside the bytes; a table that does not is empty.
  init(bytes: [UInt8], start: Int, count: Int, stride: Int) {
    let fits = start >= 0 && count >= 0 && stride > 0 && count <= (bytes.count - start) / stride
    self.bytes = bytes
    self.start = start
    self.count = fits ? count : 0
    self.stride = stride
  }

  /// The number that begins at byte `field` of a row; 0 outside the table.
  @inline(__always)
  func number<Integer: FixedWidthInteger>(
    _ row: Int, _ field: Int = 0, as type: Integer.Type = UInt32.self
  ) -> Integer {
    guard row >= 0, row < count, field >= 0, field + MemoryLayout<Integer>.size <= stride else {
      return 0
    }
    return bytes.bigEndian(at: start + row * stride + field) ?? 0
  }
}

/// The number of leading elements, of `count`, for which `isBefore` holds; it has to hold for none
/// after one for which it does not.
func partitionPoint(count: Int, _ isBefore: (Int) -> Bool) -> Int {
  var low = 0
  var high = count
  while low < high {
    let middle = low + (high - low) / 2
    if isBefore(middle) {
      low = middle + 1
    } else {
      high = middle
    }
  }
  return low
}

/// Where a box stands among others. It becomes text only for errors: a file may have millions of
/// boxes.
final class BoxPath: Sendable {
  /// What a box is called in a path.
  enum Name: Sendable {
    case text(String)
    /// The type, and the number among boxes of it where that matters: `trak[1]`.
    case type(FourCC, number: Int?)
  }

  private let parent: BoxPath?
  private let name: Name

  init(_ name: Name, in parent: BoxPath?) {
    self.name = name
    self.parent = parent
  }

  /// The names of the box's ancestors and its own: `moov/trak[0]/mdia`.
  var text: String { Self.text(name, in: parent) }

  static func text(_ name: Name, in parent: BoxPath?) -> String {
    let own =
      switch name {
      case .text(let text): text
      case .type(let type, nil): type.description
      case .type(let type, let number?): "\(type)[\(number)]"
      }
    return parent.map { "\($0.text)/\(own)" } ?? own
  }
}
