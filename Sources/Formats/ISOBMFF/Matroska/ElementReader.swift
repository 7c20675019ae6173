// SPDX-License-Identifier: MPL-2.0

/// Goes through the elements of EBML (RFC 8794) that lie one behind the other in some bytes.
struct ElementReader {
  /// An element's ID with its marker bits, as RFC 9559 lists them.
  typealias ID = UInt32

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) {
    rest = bytes
  }

  /// The next element and its content; nil behind the last one, and where what follows is none.
  mutating func next() -> (id: ID, content: ArraySlice<UInt8>)? {
    guard let header = ElementHeader(rest), let size = header.size,
      let count = Int(exactly: size), count <= rest.count - header.count
    else { return nil }
    let content = rest.dropFirst(header.count).prefix(count)
    rest = rest[content.endIndex...]
    return (header.id, content)
  }

  /// The content of the first element with this ID.
  mutating func first(_ id: ID) -> ArraySlice<UInt8>? {
    while let element = next() {
      if element.id == id { return element.content }
    }
    return nil
  }
}

/// What comes before an element's content.
struct ElementHeader {
  let id: ElementReader.ID
  /// In bytes; nil where it is not known.
  let size: UInt64?
  /// Of the header itself, in bytes: 2 to 12.
  let count: Int

  static let longest = 12

  /// Nil where the bytes do not begin with an element.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard let first = bytes.first, first.leadingZeroBitCount < 4 else { return nil }
    let idCount = first.leadingZeroBitCount + 1
    guard let mark = bytes.dropFirst(idCount).first, mark != 0 else { return nil }
    let sizeCount = mark.leadingZeroBitCount + 1
    guard bytes.count >= idCount + sizeCount else { return nil }
    count = idCount + sizeCount
    id = ElementReader.ID(truncatingIfNeeded: Self.number(bytes.prefix(idCount)))
    // The marker is no part of the number. All ones say that it is not known.
    let all = UInt64(1) << (7 * sizeCount) - 1
    let number = Self.number(bytes.dropFirst(idCount).prefix(sizeCount)) & all
    size = number == all ? nil : number
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension ArraySlice<UInt8> {
  /// An unsigned integer (RFC 8794, 7.2); nil where it is longer than eight bytes.
  var unsigned: UInt64? { count <= 8 ? reduce(0) { $0 << 8 | UInt64($1) } : nil }

  /// A float (RFC 8794, 7.3); nil where it has no length that floats have.
  var float: Double? {
    switch (count, unsigned) {
    case (0, _): 0
    case (4, let bits?): Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
    case (8, let bits?): Double(bitPattern: bits)
    default: nil
    }
  }
}
