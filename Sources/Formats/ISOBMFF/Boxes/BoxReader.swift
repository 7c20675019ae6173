// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Reads the fields and child boxes of one box, never past its end.
struct BoxReader: Sendable {
  /// The array that contains the box; shared by all readers of the same bytes.
  let bytes: [UInt8]
  private(set) var position: Int
  let end: Int
  /// Path of the boxes that contain this one.
  private let ancestors: BoxPath?
  private let name: BoxPath.Name
  /// This box as an ancestor of its children; created when the first child is read.
  private var own: BoxPath?
  private var childCount = 0
  /// Offset of `bytes` in the file.
  let base: UInt64
  /// Offset of the box's header in `bytes`.
  let start: Int
  /// Offset of the box's content in `bytes`.
  private let contentStart: Int
  let type: FourCC

  /// Maximum number of child boxes. No real movie has more, and each costs many times the memory of
  /// its bytes in the file.
  private static let maximumChildCount = 1 << 16

  /// Creates a reader of a box's content that fills `bytes`, which begins at `base` in the file.
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

  /// The names of the containing boxes and of this one: `moov/trak[0]/mdia`.
  var path: String { BoxPath.text(name, in: ancestors) }

  var remaining: Int { end - position }

  /// Offset of the box in the file.
  private var fileOffset: UInt64 { base &+ UInt64(clamping: start) }

  func error(_ reason: String) -> ISOBMFFError {
    ISOBMFFError(path: path, offset: fileOffset, reason: reason)
  }

  /// Reads the next big-endian integer; `field` names it in the error if the box ends first.
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

  /// Reads an unsigned integer of 64 bits if `wide`, else of 32 bits as in version 0 of most boxes.
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

  /// Reads the rest of the box.
  mutating func readRest() -> [UInt8] {
    defer { position = end }
    return Array(bytes[position..<end])
  }

  /// Reads UTF-8 text up to a zero byte or the end of the box.
  mutating func readCString() -> String {
    let text = bytes[position..<end].prefix { $0 != 0 }
    position = min(end, text.endIndex + 1)
    return String(decoding: text, as: UTF8.self)
  }

  /// Reads the version and flags at the start of a full box (ISO/IEC 14496-12 4.2).
  mutating func readVersion() throws(ISOBMFFError) -> (version: UInt8, flags: UInt32) {
    let word: UInt32 = try read("version and flags")
    return (UInt8(truncatingIfNeeded: word >> 24), word & 0xFF_FFFF)
  }

  /// Reads a table of `count` rows of `stride` bytes.
  ///
  /// - Throws: if the table does not fit into the box.
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

  /// Returns the next child box; nil at the end, at QuickTime's zero terminator, and if the rest is
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

  /// Returns this box with its index among boxes of its type in the path, such as `trak[1]`.
  func numbered(_ number: Int) -> BoxReader {
    BoxReader(self, name: .type(type, number: number), position: position)
  }

  /// Returns this box positioned `offset` bytes after its header, or at its end if it is shorter.
  func rewound(to offset: Int) -> BoxReader {
    BoxReader(self, name: name, position: min(end, contentStart + max(0, offset)))
  }

  /// The box with its content from the current position on.
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
  /// Returns a bit reader of the rest of the box, for fields that are not whole bytes.
  func bits(_ structure: StaticString) -> BitReader {
    BitReader(bytes, in: position..<end, structure: structure)
  }

  /// Returns the error for a syntax error of the reader that ``bits(_:)`` returned.
  func error(_ error: SyntaxError) -> ISOBMFFError {
    ISOBMFFError(
      path: path, offset: base &+ UInt64(clamping: error.bitOffset / 8),
      reason: error.problem)
  }
}

/// A table of big-endian numbers inside a larger byte array, read in place.
struct BigEndianTable: Sendable {
  private let bytes: [UInt8]
  private let start: Int
  private let stride: Int
  let count: Int

  static let empty = BigEndianTable(bytes: [], start: 0, count: 0, stride: 4)

  /// Creates a table; it is empty if its rows do not fit into the bytes.
  init(bytes: [UInt8], start: Int, count: Int, stride: Int) {
    let fits = start >= 0 && count >= 0 && stride > 0 && count <= (bytes.count - start) / stride
    self.bytes = bytes
    self.start = start
    self.count = fits ? count : 0
    self.stride = stride
  }

  /// Returns the number at byte `field` of a row; 0 outside the table.
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

/// Returns the index of the first of `count` elements for which `isBefore` is false. The elements
/// for which it is true must come first.
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

/// A box's position in the box hierarchy, turned into text only for errors: a file may have
/// millions of boxes.
final class BoxPath: Sendable {
  /// The name of a box in a path.
  enum Name: Sendable {
    case text(String)
    /// The type, and the index among boxes of this type if that matters: `trak[1]`.
    case type(FourCC, number: Int?)
  }

  private let parent: BoxPath?
  private let name: Name

  init(_ name: Name, in parent: BoxPath?) {
    self.name = name
    self.parent = parent
  }

  /// The names of the box's ancestors and of the box itself: `moov/trak[0]/mdia`.
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
